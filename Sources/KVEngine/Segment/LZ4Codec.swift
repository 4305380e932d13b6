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
  ///
  /// Matches may reach into the `prefixByteCount` bytes that lie in front of the buffer.
  static func decompress(
    _ source: RawSpan, into target: UnsafeMutableRawBufferPointer, prefixByteCount: Int = 0
  ) throws(FormatError) {
    guard source.byteCount <= Int(Int32.max), target.count <= Int(Int32.max) else {
      throw FormatError("LZ4 block", at: 0, "size is out of range")
    }
    let count = unsafe source.withUnsafeBytes {
      unsafe decompressBlock($0, target, prefixByteCount)
    }
    guard count == target.count else {
      throw FormatError("LZ4 block", at: 0, "does not decode to its size")
    }
    if unsafe !zeroOffsetsDecodeToZeros || hasFourZeros(UnsafeRawBufferPointer(target)) {
      try checkOffsets(source)
    }
  }

  /// Whether four neighbouring bytes are zero.
  ///
  /// The bytes at four neighbouring places are or-ed together, 64 such places at a time; then it is
  /// about one zero byte. Lanes are words because the compiler keeps no others in registers.
  static func hasFourZeros(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var marks = SIMD8<UInt64>(repeating: 0)
    var offset = 0
    while offset + 67 <= bytes.count {
      let first = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
      let second = unsafe bytes.loadUnaligned(fromByteOffset: offset + 1, as: SIMD8<UInt64>.self)
      let third = unsafe bytes.loadUnaligned(fromByteOffset: offset + 2, as: SIMD8<UInt64>.self)
      let fourth = unsafe bytes.loadUnaligned(fromByteOffset: offset + 3, as: SIMD8<UInt64>.self)
      let all = first | second | third | fourth
      marks |= (all &- 0x0101_0101_0101_0101) & ~all
      offset += 64
    }
    let half = marks.lowHalf | marks.highHalf
    let pair = half.lowHalf | half.highHalf
    if (pair[0] | pair[1]) & 0x8080_8080_8080_8080 != 0 { return true }
    while offset + 4 <= bytes.count {
      if unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) == 0 { return true }
      offset += 1
    }
    return false
  }

  /// Walks over the sequences of a block that decodes, and refuses an offset of 0.
  static func checkOffsets(_ block: RawSpan) throws(FormatError) {
    var offset = 0
    while offset < block.byteCount {
      let token = Int(block.byte(at: offset))
      offset += 1
      let literals = length(token >> 4, block, &offset)
      offset += literals
      // The last sequence has literals only.
      guard offset + 2 <= block.byteCount else { return }
      if block.byte(at: offset) | block.byte(at: offset + 1) == 0 {
        throw FormatError("LZ4 block", at: offset, "offset is 0")
      }
      offset += 2
      _ = length(token & 15, block, &offset)
    }
  }

  /// A length of a token with its continuation bytes; at most 255 times the block's size.
  @inline(__always)
  private static func length(_ nibble: Int, _ block: RawSpan, _ offset: inout Int) -> Int {
    var length = nibble
    guard nibble == 15 else { return length }
    while offset < block.byteCount {
      let byte = block.byte(at: offset)
      offset += 1
      length += Int(byte)
      if byte != 255 { break }
    }
    return length
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
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer,
    _ prefixByteCount: Int
  ) -> Int {
    // With its dictionary right in front of the target, liblz4 decodes in prefix mode, which is
    // twice as fast as any other place for it.
    let start = unsafe target.baseAddress?.assumingMemoryBound(to: CChar.self)
    return unsafe Int(
      LZ4_decompress_safe_usingDict(
        source.baseAddress?.assumingMemoryBound(to: CChar.self), start,
        Int32(source.count), Int32(target.count),
        start.map { unsafe UnsafePointer($0 - prefixByteCount) }, Int32(prefixByteCount)))
  }

  /// Compresses blocks, later ones with a dictionary in front of them.
  @safe
  final class LZ4DictionaryEncoder {
    /// Of LZ4-HC; the gain of higher levels is below 1 %.
    private static let level: Int32 = 9

    private let isTight: Bool
    /// A state of the fast or of the tight encoder of liblz4.
    private let work: UnsafeMutableRawPointer
    /// The state after the dictionary was loaded.
    ///
    /// Copying it takes a third of the time of loading the dictionary for each block.
    private let template: UnsafeMutableRawPointer
    private let stateByteCount: Int
    /// The dictionary, and room for a block behind it.
    private let memory: UnsafeMutablePointer<CChar>
    private var hasDictionary = false

    /// Makes an encoder; a tight one takes ten times as long and saves a fifth.
    init(isTight: Bool) {
      self.isTight = isTight
      stateByteCount =
        unsafe isTight ? MemoryLayout<LZ4_streamHC_t>.size : MemoryLayout<LZ4_stream_t>.size
      unsafe work = .allocate(byteCount: stateByteCount, alignment: 16)
      unsafe template = .allocate(byteCount: stateByteCount, alignment: 16)
      unsafe memory = .allocate(
        capacity: Limits.Block.dictionaryByteCount + Limits.Block.dictionaryBlockByteCount)
      if isTight {
        unsafe _ = LZ4_initStreamHC(work, stateByteCount)
        unsafe _ = LZ4_initStreamHC(template, stateByteCount)
      } else {
        unsafe _ = LZ4_initStream(work, stateByteCount)
        unsafe _ = LZ4_initStream(template, stateByteCount)
      }
    }

    deinit {
      unsafe work.deallocate()
      unsafe template.deallocate()
      unsafe memory.deallocate()
    }

    /// Compresses later blocks with a dictionary.
    func use(dictionary: RawSpan) {
      precondition(dictionary.byteCount == Limits.Block.dictionaryByteCount)
      unsafe dictionary.withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawPointer(memory).copyMemory(
          from: bytes.baseAddress ?? UnsafeRawPointer(memory), byteCount: bytes.count)
      }
      let count = Int32(dictionary.byteCount)
      if isTight {
        let state = unsafe template.assumingMemoryBound(to: LZ4_streamHC_t.self)
        unsafe LZ4_resetStreamHC_fast(state, Self.level)
        unsafe _ = LZ4_loadDictHC(state, memory, count)
      } else {
        unsafe _ = LZ4_loadDict(
          template.assumingMemoryBound(to: LZ4_stream_t.self), memory, count)
      }
      hasDictionary = true
    }

    /// How a block of that many bytes is compressed.
    func codec(ofByteCount byteCount: Int) -> BlockCodecID {
      let isInReach = byteCount <= Limits.Block.dictionaryBlockByteCount
      return hasDictionary && isInReach ? .lz4WithDictionary : .lz4
    }

    /// Compresses bytes into a buffer, the way that ``codec(ofByteCount:)`` says.
    ///
    /// - Returns: How many bytes the block has, `nil` when it does not fit into the buffer.
    func compress(_ source: RawSpan, into target: UnsafeMutableRawBufferPointer) -> Int? {
      let count = unsafe source.withUnsafeBytes { source in
        let output = unsafe target.baseAddress?.assumingMemoryBound(to: CChar.self)
        let input = unsafe source.baseAddress?.assumingMemoryBound(to: CChar.self)
        let (sourceCount, room) = (Int32(source.count), Int32(target.count))
        guard let input = unsafe input, codec(ofByteCount: source.count) == .lz4WithDictionary
        else {
          return unsafe isTight
            ? LZ4_compress_HC_extStateHC(work, input, output, sourceCount, room, Self.level)
            : LZ4_compress_fast_extState(work, input, output, sourceCount, room, 1)
        }
        let start = unsafe memory + Limits.Block.dictionaryByteCount
        unsafe start.update(from: input, count: source.count)
        unsafe work.copyMemory(from: template, byteCount: stateByteCount)
        if isTight {
          let state = unsafe work.assumingMemoryBound(to: LZ4_streamHC_t.self)
          return unsafe LZ4_compress_HC_continue(state, start, output, sourceCount, room)
        }
        let state = unsafe work.assumingMemoryBound(to: LZ4_stream_t.self)
        return unsafe LZ4_compress_fast_continue(state, start, output, sourceCount, room, 1)
      }
      return count > 0 ? Int(count) : nil
    }
  }
#else
  private let zeroOffsetsDecodeToZeros = false
  private func compressBlock(
    _: UnsafeRawBufferPointer, _: UnsafeMutableRawBufferPointer
  ) -> Int { 0 }
  private func decompressBlock(
    _: UnsafeRawBufferPointer, _: UnsafeMutableRawBufferPointer, _: Int
  ) -> Int { 0 }
#endif
