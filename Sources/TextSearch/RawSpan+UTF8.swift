// Loads of this module. Those without "unchecked" in their name trap outside of their span; callers
// look before, so they never do.

extension RawSpan {
  @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Eight bytes, the first one lowest.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The same, where the range has been checked.
  @unsafe @inline(__always)
  func uncheckedWord(at offset: Int) -> UInt64 {
    UInt64(
      littleEndian: unsafe unsafeLoadUnaligned(
        fromUncheckedByteOffset: offset, as: UInt64.self))
  }

  /// The scalar at an offset inside the span, and its bytes; `nil` when the bytes are not UTF-8.
  @inline(__always)
  func scalar(at offset: Int) -> (value: UInt32, byteCount: Int)? {
    let first = UInt32(byte(at: offset))
    if first < 0x80 { return (first, 1) }
    let room = byteCount - offset
    guard first >= 0xC2, room >= 2 else { return nil }
    let second = UInt32(byte(at: offset + 1))
    guard second & 0xC0 == 0x80 else { return nil }
    if first < 0xE0 { return ((first & 0x1F) << 6 | second & 0x3F, 2) }
    guard room >= 3 else { return nil }
    let third = UInt32(byte(at: offset + 2))
    guard third & 0xC0 == 0x80 else { return nil }
    if first < 0xF0 {
      let value = (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
      return value < 0x800 || value & 0xF800 == 0xD800 ? nil : (value, 3)
    }
    guard first < 0xF5, room >= 4 else { return nil }
    let fourth = UInt32(byte(at: offset + 3))
    guard fourth & 0xC0 == 0x80 else { return nil }
    let value =
      (first & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F
    return value < 0x10000 || value > 0x10FFFF ? nil : (value, 4)
  }

  /// Whether the bytes at two places are the same; both have so many.
  @inline(__always)
  func hasSameBytes(at offset: Int, as other: RawSpan) -> Bool {
    let count = other.byteCount
    var done = 0
    while done + 8 <= count {
      if word(at: offset + done) != other.word(at: done) { return false }
      done += 8
    }
    while done < count {
      if byte(at: offset + done) != other.byte(at: done) { return false }
      done += 1
    }
    return true
  }
}

extension MutableRawSpan {
  /// Writes the UTF-8 of a scalar; there must be room for four bytes.
  ///
  /// - Returns: How many it took.
  @inline(__always)
  mutating func encode(_ scalar: UInt32, at offset: Int) -> Int {
    switch scalar {
    case 0..<0x80:
      put(scalar, at: offset)
      return 1
    case 0x80..<0x800:
      put(0xC0 | scalar >> 6, at: offset)
      put(0x80 | scalar & 0x3F, at: offset + 1)
      return 2
    case 0x800..<0x10000:
      put(0xE0 | scalar >> 12, at: offset)
      put(0x80 | scalar >> 6 & 0x3F, at: offset + 1)
      put(0x80 | scalar & 0x3F, at: offset + 2)
      return 3
    default:
      put(0xF0 | scalar >> 18, at: offset)
      put(0x80 | scalar >> 12 & 0x3F, at: offset + 1)
      put(0x80 | scalar >> 6 & 0x3F, at: offset + 2)
      put(0x80 | scalar & 0x3F, at: offset + 3)
      return 4
    }
  }

  @inline(__always)
  mutating func put(_ byte: UInt32, at offset: Int) {
    storeBytes(of: UInt8(truncatingIfNeeded: byte), toByteOffset: offset, as: UInt8.self)
  }
}

extension String {
  /// Calls a closure with the UTF-8 bytes.
  package func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
    let result = unsafe utf8.withContiguousStorageIfAvailable { bytes in
      unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
    }
    if let result { return result }
    // Only strings of another runtime have no contiguous bytes.
    return Array(utf8).withBytes(body)
  }
}

extension [UInt8] {
  /// Calls a closure with the bytes.
  func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
    unsafe withUnsafeBytes { unsafe body(RawSpan(_unsafeBytes: $0)) }
  }
}
