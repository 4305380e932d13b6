internal import MemoCore

/// Finds the fields of a record by their names.
final class RecordReader {
  let decoder: PayloadDecoder
  private let record: PayloadRecord
  private let defaults: PayloadRecord?
  private let trace: FieldTrace?
  /// Where the last field was found: types ask in the order in which names were given.
  private var place = 0

  init(_ record: PayloadRecord, _ decoder: PayloadDecoder) {
    self.decoder = decoder
    self.record = record
    trace = decoder.trace
    trace?.isOpened = true
    if case .record(let defaults) = decoder.fallback {
      self.defaults = defaults
    } else {
      defaults = nil
    }
  }

  /// A value and what it takes to decode it.
  struct Found {
    let value: PayloadValue
    let scope: DecodingScope
    /// Where it is in the record, `nil` for a value of the defaults.
    let place: Int?
  }

  /// Where a field is in the record.
  private func place(of name: String) -> Int? {
    let count = record.fields.count
    for offset in 0..<count {
      let candidate = (place + offset) % count
      if decoder.scope.names[record.fields[candidate].number].isSame(as: name) {
        place = candidate
        trace?.ask(candidate)
        return candidate
      }
    }
    return nil
  }

  func find(_ name: String) -> Found? {
    let scope = decoder.scope
    if let place = place(of: name) {
      let value = record.fields[place].value
      return Found(
        value: scope.memo.map { value.resolved(in: $0) } ?? value, scope: scope, place: place)
    }
    guard let scope = scope.defaults else { return nil }
    return defaultValue(name).map { Found(value: $0, scope: scope, place: nil) }
  }

  private func defaultValue(_ name: String) -> PayloadValue? {
    guard let defaults, let names = decoder.scope.defaults?.names else { return nil }
    return names.number(of: name).flatMap { defaults[$0] }
  }

  /// A decoder for the value of a field.
  func decoder(for found: Found, at key: some CodingKey) -> PayloadDecoder {
    let step = CodingStep(key, in: decoder.step)
    guard let place = found.place, case .record(let inner) = found.value else {
      return PayloadDecoder(found.value, found.scope, step: step)
    }
    return PayloadDecoder(
      found.value, found.scope, step: step, fallback: defaultValue(key.stringValue),
      trace: trace?.nested(at: place, inner))
  }

  /// The names of all fields that are stored and that a type knows.
  func names(_ isKnown: (String) -> Bool) {
    for (place, field) in record.fields.enumerated() {
      guard let name = decoder.scope.names[field.number], isKnown(name) else { continue }
      trace?.ask(place)
    }
  }
}

extension String? {
  /// Whether this is a name, and the same one byte for byte.
  fileprivate func isSame(as name: String) -> Bool {
    guard let self, self == name else { return false }
    return self.utf8.elementsEqual(name.utf8)
  }
}

