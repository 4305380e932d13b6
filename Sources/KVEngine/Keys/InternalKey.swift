// FORMAT.md section 8. An internal key is the space byte and the caller's key, then a tag of
// sequence and kind. Order: key bytes ascending, then sequence descending, so the newest entry of a
// key comes first.

/// The number of a write in the total order of all writes; 0 before the first.
package typealias SequenceNumber = UInt64

/// Sequence and kind of an entry in one word.
package struct EntryTag: Equatable, Sendable {
  package let word: UInt64

  package init(sequence: SequenceNumber, kind: RecordKind) {
    word = sequence << 2 | UInt64(kind.rawValue)
  }

  /// A word that was made by ``init(sequence:kind:)``.
  init(storedWord: UInt64) {
    word = storedWord
  }

  /// A word from disk; `nil` when its sequence is out of range.
  package init?(word: UInt64) {
    guard word >> 2 <= Limits.Sequence.maximum else { return nil }
    self.word = word
  }

  package var sequence: SequenceNumber { word >> 2 }

  package var kind: RecordKind {
    // Two bits and four cases: every value has one.
    RecordKind(rawValue: UInt8(word & 3)) ?? .tombstone
  }
}

/// Compares two internal keys: key bytes ascending, then sequence descending.
package func compareInternal(
  _ a: RawSpan, _ aSequence: SequenceNumber, _ b: RawSpan, _ bSequence: SequenceNumber
) -> Int {
  let order = compareBytes(a, b)
  if order != 0 { return order }
  if aSequence == bSequence { return 0 }
  return aSequence > bSequence ? -1 : 1
}
