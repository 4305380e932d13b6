internal import KVEngine

/// Key with its space byte, tag and value of an entry that was found.
typealias SalvagedEntry = (key: [UInt8], tag: EntryTag, value: [UInt8])

/// Entries of one space out of one damaged file, in internal key order.
final class SalvageSource {
  // One of the two.
  private var blocks: SalvagedBlocks?
  private var log: LogImageCursor?
  /// The number of the file: of two entries without an order the one in the later file wins.
  private let number: UInt64
  /// The only keys that count; `nil` for all.
  private let gaps: [KeyGap]?
  /// The entry at the position, `nil` behind the last.
  private(set) var entry: SalvagedEntry?

  init(
    _ segment: SalvagedSegment, space code: UInt8, gaps: [KeyGap]?
  ) throws(DatabaseError) {
    blocks = SalvagedBlocks(segment, space: code)
    number = segment.frames.reference.number
    self.gaps = gaps
    try next()
  }

  init(
    _ log: LogImage, number: UInt64, space code: UInt8, gaps: [KeyGap]?
  ) throws(DatabaseError) {
    var cursor = LogImageCursor(log, space: code)
    let first = [code]
    cursor.seek(toFirstAtOrAfter: first.rawBytes, sequence: .max)
    self.log = cursor
    self.number = number
    self.gaps = gaps
    try next()
  }

  /// Goes on to the next entry that counts.
  func next() throws(DatabaseError) {
    repeat {
      entry = try blocks?.next() ?? nextOfLog()
    } while !counts
  }

  private func nextOfLog() -> SalvagedEntry? {
    guard let cursor = log, cursor.isValid else { return nil }
    log?.next()
    return ([UInt8](copying: cursor.key), cursor.tag, [UInt8](copying: cursor.value))
  }

  private var counts: Bool {
    guard let entry, let gaps else { return true }
    return gaps.contains { $0.contains(entry.key) }
  }

  /// Whether this entry comes before another source's in the merged order.
  func precedes(_ other: SalvageSource) -> Bool {
    guard let entry else { return false }
    guard let theirs = other.entry else { return true }
    let order = compareBytes(entry.key, theirs.key)
    if order != 0 { return order < 0 }
    if entry.tag.sequence != theirs.tag.sequence {
      return entry.tag.sequence > theirs.tag.sequence
    }
    return number > other.number
  }
}

/// The sound blocks of one space of a segment, entry by entry.
private struct SalvagedBlocks {
  private var frames: SegmentFrames
  private var places: ArraySlice<SalvagedSegment.Place>
  private var entries: ArraySlice<SalvagedEntry> = []

  init(_ segment: SalvagedSegment, space code: UInt8) {
    frames = segment.frames
    places = segment.blocks.filter { $0.head.spaceCode == code }[...]
  }

  mutating func next() throws(DatabaseError) -> SalvagedEntry? {
    while entries.isEmpty, let place = places.popFirst() {
      entries = try frames.entries(of: place.head, at: place.offset)[...]
    }
    return entries.popFirst()
  }
}
