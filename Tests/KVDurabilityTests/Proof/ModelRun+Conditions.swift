import KVTestSupport

@testable import KVEngine

extension ModelRun {
  /// Adds a condition to a batch.
  ///
  /// - Returns: Whether it holds.
  func add(_ condition: ModelCondition?, to batch: inout WriteBatch) -> Bool {
    // Since a snapshot of this handle that is held: of others nobody knows what was written since.
    func sequence(_ number: Int) -> UInt64? {
      let own = snapshots.filter { !$0.isFollowing }
      return own.isEmpty ? nil : own[number % own.count].sequence
    }
    switch condition {
    case nil: return true
    case .absent(let key):
      batch.require(absent: key.bytes, in: StoreContent.spaces[key.space])
      return model.value(key.key, at: .max) == nil
    case .unchanged(let key, let number):
      guard let since = sequence(number) else { return true }
      batch.require(unchanged: key.bytes, since: since, in: StoreContent.spaces[key.space])
      return !model.isChanged(key.key, since: since)
    case .unchangedPrefix(let key, let count, let number):
      guard let since = sequence(number) else { return true }
      let prefix = Array(key.bytes.prefix(count))
      batch.require(unchangedPrefix: prefix, since: since, in: StoreContent.spaces[key.space])
      return !model.isChanged(
        prefix: .init(space: key.space, bytes: prefix), since: since)
    }
  }
}
