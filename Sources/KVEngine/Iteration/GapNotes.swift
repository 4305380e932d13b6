// Deleting the newest 100,000 memos must not slow the read of the newest 200: until compaction has
// been there, that read steps over 100,000 dead entries. The first one that does leaves a note, and
// later ones jump.
//
// A note says: nothing is visible between key a and key b at sequence s. It holds for every read at
// s or later, as long as nothing is put between a and b; deletions there change nothing. So the
// writer drops notes that a put falls into, before the put becomes visible. A note is never stored.

/// What reads have learnt about stretches without a visible key.
package final class GapNotes: Sendable {
  /// A stretch without a visible key; both bounds are outside of it.
  package struct Gap: Equatable, Sendable {
    package let lower: [UInt8]
    package let upper: [UInt8]
    /// Reads below this sequence may see something in the stretch.
    package let sequence: SequenceNumber
  }

  /// Dead entries that a read steps over before it leaves a note.
  package static let noteworthyCount = 64
  /// Notes that are kept; the oldest goes first.
  private static let maximumCount = 16

  private struct State {
    var gaps: [Gap] = []
    /// Every put up to this sequence was looked at: a read of an older moment must not leave a
    /// note.
    var checkedSequence: SequenceNumber = 0
  }

  private let state = Lock(State())
  private let isEnabled: Bool

  package init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  /// The stretch around a key, for a read at a sequence.
  ///
  /// - Complexity: O(1): there are at most 16 notes.
  package func gap(around key: RawSpan, at sequence: SequenceNumber) -> Gap? {
    guard isEnabled else { return nil }
    let gaps = state.withLock { $0.gaps }
    for gap in gaps where gap.sequence <= sequence {
      if compareBytes(key, gap.lower) > 0, compareBytes(key, gap.upper) < 0 { return gap }
    }
    return nil
  }

  /// Notes a stretch that a read at its sequence has found empty.
  ///
  /// A put that became visible since that moment may be in the stretch: then there is no note.
  package func note(_ gap: Gap) {
    guard isEnabled else { return }
    state.withLock { state in
      guard gap.sequence >= state.checkedSequence else { return }
      // A note inside the new one says nothing more.
      state.gaps.removeAll {
        compareBytes($0.lower, gap.lower) >= 0 && compareBytes($0.upper, gap.upper) <= 0
      }
      if state.gaps.count == Self.maximumCount { state.gaps.removeFirst() }
      state.gaps.append(gap)
    }
  }

  /// Forgets the stretches into which a record puts something, before it becomes visible.
  ///
  /// - Complexity: O(operations) when there are notes, O(1) otherwise.
  package func drop(
    for operations: RawSpan, count: Int, lastSequence: SequenceNumber
  ) throws(FormatError) {
    let isEmpty = state.withLock { state in
      state.checkedSequence = lastSequence
      return state.gaps.isEmpty
    }
    if isEmpty || isPlanted(.staleGap) { return }
    var reader = OperationReader(operations, count: count)
    while let operation = try reader.next() {
      guard operation.kind.isPut else { continue }
      let key = [UInt8](copying: operations.extracting(operation.key))
      state.withLock { state in
        state.gaps.removeAll { compareBytes($0.lower, key) < 0 && compareBytes(key, $0.upper) < 0 }
      }
    }
  }

  /// Forgets everything: the state was read anew, up to a sequence.
  package func reset(to sequence: SequenceNumber) {
    state.withLock { $0 = State(gaps: [], checkedSequence: sequence) }
  }
}
