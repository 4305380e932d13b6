package import KVEngine

// FORMAT.md section 10.7: keys of the spaces "uniqueKeys" and "orderedKeys", behind the space byte.
// The order of their bytes is the order of the values, and none begins another one of its index, so
// that all keys with the same first values lie together.

extension MemoIndexValue {
  /// The kinds of values in stored keys, in their order.
  ///
  /// Never renumber (FORMAT.md 13).
  package enum Kind: UInt8, CaseIterable, Sendable {
    case bool = 1
    case integer = 2
    case double = 3
    case timestamp = 4
    case text = 5
    case bytes = 6
    case uuid = 7
  }

  /// Behind a zero byte: that it belongs to the content, or that the content ends with it.
  private static let (escape, terminator): (UInt8, UInt8) = (0xFF, 0)
  fileprivate static let signBit: UInt64 = 1 << 63

  /// Appends the stored form.
  func appendEncoded(to bytes: inout [UInt8]) {
    switch self {
    case .bool(let bool): bytes += [Kind.bool.rawValue, bool ? 1 : 0]
    case .integer(let number):
      bytes.append(Kind.integer.rawValue)
      bytes.append(bigEndian: UInt64(bitPattern: number) ^ Self.signBit)
    case .double(let number):
      bytes.append(Kind.double.rawValue)
      bytes.append(bigEndian: Self.sortKey(of: number))
    case .timestamp(let timestamp):
      bytes.append(Kind.timestamp.rawValue)
      bytes.append(bigEndian: timestamp.sortKey)
    case .text(let text):
      bytes.append(Kind.text.rawValue)
      Self.append(text.utf8, to: &bytes)
    case .bytes(let content):
      bytes.append(Kind.bytes.rawValue)
      Self.append(content, to: &bytes)
    case .uuid(let high, let low):
      bytes.append(Kind.uuid.rawValue)
      bytes.append(bigEndian: high)
      bytes.append(bigEndian: low)
    }
  }

  private static func append(_ content: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    for byte in content {
      bytes.append(byte)
      if byte == 0 { bytes.append(escape) }
    }
    bytes += [0, terminator]
  }

  /// A number as unsigned bits in the same order: those of negative ones turned around.
  private static func sortKey(of number: Double) -> UInt64 {
    let bits = (number.isNaN ? .nan : number == 0 ? 0 : number).bitPattern
    return bits & signBit == 0 ? bits | signBit : ~bits
  }

  /// Reads one value from its stored form.
  fileprivate static func decode(
    _ reader: inout ByteReader
  ) throws(FormatError) -> MemoIndexValue {
    let code = try reader.u8()
    switch Kind(rawValue: code) {
    case .bool:
      let value = try reader.u8()
      guard value <= 1 else { throw reader.failure("is neither true nor false") }
      return .bool(value == 1)
    case .integer:
      return .integer(Int64(bitPattern: try reader.u64().byteSwapped ^ signBit))
    case .double:
      let bits = try reader.u64().byteSwapped
      let number = Double(bitPattern: bits & signBit == 0 ? ~bits : bits ^ signBit)
      guard sortKey(of: number) == bits else { throw reader.failure("is no number of an index") }
      return .double(number)
    case .timestamp:
      let instant = MemoTimestamp.microseconds(ofSortKey: try reader.u64().byteSwapped)
      guard let timestamp = MemoTimestamp(microseconds: instant) else {
        throw reader.failure("instant is out of range")
      }
      return .timestamp(timestamp)
    case .text:
      let content = try decodeBytes(&reader)
      guard let text = String(validating: content, as: UTF8.self) else {
        throw reader.failure("text is not UTF-8")
      }
      return .text(text)
    case .bytes: return .bytes(try decodeBytes(&reader))
    case .uuid:
      let high = try reader.u64().byteSwapped
      return .uuid(high: high, low: try reader.u64().byteSwapped)
    case nil: throw reader.failure("unknown kind \(code)")
    }
  }

  private static func decodeBytes(_ reader: inout ByteReader) throws(FormatError) -> [UInt8] {
    var content: [UInt8] = []
    while true {
      let byte = try reader.u8()
      if byte == 0 {
        let next = try reader.u8()
        if next == terminator { return content }
        guard next == escape else { throw reader.failure("zero byte is not escaped") }
      }
      content.append(byte)
    }
  }
}

/// The key of a memo in an index: the number of the index and the values in their stored form.
///
/// In an ordered index the key of the memo (``MemoKey``) follows.
package struct MemoIndexKey: Hashable, Sendable {
  /// The most values of a key.
  package static let maximumValueCount = 4
  /// Bytes of the number in front, which every key of one index shares.
  package static let prefixByteCount = 4
  /// The most bytes of a key; a key of the engine has room for a memo's key behind it.
  package static let maximumByteCount = Limits.Key.maximumByteCount - MemoKey.byteCount

  /// The number that the store has given to the name of the index.
  package let number: Int
  package let values: [MemoIndexValue]

  package init(number: Int, values: [MemoIndexValue]) {
    self.number = number
    self.values = values
  }

  /// The stored form; without values what all keys of the index begin with, with some of them what
  /// all keys with the same first values do.
  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt64(number) << 32)
    bytes.removeLast(4)
    for value in values { value.appendEncoded(to: &bytes) }
    return bytes
  }

  /// Whether a memo can have the key.
  package var canBeStored: Bool {
    (1...Self.maximumValueCount).contains(values.count)
      && encode().count <= Self.maximumByteCount
  }

  /// Reads a key of a unique index.
  package static func decode(_ bytes: RawSpan) throws(FormatError) -> MemoIndexKey {
    var reader = ByteReader(bytes, structure: "index key")
    let number = Int(try reader.u32().byteSwapped)
    guard number < MemoNames.maximumCount else { throw reader.failure("number is out of range") }
    var values: [MemoIndexValue] = []
    while !reader.isAtEnd { values.append(try MemoIndexValue.decode(&reader)) }
    guard (1...maximumValueCount).contains(values.count) else {
      throw reader.failure("has \(values.count) values")
    }
    return MemoIndexKey(number: number, values: values)
  }

  /// Reads a key of an ordered index and the memo's key behind it.
  package static func decodeOrdered(
    _ bytes: RawSpan
  ) throws(FormatError) -> (key: MemoIndexKey, memoKey: MemoKey) {
    let count = bytes.byteCount - MemoKey.byteCount
    guard count > 0 else { throw FormatError("index key", at: 0, "ends too early") }
    return (
      try decode(bytes.extracting(first: count)),
      try MemoKey.decode(bytes.extracting(droppingFirst: count))
    )
  }
}
