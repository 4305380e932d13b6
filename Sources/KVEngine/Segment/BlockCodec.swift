/// Makes frames of blocks and blocks of frames.
enum BlockCodec {
  /// Appends a block's frame to bytes that go to a file, and returns where the frame is.
  ///
  /// LZ4 is used when it saves an eighth: less is not worth the time of every read, as with blocks
  /// of hashes. `scratch` is memory that is used again; `encoder` knows a dictionary.
  static func append(
    _ block: RawSpan, _ kind: BlockKind, spaceCode: UInt8 = 0, at offset: Int,
    of identity: StoreIdentity, to file: inout [UInt8], scratch: inout ByteBuffer,
    encoder: LZ4DictionaryEncoder? = nil
  ) -> BlockHandle {
    ByteBuffer.renew(&scratch, byteCount: block.byteCount - max(1, block.byteCount / 8))
    let compressed =
      if let encoder { unsafe encoder.compress(block, into: scratch.storage) } else {
        unsafe LZ4Codec.compress(block, into: scratch.storage)
      }
    guard let count = compressed else {
      return append(block, .stored, kind, spaceCode, block.byteCount, at: offset, identity, &file)
    }
    let codec = encoder?.codec(ofByteCount: block.byteCount) ?? .lz4
    let stored = scratch.bytes.extracting(first: count)
    return append(stored, codec, kind, spaceCode, block.byteCount, at: offset, identity, &file)
  }

  private static func append(
    _ stored: RawSpan, _ codec: BlockCodecID, _ kind: BlockKind, _ spaceCode: UInt8,
    _ decodedByteCount: Int, at offset: Int, _ identity: StoreIdentity, _ file: inout [UInt8]
  ) -> BlockHandle {
    let head = FrameHead(
      kind: kind, codec: codec, spaceCode: spaceCode, storedByteCount: stored.byteCount,
      decodedByteCount: decodedByteCount, bodyChecksum: CRC32C.checksum(stored))
    file.append(contentsOf: head.encode(at: offset, of: identity))
    file.append(span: stored)
    return BlockHandle(offset: offset, byteCount: head.frameByteCount)
  }

  /// Verifies the stored bytes of a frame and decodes them into memory that is used again.
  ///
  /// A block that refers to a dictionary is decoded behind it, in the memory that
  /// ``SegmentDictionary`` lends, and copied out.
  static func decode(
    _ head: FrameHead, _ stored: RawSpan, behind dictionary: ByteBuffer? = nil,
    into buffer: inout ByteBuffer
  ) throws(FormatError) {
    guard stored.byteCount == head.storedByteCount else {
      throw FormatError("block", at: 0, "ends too early")
    }
    guard CRC32C.checksum(stored) == head.bodyChecksum || isPlanted(.unverifiedBlock) else {
      throw FormatError("block", at: 0, "checksum does not match")
    }
    ByteBuffer.renew(&buffer, byteCount: head.decodedByteCount)
    switch head.codec {
    case .stored: unsafe stored.withUnsafeBytes { unsafe buffer.storage.copyMemory(from: $0) }
    case .lz4: try unsafe LZ4Codec.decompress(stored, into: buffer.storage)
    case .lz4WithDictionary:
      guard let dictionary else { throw FormatError("block", at: 0, "lacks its dictionary") }
      let start = Limits.Block.dictionaryByteCount
      let room = unsafe dictionary.storage[start..<start + head.decodedByteCount]
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room)
      try unsafe LZ4Codec.decompress(stored, into: target, prefixByteCount: start)
      unsafe buffer.storage.copyMemory(from: UnsafeRawBufferPointer(target))
    }
  }
}
