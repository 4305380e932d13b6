#if SystemLZ4 && canImport(CLZ4)
  import CLZ4

  @testable import LZ4Blocks

  /// The decoder of liblz4 with the rules of FORMAT.md 7.8, to hold ours against.
  ///
  /// The library decodes with its own codec everywhere: what liblz4 takes too much has to be looked
  /// for, which costs what it is faster.
  enum LibraryDecoder {
    static func decompress(
      _ block: RawSpan, into memory: inout MutableRawSpan, from start: Int
    ) -> Bool {
      // With its dictionary right in front of the target, liblz4 decodes in prefix mode, which is
      // twice as fast as any other place for it.
      let isSound = memory.withUnsafeMutableBytes { memory in
        block.withUnsafeBytes { bytes in
          let dictionary = memory.baseAddress?.assumingMemoryBound(to: CChar.self)
          let count = LZ4_decompress_safe_usingDict(
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            dictionary.map { $0 + start }, Int32(bytes.count),
            Int32(memory.count - start), dictionary, Int32(start))
          return count == memory.count - start
        }
      }
      guard isSound else { return false }
      guard LibraryLeniency.mayApply(to: block, memory.bytes, from: start) else { return true }
      return LZ4Decoder.decode(block, into: &memory, from: start)
    }
  }

  /// What liblz4 takes and FORMAT.md 7.8 does not.
  ///
  /// An offset of 0, which refers to nothing: liblz4 makes zeros of it. And a last match that ends
  /// less than five bytes before the end: its short way looks for room only. Both are rare, so a
  /// block that may have one is decoded again with our own codec, which takes neither. The shapes
  /// are those of liblz4 since 1.9.4; with an older one all blocks are decoded twice.
  enum LibraryLeniency {
    private static let isKnown = LZ4_versionNumber() >= 1_09_04

    /// Whether a block that liblz4 decoded has to be looked at again.
    static func mayApply(to block: RawSpan, _ memory: RawSpan, from start: Int) -> Bool {
      if !isKnown || endsInShortWay(block) { return true }
      return hasFourZeros(memory.extracting(droppingFirst: start))
    }

    /// Whether a block may end with at most four literals behind a match.
    ///
    /// liblz4 goes the short way, with counts that need no further bytes, as long as more than 16
    /// bytes of the block lie behind a token. So enough literals are in front of that match.
    static func endsInShortWay(_ block: RawSpan) -> Bool {
      for last in 0...4 where block.byteCount > last {
        let token = block.byteCount - last - 1
        guard block.byte(at: token) >> 4 == last else { continue }
        for literals in (14 - last)...14 where token >= literals + 3 {
          let byte = block.byte(at: token - literals - 3)
          if byte >> 4 == literals, byte & 15 < 15 { return true }
        }
      }
      return false
    }

    /// Whether four neighbouring bytes are zero.
    ///
    /// The bytes at four neighbouring places are or-ed together, 64 such places at a time; then it
    /// is about one zero byte. Lanes are words because the compiler keeps no others in registers.
    static func hasFourZeros(_ bytes: RawSpan) -> Bool {
      typealias Lanes = SIMD8<UInt64>
      var marks = Lanes(repeating: 0)
      var offset = 0
      while offset + 67 <= bytes.byteCount {
        // The last of these words ends 67 bytes on.
        let first = bytes.uncheckedWord(at: offset, as: Lanes.self)
        let second = bytes.uncheckedWord(at: offset + 1, as: Lanes.self)
        let third = bytes.uncheckedWord(at: offset + 2, as: Lanes.self)
        let fourth = bytes.uncheckedWord(at: offset + 3, as: Lanes.self)
        let all = first | second | third | fourth
        marks |= (all &- 0x0101_0101_0101_0101) & ~all
        offset += 64
      }
      let half = marks.lowHalf | marks.highHalf
      let pair = half.lowHalf | half.highHalf
      if (pair[0] | pair[1]) & 0x8080_8080_8080_8080 != 0 { return true }
      while offset + 4 <= bytes.byteCount {
        if bytes.word(at: offset, as: UInt32.self) == 0 { return true }
        offset += 1
      }
      return false
    }
  }
#endif
