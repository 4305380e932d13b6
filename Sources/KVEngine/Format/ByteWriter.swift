// Little-endian fields at the end of a byte array, the mirror of `ByteReader`.

extension Array<UInt8> {
  package mutating func append(u16 value: UInt16) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value >> 8))
  }

  package mutating func append(u32 value: UInt32) {
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  package mutating func append(u64 value: UInt64) {
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Eight bytes whose unsigned order is the number's order.
  package mutating func append(bigEndian value: UInt64) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }

  package mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  package mutating func append(zigzag value: Int64) {
    append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  package mutating func append(span: RawSpan) {
    unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// Zeros up to the next multiple of `alignment`.
  package mutating func pad(toMultipleOf alignment: Int) {
    let rest = count % alignment
    if rest != 0 { append(contentsOf: repeatElement(0, count: alignment - rest)) }
  }

  /// Replaces eight bytes at `offset` by a big-endian number.
  package mutating func replace(bigEndian value: UInt64, at offset: Int) {
    for index in 0..<8 {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64(index)))
    }
  }
}
