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
  static var tiny: ModelSetting {
    var setting = ModelSetting()
    setting.options.segmentByteCount = 1024
    setting.options.cacheByteCount = 4096
    setting.options.descriptorCount = 3
    return setting
  }
}
