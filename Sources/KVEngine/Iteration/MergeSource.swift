// One of the sorted sequences that a read merges: a memtable, a recovered log, or a segment.

/// Entries of one space in internal key order, with a position.
///
/// A segment is opened only when the merge reaches its bound in the MANIFEST: until then the source
/// stands at the bound itself (`isProvisional`). A late arrival or a memo dated 2099 opens no file.
package final class MergeSource {
  private enum Entries {
    case table(MemTableCursor)
    case image(LogImageCursor)
    case segment(SegmentSource)
  }

  private let entries: Entries

  package init(table: MemTable) {
    entries = .table(MemTableCursor(table))
  }

  package init(image: LogImage, space: UInt8) {
    entries = .image(LogImageCursor(image, space: space))
  }

  /// The entries of the space whose bounds in the segment these are.
  package init(
    segment: SegmentHandle, bounds: SpaceBounds, access: SegmentCursor.Access = .scan
  ) {
    entries = .segment(SegmentSource(segment: segment, bounds: bounds, access: access))
  }

  package var isValid: Bool {
    switch entries {
    case .table(let cursor): cursor.isValid
    case .image(let cursor): cursor.isValid
    case .segment(let source): source.isValid
    }
  }

  /// Whether `key` is only a bound: the source has not been read yet.
  package var isProvisional: Bool {
    if case .segment(let source) = entries { return source.isProvisional }
    return false
  }

  package var key: RawSpan {
    @_lifetime(borrow self)
    get {
      switch entries {
      case .table(let cursor): unsafe _overrideLifetime(cursor.key, borrowing: self)
      case .image(let cursor): unsafe _overrideLifetime(cursor.key, borrowing: self)
      case .segment(let source): unsafe _overrideLifetime(source.key, borrowing: self)
      }
    }
  }

  package var value: RawSpan {
    @_lifetime(borrow self)
    get {
      switch entries {
      case .table(let cursor): unsafe _overrideLifetime(cursor.value, borrowing: self)
      case .image(let cursor): unsafe _overrideLifetime(cursor.value, borrowing: self)
      case .segment(let source): unsafe _overrideLifetime(source.value, borrowing: self)
      }
    }
  }

  package var tag: EntryTag {
    switch entries {
    case .table(let cursor): cursor.tag
    case .image(let cursor): cursor.tag
    case .segment(let source): source.tag
    }
  }

  package func seek(
    toFirstAtOrAfter key: [UInt8], sequence: SequenceNumber
  ) throws(DatabaseError) {
    switch entries {
    case .table(let cursor): cursor.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
    case .image(let cursor): cursor.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
    case .segment(let source): try source.seek(toFirstAtOrAfter: key, sequence: sequence)
    }
  }

  package func seek(toLastBefore key: [UInt8]) throws(DatabaseError) {
    switch entries {
    case .table(let cursor): cursor.seek(toLastBefore: key.rawBytes)
    case .image(let cursor): cursor.seek(toLastBefore: key.rawBytes)
    case .segment(let source): try source.seek(toLastBefore: key)
    }
  }

  /// Goes from a bound to the entry it stands for.
  package func resolve() throws(DatabaseError) {
    if case .segment(let source) = entries { try source.resolve() }
  }

  package func next() throws(DatabaseError) {
    switch entries {
    case .table(let cursor): cursor.next()
    case .image(let cursor): cursor.next()
    case .segment(let source): try source.next()
    }
  }

  package func previous() throws(DatabaseError) {
    switch entries {
    case .table(let cursor): cursor.previous()
    case .image(let cursor): cursor.previous()
    case .segment(let source): try source.previous()
    }
  }
}

/// One space of a segment that is opened when it is needed.
private final class SegmentSource {
  private enum Position {
    case none
    /// At the space's lower bound; stands for the first entry.
    case lowerBound
    /// At the space's upper bound; stands for the last entry before a key.
    case upperBound(before: [UInt8])
    /// At the cursor's entry.
    case entry
  }

  private let segment: SegmentHandle
  private let bounds: SpaceBounds
  private let access: SegmentCursor.Access
  private var cursor: SegmentCursor?
  private var position = Position.none
  /// The key of a provisional position.
  private var bound = ByteBuffer(byteCount: 0)

  init(
    segment: SegmentHandle, bounds: SpaceBounds, access: SegmentCursor.Access
  ) {
    self.access = access
    self.segment = segment
    self.bounds = bounds
  }

  var isValid: Bool {
    if case .none = position { return false }
    return true
  }

  var isProvisional: Bool {
    switch position {
    case .lowerBound, .upperBound: true
    case .none, .entry: false
    }
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      if let cursor, case .entry = position {
        return unsafe _overrideLifetime(cursor.key, borrowing: self)
      }
      return bound.bytes(keptBy: self)
    }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get {
      guard let cursor else { return RawSpan() }
      return unsafe _overrideLifetime(cursor.value, borrowing: self)
    }
  }

  var tag: EntryTag {
    cursor?.tag ?? EntryTag(sequence: 0, kind: .tombstone)
  }

  func seek(toFirstAtOrAfter key: [UInt8], sequence: SequenceNumber) throws(DatabaseError) {
    if compareBytes(bounds.upper, key) < 0 {
      position = .none
    } else if compareBytes(key, bounds.lower) < 0 {
      position = .lowerBound
      bound = ByteBuffer(copying: bounds.lower)
    } else {
      let cursor = try openCursor()
      try cursor.seek(toFirstAtOrAfter: key.rawBytes, sequence)
      settle(cursor)
    }
  }

  func seek(toLastBefore key: [UInt8]) throws(DatabaseError) {
    if compareBytes(bounds.lower, key) >= 0 {
      position = .none
    } else if compareBytes(bounds.upper, key) < 0 {
      position = .upperBound(before: key)
      bound = ByteBuffer(copying: bounds.upper)
    } else {
      let cursor = try openCursor()
      try cursor.seek(toLastBefore: key.rawBytes)
      settle(cursor)
    }
  }

  func resolve() throws(DatabaseError) {
    switch position {
    case .none, .entry: return
    case .lowerBound:
      let cursor = try openCursor()
      if segment.descriptor.spaces.first?.code == bounds.code {
        try cursor.seekToFirst()
      } else {
        try Self.seek(cursor, toFirstAtOrAfter: bounds.lower)
      }
      settle(cursor)
    case .upperBound(let key):
      let cursor = try openCursor()
      try cursor.seek(toLastBefore: key.rawBytes)
      settle(cursor)
    }
  }

  func next() throws(DatabaseError) {
    guard let cursor else { return }
    try cursor.next()
    settle(cursor)
  }

  func previous() throws(DatabaseError) {
    guard let cursor else { return }
    try cursor.previous()
    settle(cursor)
  }

  private func openCursor() throws(DatabaseError) -> SegmentCursor {
    if let cursor { return cursor }
    let made = SegmentCursor(try segment.reader(), access: access)
    cursor = made
    return made
  }

  private static func seek(
    _ cursor: SegmentCursor, toFirstAtOrAfter key: [UInt8]
  ) throws(DatabaseError) {
    try cursor.seek(toFirstAtOrAfter: key.rawBytes, .max)
  }

  /// Other spaces of the segment do not exist for this source.
  private func settle(_ cursor: SegmentCursor) {
    guard cursor.isValid else {
      position = .none
      return
    }
    let code = unsafe cursor.key.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    position = code == bounds.code ? .entry : .none
  }
}