/// The fields of a record.
struct RecordDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let reader: RecordReader

  var codingPath: [any CodingKey] { reader.decoder.codingPath }

  var allKeys: [Key] {
    var keys: [Key] = []
    reader.names { name in
      guard let key = Key(stringValue: name) else { return false }
      keys.append(key)
      return true
    }
    return keys
  }

  func contains(_ key: Key) -> Bool { reader.find(key.stringValue) != nil }

  private func find(_ key: some CodingKey) throws -> RecordReader.Found {
    guard let found = reader.find(key.stringValue) else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "is missing"))
    }
    return found
  }

  /// The value of a field, if it is of the kind that is wanted.
  private func decode<Value>(_ key: Key, _ read: (PayloadValue) -> Value?) throws -> Value {
    let found = try find(key)
    guard let value = read(found.value) else {
      throw reader.decoder(for: found, at: key).mismatch(Value.self)
    }
    return value
  }

  private func integer<Number: FixedWidthInteger>(_ key: Key) throws -> Number {
    try decode(key) { $0.integer(Number.self) }
  }

  func decodeNil(forKey key: Key) throws -> Bool { try find(key).value.tag == .null }
  func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try decode(key) { $0.simple() } }
  func decode(_: String.Type, forKey key: Key) throws -> String {
    try decode(key) { $0.simple() }
  }
  func decode(_: Double.Type, forKey key: Key) throws -> Double { try decode(key, \.double) }
  func decode(_: Float.Type, forKey key: Key) throws -> Float { try decode(key, \.float) }
  func decode(_: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
  func decode(_: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
  func decode(_: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
  func decode(_: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
  func decode(_: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
  func decode(_: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
  func decode(_: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
  func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
  func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
  func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
  func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }
  func decode(_: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }

  func decode<Value: Decodable>(_: Value.Type, forKey key: Key) throws -> Value {
    let found = try find(key)
    if let simple: Value = found.value.simple() { return simple }
    return try reader.decoder(for: found, at: key).decoded()
  }

  private func nested(_ key: some CodingKey) throws -> PayloadDecoder {
    reader.decoder(for: try find(key), at: key)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try nested(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nested(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try nested(PlaceKey.superclass) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
}

/// The elements of a list, or bytes one by one.
struct ListDecodingContainer: UnkeyedDecodingContainer {
  private enum Elements {
    case values([PayloadValue])
    case bytes([UInt8])
  }

  private let decoder: PayloadDecoder
  private let elements: Elements
  private let elementCount: Int
  private(set) var currentIndex = 0

  init?(_ decoder: PayloadDecoder) {
    self.decoder = decoder
    switch decoder.value {
    case .list(let values): (elements, elementCount) = (.values(values), values.count)
    case .bytes(let bytes): (elements, elementCount) = (.bytes(bytes), bytes.count)
    default: return nil
    }
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elementCount }
  var isAtEnd: Bool { currentIndex >= elementCount }

  /// The next element, which stays the next one.
  private func element(_ type: Any.Type) throws -> PayloadValue {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(codingPath: codingPath, debugDescription: "has no more elements"))
    }
    switch elements {
    case .values(let values): return values[currentIndex]
    case .bytes(let bytes): return .unsigned(UInt64(bytes[currentIndex]))
    }
  }

  private func nested(_ value: PayloadValue) -> PayloadDecoder {
    PayloadDecoder(
      value, decoder.scope, step: CodingStep(PlaceKey(intValue: currentIndex), in: decoder.step))
  }

  private mutating func decode<Value>(_ read: (PayloadValue) -> Value?) throws -> Value {
    let element = try element(Value.self)
    guard let value = read(element) else { throw nested(element).mismatch(Value.self) }
    currentIndex += 1
    return value
  }

  private mutating func integer<Number: FixedWidthInteger>() throws -> Number {
    try decode { $0.integer(Number.self) }
  }

  mutating func decodeNil() throws -> Bool {
    let isNull = try element(Never.self).tag == .null
    if isNull { currentIndex += 1 }
    return isNull
  }

  mutating func decode(_: Bool.Type) throws -> Bool { try decode { $0.simple() } }
  mutating func decode(_: String.Type) throws -> String { try decode { $0.simple() } }
  mutating func decode(_: Double.Type) throws -> Double { try decode(\.double) }
  mutating func decode(_: Float.Type) throws -> Float { try decode(\.float) }
  mutating func decode(_: Int.Type) throws -> Int { try integer() }
  mutating func decode(_: Int8.Type) throws -> Int8 { try integer() }
  mutating func decode(_: Int16.Type) throws -> Int16 { try integer() }
  mutating func decode(_: Int32.Type) throws -> Int32 { try integer() }
  mutating func decode(_: Int64.Type) throws -> Int64 { try integer() }
  mutating func decode(_: Int128.Type) throws -> Int128 { try integer() }
  mutating func decode(_: UInt.Type) throws -> UInt { try integer() }
  mutating func decode(_: UInt8.Type) throws -> UInt8 { try integer() }
  mutating func decode(_: UInt16.Type) throws -> UInt16 { try integer() }
  mutating func decode(_: UInt32.Type) throws -> UInt32 { try integer() }
  mutating func decode(_: UInt64.Type) throws -> UInt64 { try integer() }
  mutating func decode(_: UInt128.Type) throws -> UInt128 { try integer() }

  mutating func decode<Value: Decodable>(_: Value.Type) throws -> Value {
    let element = try element(Value.self)
    let value: Value
    if let simple: Value = element.simple() {
      value = simple
    } else {
      value = try nested(element).decoded()
    }
    currentIndex += 1
    return value
  }

  /// A decoder for the next element, which is then done.
  private mutating func nextDecoder(_ type: Any.Type) throws -> PayloadDecoder {
    let nested = nested(try element(type))
    currentIndex += 1
    return nested
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try nextDecoder([String: Any].self).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nextDecoder([Any].self).unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try nextDecoder((any Decoder).self) }
}

/// One value without fields or elements of its own.
struct SingleDecodingContainer: SingleValueDecodingContainer {
  let decoder: PayloadDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  private func decode<Value>(_ read: (PayloadValue) -> Value?) throws -> Value {
    guard let value = read(decoder.value) else { throw decoder.mismatch(Value.self) }
    return value
  }

  private func integer<Number: FixedWidthInteger>() throws -> Number {
    try decode { $0.integer(Number.self) }
  }

  func decodeNil() -> Bool { decoder.value.tag == .null }
  func decode(_: Bool.Type) throws -> Bool { try decode { $0.simple() } }
  func decode(_: String.Type) throws -> String { try decode { $0.simple() } }
  func decode(_: Double.Type) throws -> Double { try decode(\.double) }
  func decode(_: Float.Type) throws -> Float { try decode(\.float) }
  func decode(_: Int.Type) throws -> Int { try integer() }
  func decode(_: Int8.Type) throws -> Int8 { try integer() }
  func decode(_: Int16.Type) throws -> Int16 { try integer() }
  func decode(_: Int32.Type) throws -> Int32 { try integer() }
  func decode(_: Int64.Type) throws -> Int64 { try integer() }
  func decode(_: Int128.Type) throws -> Int128 { try integer() }
  func decode(_: UInt.Type) throws -> UInt { try integer() }
  func decode(_: UInt8.Type) throws -> UInt8 { try integer() }
  func decode(_: UInt16.Type) throws -> UInt16 { try integer() }
  func decode(_: UInt32.Type) throws -> UInt32 { try integer() }
  func decode(_: UInt64.Type) throws -> UInt64 { try integer() }
  func decode(_: UInt128.Type) throws -> UInt128 { try integer() }

  func decode<Value: Decodable>(_: Value.Type) throws -> Value { try decoder.decoded() }
}
