// The one door to LZ4 (FORMAT.md 7.8): blocks without a frame, whose sizes the caller knows.

#if SystemLZ4 && canImport(CLZ4)
  internal import CLZ4
#else
  #error("MemoKV needs the trait SystemLZ4 until its own LZ4 codec exists")
#endif

/// Compresses and decompresses LZ4 blocks.
///
/// A block is a list of sequences: a token, literals, a two-byte offset and a match length; the
/// last one has literals only. liblz4 checks every length, and every offset against the start of
/// the output, but takes an offset of 0, which refers to nothing. What it makes of that is zeros
/// (since 1.9.4; a test holds it to that), so only a block from which four zero bytes in a row come
/// can have such an offset. Looking for them costs 8 % of decoding; walking over the sequences,
/// which is left for those blocks, costs 80 %.
enum LZ4Codec {
  /// Compresses bytes into a buffer.
  ///
  /// - Returns: How many bytes the block has, `nil` when it does not fit into the buffer.
  static func compress(_ source: RawSpan, into target: UnsafeMutableRawBufferPointer) -> Int? {
    guard source.byteCount <= Int(Int32.max), target.count <= Int(Int32.max) else { return nil }
    let count = unsafe source.withUnsafeBytes { unsafe compressBlock($0, target) }
    return count > 0 ? count : nil
  }

  /// Fills a buffer with what a block decodes to; any other decoded size is an error.
  static func decompress(
    _ source: RawSpan, into target: UnsafeMutableRawBufferPointer
  ) throws(FormatError) {
    guard source.byteCount <= Int(Int32.max), target.count <= Int(Int32.max) else {
      throw FormatError("LZ4 block", at: 0, "size is out of range")
    }
    let count = unsafe source.withUnsafeBytes { unsafe decompressBlock($0, target) }
    guard count == target.count else {
      throw FormatError("LZ4 block", at: 0, "does not decode to its size")
    }
    if unsafe !zeroOffsetsDecodeToZeros || hasFourZeros(UnsafeRawBufferPointer(target)) {
      try checkOffsets(source)
    }
  }

  /// Whether four neighbouring bytes are zero.
  ///
  /// Four zero bytes hold a zero half-word at an even place; only stretches with such a half-word
  /// are looked at byte by byte.
  static func hasFourZeros(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset + 64 <= bytes.count {
      let words = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
      let marks = (words &- 0x0001_0001_0001_0001) & ~words
      let quarter = marks.lowHalf | marks.highHalf
      let pair = quarter.lowHalf | quarter.highHalf
      if (pair[0] | pair[1]) & 0x8000_8000_8000_8000 != 0,
        unsafe hasFourZeros(bytes, in: max(0, offset - 3)..<min(bytes.count, offset + 67))
      {
        return true
      }
      offset += 64
    }
    return unsafe hasFourZeros(bytes, in: max(0, offset - 3)..<bytes.count)
  }

  private static func hasFourZeros(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> Bool {
    var run = 0
    for offset in range {
      run = unsafe bytes[offset] == 0 ? run + 1 : 0
      if run == 4 { return true }
    }
    return false
  }

  /// Walks over the sequences of a block and refuses an offset of 0.
  static func checkOffsets(_ block: RawSpan) throws(FormatError) {
    var reader = ByteReader(block, structure: "LZ4 block")
    while true {
      let token = try reader.u8()
      try reader.skip(try length(Int(token >> 4), &reader))
      if reader.isAtEnd { return }
      guard try reader.u16() != 0 else { throw reader.failure("offset is 0") }
      _ = try length(Int(token & 15), &reader)
    }
  }

  /// A length of a token with its continuation bytes; at most 255 times the block's size.
  private static func length(
    _ nibble: Int, _ reader: inout ByteReader
  ) throws(FormatError) -> Int {
    var length = nibble
    guard nibble == 15 else { return length }
    while true {
      let byte = try reader.u8()
      length += Int(byte)
      if byte != 255 { return length }
    }
  }
}

// What a codec has to offer: bytes made, and 0 or less on failure.

#if SystemLZ4 && canImport(CLZ4)
  private let zeroOffsetsDecodeToZeros = LZ4_versionNumber() >= 1_09_04

  private func compressBlock(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer
  ) -> Int {
    unsafe Int(
      LZ4_compress_default(
        source.baseAddress?.assumingMemoryBound(to: CChar.self),
        target.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(source.count), Int32(target.count)))
  }

  private func decompressBlock(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer
  ) -> Int {
    unsafe Int(
      LZ4_decompress_safe(
        source.baseAddress?.assumingMemoryBound(to: CChar.self),
        target.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(source.count), Int32(target.count)))
  }
#else
  private let zeroOffsetsDecodeToZeros = false
  private func compressBlock(
    _: UnsafeRawBufferPointer, _: UnsafeMutableRawBufferPointer
  ) -> Int { 0 }
  private func decompressBlock(
    _: UnsafeRawBufferPointer, _: UnsafeMutableRawBufferPointer
  ) -> Int { 0 }
#endif
