/// What the index of a segment says about one data block.
package struct IndexEntry: Equatable, Sendable {
  /// Where the block's frame is.
  package let handle: BlockHandle
  package let entryCount: Int
  /// How the block's entries change the number of live keys.
  package let change: Int

  package init(handle: BlockHandle, entryCount: Int, change: Int) {
    self.handle = handle
    self.entryCount = entryCount
    self.change = change
  }

  func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: UInt64(handle.offset))
    bytes.append(varint: UInt64(handle.byteCount))
    bytes.append(varint: UInt64(entryCount))
    bytes.append(zigzag: Int64(change))
    return bytes
  }

  /// Decodes an entry of an index in a file whose frames end at `limit`.
  static func decode(_ bytes: RawSpan, limit: Int) throws(FormatError) -> IndexEntry {
    var reader = ByteReader(bytes, structure: "index entry")
    let handle = try BlockHandle.decode(&reader, limit: limit)
    let entryCount = try reader.count(maximum: Limits.Block.maximumByteCount)
    let change = try reader.zigzag()
    guard reader.isAtEnd else { throw reader.failure("more bytes than an entry has") }
    guard change.magnitude <= UInt64(entryCount) else {
      throw reader.failure("change is larger than the number of entries")
    }
    return IndexEntry(handle: handle, entryCount: entryCount, change: Int(change))
  }
}

extension BlockHandle {
  /// Decodes a varint offset and a varint byte count in a file whose frames end at `limit`.
  @_lifetime(reader: copy reader)
  static func decode(
    _ reader: inout ByteReader, limit: Int
  ) throws(FormatError) -> BlockHandle {
    let offset = try reader.count(maximum: limit)
    let byteCount = try reader.count(maximum: limit - offset)
    guard offset >= FileHeader.byteCount, byteCount >= FrameHead.byteCount else {
      throw reader.failure("block is outside the file")
    }
    return BlockHandle(offset: offset, byteCount: byteCount)
  }
}

/// The index of a segment: the last internal key of each data block, and where that block is.
package struct IndexBlock: Sendable {
  let block: Block
  /// Where the index is in the file.
  let offset: Int
  private let limit: Int

  /// Takes a decoded index at an offset of a file whose frames end at `limit`.
  init(_ buffer: ByteBuffer, offset: Int, limit: Int) throws(FormatError) {
    block = try Block(buffer, structure: "index block")
    self.offset = offset
    self.limit = limit
  }

  /// What the index says about the block that holds the first entry at or after a key and sequence.
  ///
  /// `nil` if all entries of the segment are before it.
  func entry(
    forFirstAtOrAfter key: RawSpan, _ sequence: SequenceNumber
  ) throws(FormatError) -> IndexEntry? {
    guard let match = try block.firstEntry(atOrAfter: key, sequence) else { return nil }
    return try decode(block.buffer.bytes.extracting(match.entry.value))
  }

  /// Decodes the value of an entry of this index.
  func decode(_ value: RawSpan) throws(FormatError) -> IndexEntry {
    try IndexEntry.decode(value, limit: limit)
  }
}
