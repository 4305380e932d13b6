// What a reader at one sequence sees: the newest version of each key at or below it, without the
// deleted ones, inside bounds.
//
// Invariants:
//  V1  the key is inside [lower, upper) or the cursor has no entry: bounds are never passed, not
//      even for a moment;
//  V2  forward and backward lists are mirror images;
//  V3  after an error every later move throws the same error: an error is never the end of the
//      data.
//
// Going backward, versions of a key arrive oldest first, so the value is copied before the merge
// moves on; forward it is borrowed. A change of direction seeks again from the current key.

/// A position among the live keys of one space.
package struct VisibleCursor: ~Copyable {
  private enum Position {
    case none
    case atEntry(isForward: Bool)
    case beforeFirst
    case behindLast
  }

  private var merging: MergingCursor
  private let lower: [UInt8]
  private let upper: [UInt8]?
  private let sequence: SequenceNumber
  private let gaps: GapNotes?
  private var position = Position.none
  private var failure: DatabaseError?
  private var currentKey = KeyBuffer()
  private var currentTag = EntryTag(sequence: 0, kind: .tombstone)
  private var savedValue = ByteBuffer.empty

  /// Makes a cursor over the keys from `lower` up to `upper`, both with their space byte, as they
  /// were at `sequence`.
  ///
  /// Without `upper` no key is behind those that may be seen. `gaps` is what other reads have
  /// learnt; a read without it looks at everything.
  package init(
    _ merging: consuming MergingCursor, lower: [UInt8], upper: [UInt8]?, sequence: SequenceNumber,
    gaps: GapNotes? = nil
  ) {
    self.gaps = gaps
    self.merging = merging
    self.lower = lower
    self.upper = upper
    self.sequence = sequence
  }

  package var isValid: Bool {
    if case .atEntry = position { return true }
    return false
  }

  /// The key with its space byte.
  ///
  /// There must be an entry.
  package var key: RawSpan {
    @_lifetime(borrow self)
    get { currentKey.bytes }
  }

  /// The value, valid until the next move.
  ///
  /// There must be an entry.
  package var value: RawSpan {
    @_lifetime(borrow self)
    get {
      if case .atEntry(isForward: true) = position {
        return unsafe _overrideLifetime(merging.entry.value, borrowing: self)
      }
      return savedValue.bytes
    }
  }

  package var tag: EntryTag { currentTag }

  /// The space whose keys the cursor shows.
  package var spaceCode: UInt8 { lower[0] }

  /// Goes to the first entry, or from an entry to the following one.
  ///
  /// - Complexity: O(log *s*) comparisons for each version stepped over.
  package mutating func next() throws(DatabaseError) {
    switch position {
    case .behindLast: return
    case .none, .beforeFirst: try seek(toFirstAtOrAfter: lower)
    case .atEntry(isForward: true):
      try guarded { cursor throws(DatabaseError) in
        try cursor.merging.advance()
        try cursor.findForward(from: nil, skippingCurrent: true)
      }
    case .atEntry(isForward: false):
      try guarded { cursor throws(DatabaseError) in
        let start = [UInt8](copying: cursor.key)
        try cursor.merging.seek(toFirstAtOrAfter: start, sequence: 0)
        try cursor.findForward(from: start, skippingCurrent: true)
      }
    }
  }

  /// Goes to the last entry, or from an entry to the one before it.
  package mutating func previous() throws(DatabaseError) {
    switch position {
    case .beforeFirst: return
    case .none, .behindLast:
      try guarded { cursor throws(DatabaseError) in
        try cursor.seekMerging(toLastBefore: cursor.upper)
        try cursor.findBackward(from: cursor.upper)
      }
    case .atEntry(isForward: true):
      try guarded { cursor throws(DatabaseError) in
        var end = [UInt8](copying: cursor.key)
        if isPlanted(.backwardTurnOffByOne) { end.append(0) }
        try cursor.merging.seek(toLastBefore: end)
        try cursor.findBackward(from: end)
      }
    case .atEntry(isForward: false):
      try guarded { cursor throws(DatabaseError) in try cursor.findBackward(from: nil) }
    }
  }

  /// Goes to the first entry at or behind a key (with its space byte).
  package mutating func seek(toFirstAtOrAfter key: [UInt8]) throws(DatabaseError) {
    try guarded { cursor throws(DatabaseError) in
      let target = compareBytes(key, cursor.lower) < 0 ? cursor.lower : key
      try cursor.merging.seek(toFirstAtOrAfter: target, sequence: .max)
      try cursor.findForward(from: target, skippingCurrent: false)
    }
  }

  /// Goes to the last entry at or before a key (with its space byte).
  package mutating func seek(toLastAtOrBefore key: [UInt8]) throws(DatabaseError) {
    try guarded { cursor throws(DatabaseError) in
      // The smallest key behind `key` is `key` and a zero byte.
      let behind = isPlanted(.backwardSeekOffByOne) ? key : key + [0]
      let isInside = cursor.upper.map { compareBytes(behind, $0) < 0 } ?? true
      let end = isInside ? behind : cursor.upper
      try cursor.seekMerging(toLastBefore: end)
      try cursor.findBackward(from: end)
    }
  }

  private mutating func seekMerging(toLastBefore key: [UInt8]?) throws(DatabaseError) {
    if let key {
      try merging.seek(toLastBefore: key)
    } else {
      // Only the last space code has no key behind it; no key has 65,537 bytes of 0xFF.
      let last = [UInt8](repeating: 0xFF, count: Limits.Key.maximumByteCount + 2)
      try merging.seek(toLastBefore: last)
    }
  }

  @inline(__always)
  private mutating func guarded(
    _ move: (inout VisibleCursor) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    if let failure { throw failure }
    do {
      try move(&self)
    } catch {
      position = .none
      failure = error
      throw error
    }
  }

  /// Stops at the next live key from the merge's position on.
  ///
  /// `start` is the key that was sought; a step has none, its stretch begins with the first dead
  /// key.
  private mutating func findForward(
    from start: [UInt8]?, skippingCurrent: Bool
  ) throws(DatabaseError) {
    var isSkipping = skippingCurrent
    var stretch = Stretch(start: start)
    while merging.isValid {
      let entry = merging.entry
      if let upper, compareBytes(entry.key, upper) >= 0 { break }
      let tag = entry.tag
      if tag.sequence <= sequence, !isSkipping || compareBytes(entry.key, currentKey.bytes) != 0 {
        if tag.kind.isPut {
          if stretch.isNoteworthy { note(stretch, end: [UInt8](copying: entry.key)) }
          currentKey.replace(after: 0, with: entry.key)
          currentTag = tag
          position = .atEntry(isForward: true)
          return
        }
        if stretch.start == nil { stretch.start = [UInt8](copying: entry.key) }
        currentKey.replace(after: 0, with: entry.key)
        isSkipping = true
      }
      if stretch.stepOver(), let gap = gaps?.gap(around: entry.key, at: sequence) {
        try merging.seek(toFirstAtOrAfter: gap.upper, sequence: .max)
      } else {
        try merging.advance()
      }
    }
    if stretch.isNoteworthy, let upper { note(stretch, end: upper) }
    position = .behindLast
  }

  /// Stops at the live key before the merge's position, leaving the merge before that key.
  ///
  /// `end` is the key before which was sought; a step has none, its stretch begins with the first
  /// dead key.
  private mutating func findBackward(from end: [UInt8]?) throws(DatabaseError) {
    var stretch = Stretch(start: end)
    while merging.isValid, compareBytes(merging.entry.key, lower) >= 0 {
      let first = merging.entry
      currentKey.replace(after: 0, with: first.key)
      var newest: EntryTag?
      while merging.isValid {
        let entry = merging.entry
        guard compareBytes(entry.key, currentKey.bytes) == 0 else { break }
        if entry.tag.sequence <= sequence {
          newest = entry.tag
          ByteBuffer.assign(entry.value, to: &savedValue)
        }
        try merging.advance()
      }
      if let newest, newest.kind.isPut {
        if stretch.isNoteworthy, let end = stretch.start {
          gaps?.note(
            GapNotes.Gap(
              lower: [UInt8](copying: currentKey.bytes), upper: end, sequence: sequence))
        }
        currentTag = newest
        position = .atEntry(isForward: false)
        return
      }
      if stretch.start == nil { stretch.start = [UInt8](copying: currentKey.bytes) }
      if stretch.stepOver(), let gap = gaps?.gap(around: currentKey.bytes, at: sequence) {
        // The smallest key behind the gap's lower bound is that and a zero byte.
        try merging.seek(toLastBefore: gap.lower + [0])
      }
    }
    position = .beforeFirst
  }

  private func note(_ stretch: Stretch, end: [UInt8]) {
    guard let start = stretch.start else { return }
    gaps?.note(GapNotes.Gap(lower: start, upper: end, sequence: sequence))
  }

  /// The dead entries that one move has stepped over.
  private struct Stretch {
    /// Nothing visible was seen behind this key.
    var start: [UInt8]?
    var count = 0

    init(start: [UInt8]?) {
      self.start = start
    }

    var isNoteworthy: Bool { count > GapNotes.noteworthyCount }

    /// Counts an entry.
    ///
    /// - Returns: Whether it is time to ask for a note: at the first entry and now and then.
    mutating func stepOver() -> Bool {
      count += 1
      return count % GapNotes.noteworthyCount == 1
    }
  }
}
