// A batch holds its operations as the log will hold them (FORMAT.md 6.3), so that a commit copies
// bytes instead of encoding them again.

/// Puts and deletes that become visible together or not at all, with the conditions for it.
///
/// A value: build it on any thread, write it as often as you like. Operations take effect in the
/// order they were added; a later one for the same key wins. Limits are checked when an operation
/// is added and reported when the batch is written, so that building needs no `try`.
public struct WriteBatch: Sendable {
  /// The encoded operations.
  package private(set) var bytes: [UInt8] = []
  /// Number of operations; each takes one sequence number.
  package private(set) var operationCount = 0
  package private(set) var slots: [ArrivalSlot] = []
  package private(set) var preconditions: [Precondition] = []
  /// Whether any operation stores something.
  package private(set) var hasPuts = false
  /// The first limit that was passed.
  package private(set) var failure: DatabaseError?

  /// A batch without operations; writing it only checks its preconditions.
  public init() {}

  /// Whether the batch has no operation.
  public var isEmpty: Bool { operationCount == 0 }

  /// Stores a value under a key, replacing what was there.
  ///
  /// - Parameters:
  ///   - value: 0 to 64 MiB.
  ///   - key: 1 to 65,535 bytes.
  ///   - space: Where the key lives.
  /// - Complexity: O(bytes), amortised.
  public mutating func put(_ value: [UInt8], forKey key: [UInt8], in space: Space = .standard) {
    put(value, forKey: key, in: space, kind: .put)
  }

  /// Deletes a key; a key without value is fine.
  ///
  /// - Parameters:
  ///   - key: 1 to 65,535 bytes.
  ///   - space: Where the key lives.
  /// - Complexity: O(bytes), amortised.
  public mutating func delete(_ key: [UInt8], in space: Space = .standard) {
    delete(key, in: space, kind: .tombstone)
  }

  /// Demands that a key has no value when the batch is written.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - space: Where the key lives.
  public mutating func require(absent key: [UInt8], in space: Space = .standard) {
    preconditions.append(.absent([space.code] + key))
  }

  /// Demands that nothing was written under a key since a snapshot was taken.
  ///
  /// - Parameters:
  ///   - key: The key, written or not.
  ///   - sequence: The ``Snapshot/sequence`` of a snapshot that is held until the batch is written:
  ///     what was written since one that nobody holds can be told no more.
  ///   - space: Where the key lives.
  public mutating func require(
    unchanged key: [UInt8], since sequence: UInt64, in space: Space = .standard
  ) {
    preconditions.append(.unchanged([space.code] + key, since: sequence))
  }

  /// Demands that nothing was written under any key with a prefix since a snapshot was taken.
  ///
  /// - Parameters:
  ///   - prefix: The first bytes of the keys.
  ///   - sequence: As for ``require(unchanged:since:in:)``.
  ///   - space: Where the keys live.
  public mutating func require(
    unchangedPrefix prefix: [UInt8], since sequence: UInt64, in space: Space = .standard
  ) {
    preconditions.append(.unchangedPrefix([space.code] + prefix, since: sequence))
  }
}

/// An 8-byte place in a key that the commit fills with the sequence number of an operation.
///
/// All slots of one memo (its key and its index keys) name the same operation, so they get the same
/// number. Source: FoundationDB's versionstamped keys.
package struct ArrivalSlot: Sendable, Hashable {
  /// Bytes from the start of the batch's bytes.
  package let offset: Int
  /// The operation of the batch whose number is taken.
  package let operation: Int
  /// Whether the number's complement is stored, so that newer ones sort first.
  package let isInverted: Bool
}

/// What has to hold when a batch is committed; keys include the space byte.
package enum Precondition: Sendable, Hashable {
  case absent([UInt8])
  case unchanged([UInt8], since: SequenceNumber)
  case unchangedPrefix([UInt8], since: SequenceNumber)
}

extension WriteBatch {
  /// A place in the key of the operation that is added with it, counted behind the space byte.
  package struct KeySlot {
    package let offset: Int
    package let operation: Int
    package let isInverted: Bool

    package init(offset: Int, operation: Int, isInverted: Bool) {
      self.offset = offset
      self.operation = operation
      self.isInverted = isInverted
    }
  }

  package mutating func put(
    _ value: [UInt8], forKey key: [UInt8], in space: Space, kind: RecordKind, slot: KeySlot? = nil
  ) {
    guard admit(keyByteCount: key.count, valueByteCount: value.count) else { return }
    appendKey(key, in: space, kind: kind, slot: slot)
    hasPuts = true
    bytes.append(varint: UInt64(value.count))
    bytes.append(contentsOf: value)
    operationCount += 1
  }

  package mutating func delete(_ key: [UInt8], in space: Space, kind: RecordKind) {
    guard admit(keyByteCount: key.count, valueByteCount: 0) else { return }
    appendKey(key, in: space, kind: kind, slot: nil)
    operationCount += 1
  }

  private mutating func appendKey(
    _ key: [UInt8], in space: Space, kind: RecordKind, slot: KeySlot?
  ) {
    bytes.append(kind.rawValue)
    bytes.append(varint: UInt64(key.count + 1))
    bytes.append(space.code)
    if let slot {
      precondition(slot.offset >= 0 && slot.offset + 8 <= key.count)
      slots.append(
        ArrivalSlot(
          offset: bytes.count + slot.offset, operation: slot.operation,
          isInverted: slot.isInverted))
    }
    bytes.append(contentsOf: key)
  }

  private mutating func admit(keyByteCount: Int, valueByteCount: Int) -> Bool {
    if failure != nil { return false }
    if keyByteCount == 0 {
      failure = .invalidArgument("a key has at least one byte")
    } else if keyByteCount > Limits.Key.maximumByteCount - (isPlanted(.shortKey) ? 1 : 0) {
      failure = .limitExceeded(what: "key", maximum: Limits.Key.maximumByteCount)
    } else if valueByteCount > Limits.Value.maximumByteCount {
      failure = .limitExceeded(what: "value", maximum: Limits.Value.maximumByteCount)
    } else if bytes.count + keyByteCount + valueByteCount + 24 > Limits.Batch.maximumByteCount {
      failure = .limitExceeded(what: "batch", maximum: Limits.Batch.maximumByteCount)
    } else if operationCount >= Limits.Batch.maximumOperationCount {
      failure = .limitExceeded(
        what: "number of operations", maximum: Limits.Batch.maximumOperationCount)
    }
    return failure == nil
  }

  /// The batch's bytes with every arrival slot filled, when its first operation has this number.
  package func filledBytes(firstSequence: SequenceNumber) -> [UInt8] {
    var filled = bytes
    for slot in slots {
      let arrival = firstSequence + UInt64(slot.operation)
      filled.replace(bigEndian: slot.isInverted ? ~arrival : arrival, at: slot.offset)
    }
    return filled
  }
}
