package import KVEngine

extension MemoPayload {
  /// The stored form.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: schemaVersion)
    bytes.append(record: record)
    return bytes
  }

  /// Reads a payload from its stored form; accepts exactly what ``encoded`` makes.
  ///
  /// - Throws: `FormatError` when the bytes are anything else. Nothing in them traps, and no count
  ///   takes memory before its elements are there.
  /// - Complexity: O(bytes).
  package init(encoded: RawSpan) throws(FormatError) {
    var reader = ByteReader(encoded, structure: "memo payload")
    schemaVersion = try reader.varint()
    record = try reader.payloadRecord(depth: 1)
    guard reader.isAtEnd else { throw reader.failure("bytes follow the payload") }
  }

  /// Reads one field of a payload in its stored form; nothing behind it is looked at.
  ///
  /// - Returns: The field's value; `nil` if there is no such field.
  /// - Throws: As ``init(encoded:)``, for the part that is read.
  package static func value(
    of number: Int, in encoded: RawSpan
  ) throws(FormatError) -> PayloadValue? {
    var reader = ByteReader(encoded, structure: "memo payload")
    _ = try reader.varint()
    return try reader.payloadValue(ofField: number)
  }
}

extension PayloadValue {
  /// The stored form.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(value: self)
    return bytes
  }

  /// The kind by which the value is stored.
  package var tag: Tag {
    switch self {
    case .null: .null
    case .bool(let value): value ? .true : .false
    case .unsigned: .unsigned
    case .negative: .negative
    case .float: .float
    case .double: .double
    case .text: .text
    case .bytes: .bytes
    case .list: .list
    case .record: .record
    case .map: .map
    case .uuid: .uuid
    case .timestamp: .timestamp
    case .reference(.text): .memoText
    case .reference(.id): .memoID
    case .reference(.createdAt): .memoCreatedAt
    }
  }
}

extension Array<UInt8> {
  fileprivate mutating func append(record: PayloadRecord) {
    append(varint: UInt64(record.fields.count))
    for field in record.fields {
      append(varint: UInt64(field.number))
      append(value: field.value)
    }
  }

  fileprivate mutating func append(text: String) {
    append(varint: UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }

  /// Appends the stored form of a value.
  mutating func append(value: PayloadValue) {
    append(value.tag.rawValue)
    switch value {
    case .null, .bool, .reference: break
    case .unsigned(let number): append(varint: number)
    case .negative(let number): append(varint: UInt64(bitPattern: ~number))
    case .float(let number): append(u32: number.bitPattern)
    case .double(let number): append(u64: number.bitPattern)
    case .text(let text): append(text: text)
    case .bytes(let bytes):
      append(varint: UInt64(bytes.count))
      append(contentsOf: bytes)
    case .list(let values):
      append(varint: UInt64(values.count))
      for value in values { append(value: value) }
    case .record(let record): append(record: record)
    case .map(let entries):
      append(varint: UInt64(entries.count))
      for entry in entries {
        append(text: entry.key)
        append(value: entry.value)
      }
    case .uuid(let high, let low):
      append(bigEndian: high)
      append(bigEndian: low)
    case .timestamp(let timestamp):
      append(zigzag: timestamp.microseconds)
      append(zigzag: Int64(timestamp.offsetSeconds))
    }
  }
}

extension ByteReader {
  /// Fields, with the depth that they lie at.
  @_lifetime(self: copy self)
  fileprivate mutating func payloadRecord(depth: Int) throws(FormatError) -> PayloadRecord {
    let count = try elementCount(ofAtLeast: 2)
    var fields: [PayloadRecord.Field] = []
    fields.reserveCapacity(min(count, 256))
    var last = -1
    for _ in 0..<count {
      let number = try fieldNumber(after: last)
      last = number
      fields.append(PayloadRecord.Field(number: number, value: try payloadValue(depth: depth)))
    }
    return PayloadRecord(ascending: fields)
  }

