/// What a data block holds, counted while everything that its reader takes for granted is checked.
struct BlockTally {
  private(set) var space: SpaceSummary
  private(set) var firstSequence: SequenceNumber = 0
  private(set) var lastTag = EntryTag(sequence: 0, kind: .tombstone)
  private(set) var lowestSequence = Limits.Sequence.maximum
  private(set) var highestSequence: SequenceNumber = 0
  private var lastKey: [UInt8] = []

  /// Walks over a block of a space.
  ///
  /// Checks the order of entries, that they are all of the space and in its filter, that restart
  /// points are where they have to be, and that the base is the lowest sequence.
  init(
    counting block: Block, ofSpace code: UInt8, filter: BloomFilter?
  ) throws(FormatError) {
    space = SpaceSummary(code: code, firstKey: [])
    var key = KeyBuffer()
    var offset = block.entries.lowerBound
    while offset < block.entries.upperBound {
      let entry = try block.entry(at: offset, previousKeyByteCount: key.byteCount)
      if space.entryCount % Limits.Block.restartInterval == 0 {
        let restart = space.entryCount / Limits.Block.restartInterval
        guard restart < block.restartCount, try block.restartOffset(restart) == offset,
          entry.sharedByteCount == 0
        else { throw block.failure("restart point is not where it should be", at: offset) }
      }
      block.copyKey(of: entry, to: &key)
      try count(entry, key.bytes, in: block, at: offset, filter)
      offset = entry.end
    }
    let interval = Limits.Block.restartInterval
    guard block.restartCount == (space.entryCount + interval - 1) / interval else {
      throw block.failure("wrong number of restart points", at: block.entries.upperBound)
    }
    guard block.baseSequence == lowestSequence else {
      throw block.failure("base is not the lowest sequence", at: 0)
    }
    space.lastKey = lastKey
  }

  private mutating func count(
    _ entry: BlockEntry, _ key: RawSpan, in block: Block, at offset: Int, _ filter: BloomFilter?
  ) throws(FormatError) {
    let sequence = entry.tag.sequence
    let keyBytes = [UInt8](copying: key)
    if space.entryCount == 0 {
      space.firstKey = keyBytes
      firstSequence = sequence
    } else {
      guard compareInternal(lastKey.rawBytes, lastTag.sequence, key, sequence) < 0 else {
        throw block.failure("entries are not in order", at: offset)
      }
    }
    guard keyBytes.first == space.code else {
      throw block.failure("entry of another space", at: offset)
    }
    guard filter?.mayContain(key: key) ?? true else {
      throw block.failure("key is not in the filter", at: offset)
    }
    space.count(entry.tag.kind)
    lowestSequence = min(lowestSequence, sequence)
    highestSequence = max(highestSequence, sequence)
    lastKey = keyBytes
    lastTag = entry.tag
  }
}
