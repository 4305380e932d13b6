/// Reads little-endian fields from untrusted bytes; every read is checked, none traps.
package struct ByteReader: ~Escapable {
  private let bytes: RawSpan
  /// Bytes already read.
  package private(set) var offset = 0
  private let structure: StaticString

  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan, structure: StaticString) {
    self.bytes = bytes
    self.structure = structure
  }

  /// Bytes not read yet.
  package var remaining: Int { bytes.byteCount - offset }
  package var isAtEnd: Bool { remaining == 0 }

  package func failure(_ reason: String) -> FormatError {
    FormatError("\(structure)", at: offset, reason)
  }

  @_lifetime(self: copy self)
  package mutating func u8() throws(FormatError) -> UInt8 {
    guard offset < bytes.byteCount else { throw failure("ends too early") }
    let value = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    offset += 1
    return value
  }

  @_lifetime(self: copy self)
  package mutating func u16() throws(FormatError) -> UInt16 {
    guard remaining >= 2 else { throw failure("ends too early") }
    let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
    offset += 2
    return UInt16(littleEndian: value)
  }

  @_lifetime(self: copy self)
  package mutating func u32() throws(FormatError) -> UInt32 {
    guard remaining >= 4 else { throw failure("ends too early") }
    let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    offset += 4
    return UInt32(littleEndian: value)
  }

  @_lifetime(self: copy self)
  package mutating func u64() throws(FormatError) -> UInt64 {
    guard remaining >= 8 else { throw failure("ends too early") }
    let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    offset += 8
    return UInt64(littleEndian: value)
  }

  /// A canonical LEB128 number: the shortest form only, so that equal values have equal bytes.
  ///
  /// Most numbers have one byte; with that case inlined a scan takes 60 % of the time per entry.
  @inline(__always)
  @_lifetime(self: copy self)
  package mutating func varint() throws(FormatError) -> UInt64 {
    if offset < bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if byte < 0x80 {
        offset += 1
        return UInt64(byte)
      }
    }
    return try longVarint()
  }

  @inline(never)
  @_lifetime(self: copy self)
  private mutating func longVarint() throws(FormatError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try u8()
      if shift == 63 && byte > 1 { throw failure("varint is longer than 64 bits") }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 {
        if byte == 0 && shift > 0 { throw failure("varint is not in its shortest form") }
        return value
      }
      shift += 7
    }
  }

  /// A varint that must not pass `maximum`; the result fits an `Int`.
  @inline(__always)
  @_lifetime(self: copy self)
  package mutating func count(maximum: Int) throws(FormatError) -> Int {
    let value = try varint()
    guard value <= UInt64(maximum) else { throw failure("count \(value) is over \(maximum)") }
    return Int(value)
  }

  /// A signed number in zigzag form.
  @_lifetime(self: copy self)
  package mutating func zigzag() throws(FormatError) -> Int64 {
    let value = try varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// The next `count` bytes.
  @_lifetime(copy self)
  package mutating func take(_ count: Int) throws(FormatError) -> RawSpan {
    guard count >= 0, count <= remaining || isPlanted(.uncheckedCount) else {
      throw failure("ends too early")
    }
    let result = bytes.extracting(offset..<(offset + count))
    offset += count
    return result
  }

  /// The next `count` bytes, copied.
  @_lifetime(self: copy self)
  package mutating func takeArray(_ count: Int) throws(FormatError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw failure("ends too early") }
    let result = [UInt8](copying: bytes.extracting(offset..<(offset + count)))
    offset += count
    return result
  }

  @_lifetime(self: copy self)
  package mutating func skip(_ count: Int) throws(FormatError) {
    guard count >= 0, count <= remaining else { throw failure("ends too early") }
    offset += count
  }

  /// A reserved field that must be zero, so that its later meaning is not ignored.
  @_lifetime(self: copy self)
  package mutating func zeros(_ count: Int) throws(FormatError) {
    for _ in 0..<count where try u8() != 0 { throw failure("reserved byte is not zero") }
  }
}

extension Array<UInt8> {
  /// Copies the bytes of a span.
  package init(copying span: RawSpan) {
    self = unsafe span.withUnsafeBytes { unsafe Array($0) }
  }

  /// The array's bytes.
  ///
  /// What `span` does, which arrays have from iOS 26 and macOS 26 on: the elements lie in one piece
  /// of memory, which neither moves nor goes while the array is borrowed.
  package var rawBytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      let buffer = unsafe withUnsafeBytes { unsafe $0 }
      return unsafe _overrideLifetime(buffer.bytes, borrowing: self)
    }
  }
}