  /// The value of one field of a payload's own record.
  @_lifetime(self: copy self)
  fileprivate mutating func payloadValue(
    ofField wanted: Int
  ) throws(FormatError) -> PayloadValue? {
    var last = -1
    for _ in 0..<(try elementCount(ofAtLeast: 2)) {
      last = try fieldNumber(after: last)
      if last > wanted { return nil }
      let value = try payloadValue(depth: 1)
      if last == wanted { return value }
    }
    return nil
  }

  /// The number of a field, which is larger than that of the field before.
  @_lifetime(self: copy self)
  private mutating func fieldNumber(after last: Int) throws(FormatError) -> Int {
    let number = try count(maximum: MemoNames.maximumCount - 1)
    guard number > last else { throw failure("fields do not ascend") }
    return number
  }

  /// How many elements follow, each of some bytes at least.
  @_lifetime(self: copy self)
  private mutating func elementCount(ofAtLeast byteCount: Int) throws(FormatError) -> Int {
    let value = try varint()
    guard value <= UInt64(remaining / byteCount) else { throw failure("ends too early") }
    return Int(value)
  }

  /// A text; one that is not UTF-8 was not written by us.
  @_lifetime(self: copy self)
  private mutating func payloadText() throws(FormatError) -> String {
    let bytes = try take(try elementCount(ofAtLeast: 1))
    let text = unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let text else { throw failure("text is not UTF-8") }
    return text
  }

  /// A value in a record, list or map of the given depth.
  @_lifetime(self: copy self)
  private mutating func payloadValue(depth: Int) throws(FormatError) -> PayloadValue {
    let code = try u8()
    guard let tag = PayloadValue.Tag(rawValue: code) else {
      throw failure("has a value of unknown kind \(code); a newer program can read it")
    }
    switch tag {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .unsigned: return .unsigned(try varint())
    case .negative:
      let value = try varint()
      guard value <= UInt64(Int64.max) else { throw failure("number is out of range") }
      return .negative(~Int64(value))
    case .float: return .float(Float(bitPattern: try u32()))
    case .double: return .double(Double(bitPattern: try u64()))
    case .text: return .text(try payloadText())
    case .bytes: return .bytes(try takeArray(try elementCount(ofAtLeast: 1)))
    case .list, .record, .map: return try payloadContainer(tag, depth: depth + 1)
    case .uuid:
      let high = try u64().byteSwapped
      return .uuid(high: high, low: try u64().byteSwapped)
    case .timestamp:
      let microseconds = try zigzag()
      let offsetSeconds = Int32(exactly: try zigzag())
      let timestamp = offsetSeconds.flatMap {
        MemoTimestamp(microseconds: microseconds, offsetSeconds: $0)
      }
      guard let timestamp else { throw failure("time is out of range") }
      return .timestamp(timestamp)
    case .memoText: return .reference(.text)
    case .memoID: return .reference(.id)
    case .memoCreatedAt: return .reference(.createdAt)
    }
  }

  /// A value that holds others.
  @_lifetime(self: copy self)
  private mutating func payloadContainer(
    _ tag: PayloadValue.Tag, depth: Int
  ) throws(FormatError) -> PayloadValue {
    guard depth <= PayloadValue.maximumDepth else {
      throw failure("values lie deeper than \(PayloadValue.maximumDepth)")
    }
    if tag == .record { return .record(try payloadRecord(depth: depth)) }
    if tag == .list {
      let count = try elementCount(ofAtLeast: 1)
      var values: [PayloadValue] = []
      values.reserveCapacity(min(count, 1024))
      for _ in 0..<count { values.append(try payloadValue(depth: depth)) }
      return .list(values)
    }
    let count = try elementCount(ofAtLeast: 2)
    var entries: [PayloadValue.Entry] = []
    entries.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      let key = try payloadText()
      if let last = entries.last, !last.key.utf8.lexicographicallyPrecedes(key.utf8) {
        throw failure("keys do not ascend")
      }
      entries.append(PayloadValue.Entry(key: key, value: try payloadValue(depth: depth)))
    }
    return .map(entries)
  }
}
