@testable import KVEngine

/// How a history is lived through: what must not change any answer.
struct ModelSetting: Sendable {
  enum Merging: Sendable {
    case asCalled, never, afterEveryCommit
  }

  var options = TinyStore.options
  var merging = Merging.asCalled
  /// Instead of what the call says.
  var durability: Durability?

  /// The smallest limits that there are: borders are frequent.
  ///
  /// With segments that are smaller still, a request merges in parts, and comes to no end: see
  /// `EndlessRequestTests`.
  static var tiny: ModelSetting {
    var setting = ModelSetting()
    setting.options.segmentByteCount = 4096
    setting.options.cacheByteCount = 4096
    setting.options.descriptorCount = 3
    return setting
  }
}
