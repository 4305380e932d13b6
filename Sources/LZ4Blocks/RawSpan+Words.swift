// All loads and stores of this module. Those without "unchecked" in their name trap outside of
// their span; codec code looks before it calls them, so they never do.

/// What one vector register holds.
typealias SixteenBytes = SIMD2<UInt64>

extension RawSpan {
  @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  @inline(__always)
  func word<Word: BitwiseCopyable>(at offset: Int, as type: Word.Type) -> Word {
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type)
  }

  /// A word whose range has been checked.
  @unsafe @inline(__always)
  func uncheckedWord<Word: BitwiseCopyable>(at offset: Int, as type: Word.Type) -> Word {
    unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type)
  }

  /// How many bytes are the same from two places on, up to `limit`, which is for the second.
  @inline(__always)
  func commonByteCount(_ first: Int, _ second: Int, limit: Int) -> Int {
    var count = 0
    while second + count + 8 <= limit {
      let left = UInt64(littleEndian: word(at: first + count, as: UInt64.self))
      let right = UInt64(littleEndian: word(at: second + count, as: UInt64.self))
      if left != right { return count + (left ^ right).trailingZeroBitCount / 8 }
      count += 8
    }
    while second + count < limit, byte(at: first + count) == byte(at: second + count) {
      count += 1
    }
    return count
  }
}

extension MutableRawSpan {
  /// Copies a word of another span.
  @inline(__always)
  mutating func copy<Word: BitwiseCopyable>(
    _ type: Word.Type, from source: RawSpan, at place: Int, to offset: Int
  ) {
    storeBytes(of: source.word(at: place, as: type), toByteOffset: offset, as: type)
  }

  /// Copies a word within the span.
  @inline(__always)
  mutating func copy<Word: BitwiseCopyable>(_ type: Word.Type, at place: Int, to offset: Int) {
    let word = unsafe unsafeLoadUnaligned(fromByteOffset: place, as: type)
    storeBytes(of: word, toByteOffset: offset, as: type)
  }

  /// Copies a word of another span; both ranges have been checked.
  @unsafe @inline(__always)
  mutating func copyUnchecked<Word: BitwiseCopyable>(
    _ type: Word.Type, from source: RawSpan, at place: Int, to offset: Int
  ) {
    let word = unsafe source.uncheckedWord(at: place, as: type)
    unsafe storeBytes(of: word, toUncheckedByteOffset: offset, as: type)
  }

  /// Copies a word within the span; both ranges have been checked.
  @unsafe @inline(__always)
  mutating func copyUnchecked<Word: BitwiseCopyable>(
    _ type: Word.Type, at place: Int, to offset: Int
  ) {
    let word = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: type)
    unsafe storeBytes(of: word, toUncheckedByteOffset: offset, as: type)
  }

  /// Copies `count` bytes of another span.
  ///
  /// Where both spans have room behind them it copies up to 31 more, which the caller writes again
  /// or leaves out: long words without a decision are faster than the right number of bytes.
  @inline(__always)
  mutating func copyLoosely(_ count: Int, from source: RawSpan, at place: Int, to offset: Int) {
    guard count <= min(source.byteCount - place, byteCount - offset) - 32 else {
      return copy(count, from: source, at: place, to: offset)
    }
    var done = 0
    while done < count {
      copy(SixteenBytes.self, from: source, at: place + done, to: offset + done)
      copy(SixteenBytes.self, from: source, at: place + done + 16, to: offset + done + 16)
      done += 32
    }
  }

  /// Copies exactly `count` bytes of another span.
  ///
  /// The last word may overlap the one before: that is faster than byte by byte.
  @inline(__always)
  private mutating func copy(
    _ count: Int, from source: RawSpan, at place: Int, to offset: Int
  ) {
    if count >= 16 {
      var done = 0
      while done + 16 < count {
        copy(SixteenBytes.self, from: source, at: place + done, to: offset + done)
        done += 16
      }
      copy(SixteenBytes.self, from: source, at: place + count - 16, to: offset + count - 16)
    } else if count >= 8 {
      copy(UInt64.self, from: source, at: place, to: offset)
      copy(UInt64.self, from: source, at: place + count - 8, to: offset + count - 8)
    } else if count >= 4 {
      copy(UInt32.self, from: source, at: place, to: offset)
      copy(UInt32.self, from: source, at: place + count - 4, to: offset + count - 4)
    } else {
      for index in 0..<count {
        copy(UInt8.self, from: source, at: place + index, to: offset + index)
      }
    }
  }
}
