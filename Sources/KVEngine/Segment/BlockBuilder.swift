/// Collects the entries of one block and lays them out (see ``Block``).
///
/// The lowest sequence is known only when the block is closed, and every tag depends on it, so
/// lengths and bytes are kept apart until then. Memory is used again from block to block.
struct BlockBuilder: ~Copyable {
  private struct Entry {
    let sharedByteCount: Int
    let restByteCount: Int
    let valueByteCount: Int
    let tag: EntryTag
  }

  /// Whether sequences are stored as they are, as in an index.
  private let hasZeroBase: Bool
  private var entries: [Entry] = []
  /// Other key bytes and value of each entry, one behind the other.
  private var contents: [UInt8] = []
  /// Bytes of all lengths in front of the entries.
  private var lengthByteCount = 0
  private var lowestSequence = Limits.Sequence.maximum
  private var highestSequence: SequenceNumber = 0
  private var keyBuffer = KeyBuffer()

  init(hasZeroBase: Bool = false) {
    self.hasZeroBase = hasZeroBase
  }

  var isEmpty: Bool { entries.isEmpty }
  var entryCount: Int { entries.count }
  /// The tag of the newest entry, `nil` without entries.
  var lastTag: EntryTag? { entries.last?.tag }

  /// The key of the newest entry.
  var lastKey: [UInt8] { [UInt8](copying: keyBuffer.bytes) }

  /// Whether an entry belongs behind the newest one.
  func isBehindLast(_ key: RawSpan, _ tag: EntryTag) -> Bool {
    guard let lastTag else { return true }
    return compareInternal(keyBuffer.bytes, lastTag.sequence, key, tag.sequence) < 0
  }

  /// Bytes of the block; up to a few bytes per entry more than it will have.
  var byteCount: Int {
    Self.byteCount(
      entries.count, lengthByteCount + contents.count, lowestSequence, highestSequence)
  }

  /// Adds an entry unless it would make the block larger than `bound`; the first always fits.
  ///
  /// - Returns: Whether the entry was added.
  mutating func append(
    key: RawSpan, tag: EntryTag, value: RawSpan, bound: Int = .max
  ) -> Bool {
    let isRestart = entries.count % Limits.Block.restartInterval == 0
    let shared = isRestart ? 0 : commonPrefixByteCount(keyBuffer.bytes, key)
    let rest = key.byteCount - shared
    let lengths =
      varintByteCount(UInt64(shared)) + varintByteCount(UInt64(rest))
      + varintByteCount(UInt64(value.byteCount))
    let lowest = hasZeroBase ? 0 : min(lowestSequence, tag.sequence)
    let highest = max(highestSequence, tag.sequence)
    let payload = lengthByteCount + contents.count + lengths + rest + value.byteCount
    if !isEmpty, Self.byteCount(entries.count + 1, payload, lowest, highest) > bound {
      return false
    }
    lowestSequence = lowest
    highestSequence = highest
    lengthByteCount += lengths
    let restBytes = key.extracting(droppingFirst: shared)
    contents.append(span: restBytes)
    contents.append(span: value)
    keyBuffer.replace(after: shared, with: restBytes)
    entries.append(
      Entry(
        sharedByteCount: shared, restByteCount: rest, valueByteCount: value.byteCount, tag: tag))
    return true
  }

  /// Lays the block out in `block`, replacing what is there, and begins the next one.
  mutating func finish(into block: inout [UInt8]) {
    block.removeAll(keepingCapacity: true)
    block.reserveCapacity(byteCount)
    block.append(varint: lowestSequence)
    var restarts: [UInt32] = []
    var offset = 0
    for (index, entry) in entries.enumerated() {
      if index % Limits.Block.restartInterval == 0 { restarts.append(UInt32(block.count)) }
      block.append(varint: UInt64(entry.sharedByteCount))
      block.append(varint: UInt64(entry.restByteCount))
      block.append(varint: UInt64(entry.valueByteCount))
      block.append(varint: entry.tag.word - (lowestSequence << 2))
      let end = offset + entry.restByteCount + entry.valueByteCount
      block.append(span: contents.rawBytes.extracting(offset..<end))
      offset = end
    }
    for restart in restarts { block.append(u32: restart) }
    block.append(u32: UInt32(restarts.count))
    reset()
  }

  private mutating func reset() {
    entries.removeAll(keepingCapacity: true)
    contents.removeAll(keepingCapacity: contents.capacity <= Limits.Block.reusedByteCount)
    lengthByteCount = 0
    lowestSequence = Limits.Sequence.maximum
    highestSequence = 0
  }

  /// Bytes of a block at most: each tag is counted like the largest one.
  private static func byteCount(
    _ entryCount: Int, _ payload: Int, _ lowest: SequenceNumber, _ highest: SequenceNumber
  ) -> Int {
    let interval = Limits.Block.restartInterval
    let restartCount = (entryCount + interval - 1) / interval
    let tag = varintByteCount((highest &- min(lowest, highest)) << 2)
    return varintByteCount(lowest) + payload + entryCount * tag + restartCount * 4 + 4
  }
}

/// Bytes of a number as a varint.
private func varintByteCount(_ value: UInt64) -> Int {
  (70 - (value | 1).leadingZeroBitCount) / 7
}
