@testable import KVEngine

/// A batch that the oracle understands.
struct ModelBatch: Sendable {
  /// Values to store, `nil` to delete, in order.
  var operations: [(key: SpaceKey, value: [UInt8]?)] = []
  var preconditions: [ModelPrecondition] = []

  /// The batch for the engine; with the store's content, the first space counts its keys.
  func writeBatch(on content: StoreContent?) -> WriteBatch {
    var batch = WriteBatch()
    var present = content
    for (key, value) in operations {
      let space = StoreContent.spaces[key.space]
      let isCounted = key.space == 0 && content != nil
      let isPresent = present?[key] != nil
      if let value {
        let kind: RecordKind = isCounted && !isPresent ? .insertion : .put
        batch.put(value, forKey: key.bytes, in: space, kind: kind)
      } else {
        let kind: RecordKind = isCounted && isPresent ? .removal : .tombstone
        batch.delete(key.bytes, in: space, kind: kind)
      }
      present?[key] = value
    }
    for precondition in preconditions { precondition.add(to: &batch) }
    return batch
  }

  /// What the store holds after the batch.
  func applied(to content: StoreContent) -> StoreContent {
    operations.reduce(into: content) { $0[$1.key] = $1.value }
  }
}

/// A condition that the oracle can judge.
enum ModelPrecondition: Sendable {
  case absent(SpaceKey)
  case unchanged(SpaceKey, since: UInt64)
  case unchangedPrefix(SpaceKey, since: UInt64)

  fileprivate func add(to batch: inout WriteBatch) {
    switch self {
    case .absent(let key):
      batch.require(absent: key.bytes, in: StoreContent.spaces[key.space])
    case .unchanged(let key, let since):
      batch.require(unchanged: key.bytes, since: since, in: StoreContent.spaces[key.space])
    case .unchangedPrefix(let key, let since):
      batch.require(unchangedPrefix: key.bytes, since: since, in: StoreContent.spaces[key.space])
    }
  }

  /// Whether it asks for changes since a moment before a sequence.
  func isOlder(than sequence: UInt64) -> Bool {
    switch self {
    case .absent: false
    case .unchanged(_, let since), .unchangedPrefix(_, let since): since < sequence
    }
  }

  /// Judges by the content and the newest write of each key, deletions included.
  func holds(in content: StoreContent, writes: [SpaceKey: UInt64]) -> Bool {
    switch self {
    case .absent(let key): content[key] == nil
    case .unchanged(let key, let since): (writes[key] ?? 0) <= since
    case .unchangedPrefix(let prefix, let since):
      !writes.contains { key, sequence in
        key.space == prefix.space && key.bytes.starts(with: prefix.bytes) && sequence > since
      }
    }
  }
}
