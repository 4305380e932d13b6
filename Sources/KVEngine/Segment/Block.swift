// FORMAT.md section 7.2: the inside of data and index blocks, once decoded.
//
//  +---------------+---------+---------+- - -+--------------------+---------------+
//  | base sequence | entry 0 | entry 1 |     | restart offsets    | restart count |
//  |    varint     |         |         |     | u32 each           | u32           |
//  +---------------+---------+---------+- - -+--------------------+---------------+
//
//  entry: varint shared key bytes, varint other key bytes, varint value bytes, varint tag,
//         other key bytes, value
//
// "shared" are the bytes that the key has in common with the key before it; it is 0 at restart
// points, so that a search can begin there. The tag holds the sequence above the block's base.

/// One entry of a block as it lies there.
struct BlockEntry {
  /// Key bytes to take from the key before.
  var sharedByteCount = 0
  /// Where the other key bytes are in the block.
  var keyRest = 0..<0
  /// Where the value is in the block.
  var value = 0..<0
  var tag = EntryTag(sequence: 0, kind: .tombstone)

  var keyByteCount: Int { sharedByteCount + keyRest.count }
  /// Where the next entry begins.
  var end: Int { value.upperBound }
}

/// Four varints of at most two bytes each, out of the word they begin.
private struct ShortNumbers {
  private var word: UInt64
  private(set) var byteCount = 0
  /// Whether all had one or two bytes, and no more of these than they need.
  private(set) var areShort = true

  init(_ word: UInt64) {
    self.word = word
  }

  @inline(__always)
  mutating func next() -> Int {
    let low = Int(word & 0x7F)
    if word & 0x80 == 0 {
      word >>= 8
      byteCount += 1
      return low
    }
    let high = Int(word >> 8 & 0xFF)
    if high == 0 || high >= 0x80 { areShort = false }
    word >>= 16
    byteCount += 2
    return low | (high & 0x7F) << 7
  }
}

/// A decoded block of entries in internal order; nothing in it is trusted.
///
/// What is checked: every length, every number. What is not: the order, which
/// ``SegmentVerifier`` checks. In a block without order a search ends somewhere, but it ends.
struct Block: Sendable {
  /// Where a search ended: the first entry that is not before what was searched for.
  struct Match {
    let offset: Int
    let entry: BlockEntry
    let hasSameKey: Bool
  }

  /// The block without entries, for readers that have none yet.
  static let empty = Block()

  let buffer: ByteBuffer
  /// Where the entries are.
  let entries: Range<Int>
  let restartCount: Int
  let baseSequence: SequenceNumber
  private let structure: StaticString

  private init() {
    buffer = ByteBuffer.empty
    entries = 0..<0
    restartCount = 0
    baseSequence = 0
    structure = "block"
  }

  /// Checks the end of a decoded block, where its parts are written down.
  init(_ buffer: ByteBuffer, structure: StaticString) throws(FormatError) {
    let bytes = buffer.bytes
    var tail = ByteReader(bytes.extracting(last: 4), structure: structure)
    restartCount = Int(try tail.u32())
    let room = bytes.byteCount - 4
    guard restartCount >= 1, restartCount <= room / 4 else {
      throw tail.failure("number of restart points is out of range")
    }
    let end = room - 4 * restartCount
    var head = ByteReader(bytes.extracting(first: end), structure: structure)
    baseSequence = try head.varint()
    guard baseSequence <= Limits.Sequence.maximum, head.offset < end else {
      throw head.failure("no entries")
    }
    entries = head.offset..<end
    self.buffer = buffer
    self.structure = structure
    guard try restartOffset(0) == entries.lowerBound else {
      throw head.failure("first restart point is not the first entry")
    }
  }

  func failure(_ reason: String, at offset: Int) -> FormatError {
    FormatError("\(structure)", at: offset, reason)
  }

  /// Makes the key of an entry out of the key before it.
  func copyKey(of entry: BlockEntry, to key: inout KeyBuffer) {
    key.replace(after: entry.sharedByteCount, with: buffer.bytes.extracting(entry.keyRest))
  }

