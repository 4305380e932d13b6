/// A position in a block, with the whole key of the entry there.
///
/// Moving forward copies only the key bytes that differ. Moving backward walks once over each
/// interval between restart points and keeps what it finds.
struct BlockReader: ~Copyable {
  private var block = Block.empty
  private var entry = BlockEntry()
  private var entryOffset = 0
  private var keyBuffer = KeyBuffer()
  /// The entries between the restart point and the position, for moves backward; and their keys,
  /// one behind the other.
  private var interval: [Passed] = []
  private var intervalKeys = KeyBuffer()
  /// Whether there is an entry at the position.
  private(set) var isValid = false

  /// The key of the entry, until the next move.
  var key: RawSpan {
    @_lifetime(borrow self)
    get { keyBuffer.bytes }
  }

  /// The value of the entry, as long as the block stays.
  var value: RawSpan {
    @_lifetime(borrow self)
    get { block.buffer.bytes.extracting(entry.value) }
  }

  var tag: EntryTag { entry.tag }

  /// An entry that a walk has passed.
  private struct Passed {
    let entry: BlockEntry
    let offset: Int
    let key: Range<Int>
  }

  /// Where the entry is, `nil` without one.
  @inline(__always)
  var reference: EntryReference? {
    isValid ? EntryReference(key: key, value: value, tag: tag) : nil
  }

  /// Takes another block; the position is nowhere.
  mutating func take(_ block: Block) {
    self.block = block
    leave()
  }

  /// Moves nowhere; the block stays.
  mutating func leave() {
    isValid = false
    if !interval.isEmpty { interval.removeAll(keepingCapacity: true) }
  }

  /// Gives the block's memory away; the position is nowhere.
  mutating func giveBuffer() -> ByteBuffer {
    let buffer = block.buffer
    take(.empty)
    return buffer
  }

  /// Moves to the first entry.
  mutating func seekToFirst() throws(FormatError) {
    leave()
    try move(to: block.entries.lowerBound, previousKeyByteCount: 0)
  }

  /// Moves to the last entry.
  mutating func seekToLast() throws(FormatError) {
    try walk(to: block.entries.upperBound)
  }

  /// Moves to the first entry at or after a key and sequence; nowhere if all are before it.
  mutating func seek(
    toFirstAtOrAfter key: RawSpan, _ sequence: SequenceNumber
  ) throws(FormatError) {
    leave()
    guard let match = try block.firstEntry(atOrAfter: key, sequence) else { return }
    // What the entry shares with the key before it, that one shared with the wanted key.
    keyBuffer.replace(after: 0, with: key.extracting(first: match.entry.sharedByteCount))
    block.copyKey(of: match.entry, to: &keyBuffer)
    entry = match.entry
    entryOffset = match.offset
    isValid = true
  }

  /// Moves to the next entry; nowhere behind the last.
  ///
  /// Only for a valid position.
  @inline(__always)
  mutating func next() throws(FormatError) {
    assert(isValid)
    let offset = entry.end
    isValid = false
    if !interval.isEmpty { interval.removeAll(keepingCapacity: true) }
    guard offset < block.entries.upperBound else { return }
    try move(to: offset, previousKeyByteCount: entry.keyByteCount)
  }

  /// Moves to the entry before; nowhere before the first.
  ///
  /// Only for a valid position.
  mutating func previous() throws(FormatError) {
    assert(isValid)
    isValid = false
    if let passed = interval.popLast() {
      keyBuffer.replace(after: 0, with: passed.key, of: intervalKeys)
      entry = passed.entry
      entryOffset = passed.offset
      isValid = true
    } else if entryOffset > block.entries.lowerBound {
      try walk(to: entryOffset)
    }
  }

  /// Moves to the entry that ends where `end` is, from the restart point before it.
  private mutating func walk(to end: Int) throws(FormatError) {
    leave()
    intervalKeys.removeAll()
    var offset = try block.restartOffset(try block.restartIndex(before: end))
    try move(to: offset, previousKeyByteCount: 0)
    while entry.end < end {
      guard interval.count + 1 < Limits.Block.restartInterval else {
        leave()
        throw block.failure("restart points are too far apart", at: offset)
      }
      let start = intervalKeys.byteCount
      intervalKeys.replace(after: start, with: 0..<keyBuffer.byteCount, of: keyBuffer)
      interval.append(
        Passed(entry: entry, offset: offset, key: start..<intervalKeys.byteCount))
      offset = entry.end
      try move(to: offset, previousKeyByteCount: entry.keyByteCount)
    }
    guard entry.end == end else {
      leave()
      throw block.failure("entry is not where the next one begins", at: entryOffset)
    }
  }

  @inline(__always)
  private mutating func move(
    to offset: Int, previousKeyByteCount: Int
  ) throws(FormatError) {
    let next = try block.entry(at: offset, previousKeyByteCount: previousKeyByteCount)
    block.copyKey(of: next, to: &keyBuffer)
    entry = next
    entryOffset = offset
    isValid = true
  }
}
