/// Walks over encoded operations of batches, as a log record holds them (FORMAT.md 6.3).
package struct OperationReader: ~Escapable {
  /// Where one operation's parts lie, from the start of the walked bytes.
  package struct Operation: Equatable {
    package let kind: RecordKind
    /// The key with its space byte.
    package let key: Range<Int>
    /// The value; empty for deletes.
    package let value: Range<Int>
  }

  private var reader: ByteReader
  private var remainingCount: Int

  /// Begins with the first of `count` operations, which the bytes have to hold exactly.
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan, count: Int) {
    reader = ByteReader(bytes, structure: "operation")
    remainingCount = count
  }

  /// The next operation; `nil` behind the last.
  @_lifetime(self: copy self)
  package mutating func next() throws(FormatError) -> Operation? {
    if remainingCount == 0 {
      guard reader.isAtEnd else { throw reader.failure("bytes behind the last operation") }
      return nil
    }
    remainingCount -= 1
    guard let kind = RecordKind(rawValue: try reader.u8()) else {
      throw reader.failure("unknown kind")
    }
    let keyCount = try reader.count(maximum: Limits.Key.maximumByteCount + 1)
    guard keyCount >= 2 else { throw reader.failure("key is empty") }
    let key = reader.offset..<(reader.offset + keyCount)
    try reader.skip(keyCount)
    guard kind.isPut else {
      return Operation(kind: kind, key: key, value: key.upperBound..<key.upperBound)
    }
    let valueCount = try reader.count(maximum: Limits.Value.maximumByteCount)
    let value = reader.offset..<(reader.offset + valueCount)
    try reader.skip(valueCount)
    return Operation(kind: kind, key: key, value: value)
  }
}
