// One of the sorted sequences that a read merges: a memtable, a recovered log, or a segment.

/// What a read merges.
package enum MergeSource {
  case table(MemTable)
  /// The entries of one space of a recovered log.
  case image(LogImage, space: UInt8)
  /// The entries of the space whose bounds in the segment these are.
  case segment(SegmentHandle, bounds: SpaceBounds, access: SegmentCursor.Access = .scan)
}

/// A position among the entries of a source, in internal key order.
///
/// A segment is opened only when the merge reaches its bound in the MANIFEST: until then the cursor
/// stands at the bound itself (`isProvisional`). A late arrival or a memo dated 2099 opens no file.
struct SourceCursor: ~Copyable {
  // One of the three: the payload of an enum could not be changed in place.
  private var table: MemTableCursor?
  private var image: LogImageCursor?
  private var segment: SegmentSourceCursor?
  /// The entry at the position; of a bound only the key.
  private(set) var entry = EntryReference.none
  private(set) var isValid = false
  /// Whether the key is only a bound: the source has not been read yet.
  private(set) var isProvisional = false

  init(_ source: MergeSource) {
    switch source {
    case .table(let table): self.table = MemTableCursor(table)
    case .image(let image, let space): self.image = LogImageCursor(image, space: space)
    case .segment(let handle, let bounds, let access):
      segment = SegmentSourceCursor(segment: handle, bounds: bounds, access: access)
    }
  }

  mutating func seek(
    toFirstAtOrAfter key: [UInt8], sequence: SequenceNumber
  ) throws(DatabaseError) {
    isValid = false
    table?.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
    image?.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
    try segment?.seek(toFirstAtOrAfter: key, sequence: sequence)
    settle()
  }

  mutating func seek(toLastBefore key: [UInt8]) throws(DatabaseError) {
    isValid = false
    table?.seek(toLastBefore: key.rawBytes)
    image?.seek(toLastBefore: key.rawBytes)
    try segment?.seek(toLastBefore: key)
    settle()
  }

  /// Goes from a bound to the entry it stands for.
  mutating func resolve() throws(DatabaseError) {
    isValid = false
    try segment?.resolve()
    settle()
  }

  mutating func next() throws(DatabaseError) {
    isValid = false
    table?.next()
    image?.next()
    try segment?.next()
    settle()
  }

  mutating func previous() throws(DatabaseError) {
    isValid = false
    table?.previous()
    image?.previous()
    try segment?.previous()
    settle()
  }

  /// Notes where the entry of the new position is.
  @inline(__always)
  private mutating func settle() {
    if let entry = segment?.entry ?? table?.entry ?? image?.entry {
      self.entry = entry
      isValid = true
    }
    isProvisional = segment?.isProvisional ?? false
  }
}

/// A position in one space of a segment that is opened when it is needed.
private struct SegmentSourceCursor: ~Copyable {
  private enum Position {
    /// At the entry of the cursor, or nowhere.
    case settled
    /// At the space's lower bound; stands for the first entry.
    case lowerBound
    /// At the space's upper bound; stands for the last entry before a key.
    case upperBound(before: [UInt8])
  }

  private let segment: SegmentHandle
  private let bounds: SpaceBounds
  private let access: SegmentCursor.Access
  private var cursor: SegmentCursor?
  private var position = Position.settled
  /// The entry at the position, of a bound only the key; `nil` when that is nowhere.
  private(set) var entry: EntryReference?
  /// The key of a provisional position.
  private var bound = ByteBuffer.empty

  init(segment: SegmentHandle, bounds: SpaceBounds, access: SegmentCursor.Access) {
    self.access = access
    self.segment = segment
    self.bounds = bounds
  }

  var isProvisional: Bool {
    if case .settled = position { return false }
    return true
  }

  mutating func seek(
    toFirstAtOrAfter key: [UInt8], sequence: SequenceNumber
  ) throws(DatabaseError) {
    if compareBytes(bounds.upper, key) < 0 {
      leave()
    } else if compareBytes(key, bounds.lower) < 0 {
      stand(at: bounds.lower, .lowerBound)
    } else {
      try openCursor()
      try cursor?.seek(toFirstAtOrAfter: key.rawBytes, sequence)
      settle()
    }
  }

  mutating func seek(toLastBefore key: [UInt8]) throws(DatabaseError) {
    if compareBytes(bounds.lower, key) >= 0 {
      leave()
    } else if compareBytes(bounds.upper, key) < 0 {
      stand(at: bounds.upper, .upperBound(before: key))
    } else {
      try openCursor()
      try cursor?.seek(toLastBefore: key.rawBytes)
      settle()
    }
  }

  mutating func resolve() throws(DatabaseError) {
    switch position {
    case .settled: return
    case .lowerBound:
      try openCursor()
      if segment.descriptor.spaces.first?.code == bounds.code {
        try cursor?.seekToFirst()
      } else {
        let lower = bounds.lower
        try cursor?.seek(toFirstAtOrAfter: lower.rawBytes, .max)
      }
    case .upperBound(let key):
      try openCursor()
      try cursor?.seek(toLastBefore: key.rawBytes)
    }
    settle()
  }

  @inline(__always)
  mutating func next() throws(DatabaseError) {
    try cursor?.next()
    settle()
  }

  @inline(__always)
  mutating func previous() throws(DatabaseError) {
    try cursor?.previous()
    settle()
  }

  private mutating func openCursor() throws(DatabaseError) {
    if cursor == nil { cursor = SegmentCursor(try segment.reader(), access: access) }
  }

  private mutating func leave() {
    position = .settled
    entry = nil
  }

  private mutating func stand(at key: [UInt8], _ position: Position) {
    self.position = position
    bound = ByteBuffer(copying: key)
    entry = EntryReference(key: bound.bytes, value: RawSpan(), tag: EntryReference.none.tag)
  }

  /// Takes the cursor's entry over; other spaces of the segment do not exist for this cursor.
  @inline(__always)
  private mutating func settle() {
    position = .settled
    entry = cursor?.spaceCode == bounds.code ? cursor?.entry : nil
  }
}
