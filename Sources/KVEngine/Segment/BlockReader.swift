/// A position in a block, with the whole key of the entry there.
///
/// Moving forward copies only the key bytes that differ. Moving backward walks again from the
/// restart point before, on average half an interval.
struct BlockReader: ~Copyable {
  private var block = Block.empty
  private var entry = BlockEntry()
  private var entryOffset = 0
  private var keyBuffer = KeyBuffer()
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

  /// Where the entry is, `nil` without one.
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
  }

  /// Gives the block's memory away; the position is nowhere.
  mutating func giveBuffer() -> ByteBuffer {
    let buffer = block.buffer
    take(.empty)
    return buffer
  }

  /// Moves to the first entry.
  mutating func seekToFirst() throws(FormatError) {
    isValid = false
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
    isValid = false
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
  mutating func next() throws(FormatError) {
    assert(isValid)
    let offset = entry.end
    isValid = false
    guard offset < block.entries.upperBound else { return }
    try move(to: offset, previousKeyByteCount: entry.keyByteCount)
  }

  /// Moves to the entry before; nowhere before the first.
  ///
  /// Only for a valid position.
  mutating func previous() throws(FormatError) {
    assert(isValid)
    isValid = false
    guard entryOffset > block.entries.lowerBound else { return }
    try walk(to: entryOffset)
  }

  /// Moves to the entry that ends where `end` is, from the restart point before it.
  private mutating func walk(to end: Int) throws(FormatError) {
    isValid = false
    var offset = try block.restartOffset(try block.restartIndex(before: end))
    var previousKeyByteCount = 0
    repeat {
      try move(to: offset, previousKeyByteCount: previousKeyByteCount)
      previousKeyByteCount = entry.keyByteCount
      offset = entry.end
    } while offset < end
    guard offset == end else {
      isValid = false
      throw block.failure("entry is not where the next one begins", at: entryOffset)
    }
  }

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