  /// Where the entry of a restart point begins.
  func restartOffset(_ index: Int) throws(FormatError) -> Int {
    precondition(index >= 0 && index < restartCount)
    let place = entries.upperBound + 4 * index
    let offset = unsafe Int(
      UInt32(littleEndian: buffer.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self))
    )
    guard entries.contains(offset) else {
      throw failure("restart point is outside the entries", at: place)
    }
    return offset
  }

  /// The entry at an offset, which is within the entries.
  ///
  /// - Complexity: O(1); no allocation.
  @inline(__always)
  func entry(
    at offset: Int, previousKeyByteCount: Int
  ) throws(FormatError) -> BlockEntry {
    if let entry = usualEntry(at: offset, previousKeyByteCount: previousKeyByteCount) {
      return entry
    }
    return try anyEntry(at: offset, previousKeyByteCount: previousKeyByteCount)
  }

  /// The entry at an offset if its numbers have one or two bytes each and nothing is wrong with it,
  /// which is so in nearly all cases; read from one word it takes a quarter of the time.
  @inline(__always)
  private func usualEntry(at offset: Int, previousKeyByteCount: Int) -> BlockEntry? {
    guard offset >= 0, offset + 8 <= entries.upperBound else { return nil }
    var numbers = ShortNumbers(
      unsafe UInt64(
        littleEndian: buffer.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    let shared = numbers.next()
    let rest = numbers.next()
    let value = numbers.next()
    let word = numbers.next()
    let sequence = baseSequence + UInt64(word >> 2)
    let keyStart = offset + numbers.byteCount
    let valueStart = keyStart + rest
    guard numbers.areShort, shared <= previousKeyByteCount, shared + rest > 0,
      value <= entries.upperBound - valueStart,
      let tag = EntryTag(word: sequence << 2 | UInt64(word & 3))
    else { return nil }
    return BlockEntry(
      sharedByteCount: shared, keyRest: keyStart..<valueStart,
      value: valueStart..<valueStart + value, tag: tag)
  }

  @inline(never)
  private func anyEntry(
    at offset: Int, previousKeyByteCount: Int
  ) throws(FormatError) -> BlockEntry {
    var reader = ByteReader(
      buffer.bytes.extracting(offset..<entries.upperBound), structure: structure)
    do throws(FormatError) {
      let shared = try reader.count(maximum: previousKeyByteCount)
      let rest = try reader.count(maximum: Limits.Key.maximumByteCount + 1 - shared)
      let value = try reader.count(maximum: Limits.Value.maximumByteCount)
      let word = try reader.varint()
      // At most 2^56 + 2^62: no overflow.
      let sequence = baseSequence + (word >> 2)
      guard sequence <= Limits.Sequence.maximum,
        let tag = EntryTag(word: (sequence << 2) | (word & 3))
      else { throw reader.failure("sequence is out of range") }
      guard shared + rest > 0 else { throw reader.failure("key is empty") }
      let keyStart = offset + reader.offset
      let valueStart = keyStart + rest
      guard value <= entries.upperBound - valueStart else {
        throw reader.failure("ends too early")
      }
      return BlockEntry(
        sharedByteCount: shared, keyRest: keyStart..<valueStart,
        value: valueStart..<valueStart + value, tag: tag)
    } catch {
      throw failure(error.reason, at: offset + error.offset)
    }
  }

  /// The entry at a restart point, which holds its whole key.
  func restartEntry(_ index: Int) throws(FormatError) -> BlockEntry {
    try entry(at: try restartOffset(index), previousKeyByteCount: 0)
  }

  /// The last restart point that is before `offset`, or 0.
  func restartIndex(before offset: Int) throws(FormatError) -> Int {
    var low = 0
    var high = restartCount
    while high - low > 1 {
      let middle = (low + high) / 2
      if try restartOffset(middle) < offset { low = middle } else { high = middle }
    }
    return low
  }

  /// The first entry at or after a key and sequence in internal order; `nil` if all are before it.
  ///
  /// Keys are compared where they lie: while walking from a restart point it is enough to know how
  /// many bytes the key before has in common with the wanted one.
  ///
  /// - Complexity: O(log *r* + interval) comparisons, where *r* is the number of restart points; no
  ///   allocation.
  func firstEntry(
    atOrAfter key: RawSpan, _ sequence: SequenceNumber
  ) throws(FormatError) -> Match? {
    let bytes = buffer.bytes
    var offset = try restartOffset(try lastRestart(before: key, sequence))
    var matched = 0
    var previousByteCount = 0
    while offset < entries.upperBound {
      let entry = try entry(at: offset, previousKeyByteCount: previousByteCount)
      // A key that shares more with the one before than that has in common with the wanted one
      // differs from it at the same place, so it is before it as well.
      if entry.sharedByteCount <= matched {
        let rest = bytes.extracting(entry.keyRest)
        let wanted = key.extracting(droppingFirst: entry.sharedByteCount)
        let order = compareInternal(rest, entry.tag.sequence, wanted, sequence)
        if order >= 0 {
          let hasSameKey = rest.byteCount == wanted.byteCount && compareBytes(rest, wanted) == 0
          return Match(offset: offset, entry: entry, hasSameKey: hasSameKey)
        }
        matched = entry.sharedByteCount + commonPrefixByteCount(rest, wanted)
      }
      previousByteCount = entry.keyByteCount
      offset = entry.end
    }
    return nil
  }

  /// The last restart point whose entry is before a key and sequence, or 0.
  private func lastRestart(
    before key: RawSpan, _ sequence: SequenceNumber
  ) throws(FormatError) -> Int {
    let bytes = buffer.bytes
    var low = 0
    var high = restartCount
    while high - low > 1 {
      let middle = (low + high) / 2
      let entry = try restartEntry(middle)
      let found = bytes.extracting(entry.keyRest)
      if compareInternal(found, entry.tag.sequence, key, sequence) < 0 {
        low = middle
      } else {
        high = middle
      }
    }
    return low
  }
}
