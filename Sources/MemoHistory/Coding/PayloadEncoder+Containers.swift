internal import MemoCore

/// The fields of a record.
struct RecordEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: PayloadEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  private func set(_ value: PayloadValue, _ key: Key) throws {
    encoder.set(.value(value), at: try encoder.number(of: key))
  }

  /// Stores that there is nothing: a field that is missing would be taken from the defaults.
  private func setNullIfNil<Value>(_ value: Value?, _ key: Key) throws -> Value? {
    if value == nil { try set(.null, key) }
    return value
  }

  func encodeNil(forKey key: Key) throws { try set(.null, key) }
  func encode(_ value: Bool, forKey key: Key) throws { try set(.bool(value), key) }
  func encode(_ value: String, forKey key: Key) throws { try set(.text(value), key) }
  func encode(_ value: Double, forKey key: Key) throws { try set(.double(value), key) }
  func encode(_ value: Float, forKey key: Key) throws { try set(.float(value), key) }
  func encode(_ value: Int, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: Int8, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: Int16, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: Int32, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: Int64, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: Int128, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: UInt, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: UInt8, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: UInt16, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: UInt32, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: UInt64, forKey key: Key) throws { try set(.init(integer: value), key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try set(.init(integer: value), key) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    let number = try encoder.number(of: key)
    encoder.set(.value(try encoder.value(of: value, at: key)), at: number)
  }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    if let value = try setNullIfNil(value, key) { try encode(value, forKey: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.nestedEncoder(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.nestedEncoder(for: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder.nestedEncoder(for: PlaceKey.superclass) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder.nestedEncoder(for: key) }
}

/// The elements of a list.
struct ListEncodingContainer: UnkeyedEncodingContainer {
  let encoder: PayloadEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.elementCount }
  private var key: PlaceKey { PlaceKey(intValue: count) }

  private func append(_ value: PayloadValue) { encoder.append(.value(value)) }

  func encodeNil() { append(.null) }
  func encode(_ value: Bool) { append(.bool(value)) }
  func encode(_ value: String) { append(.text(value)) }
  func encode(_ value: Double) { append(.double(value)) }
  func encode(_ value: Float) { append(.float(value)) }
  func encode(_ value: Int) { append(.init(integer: value)) }
  func encode(_ value: Int8) { append(.init(integer: value)) }
  func encode(_ value: Int16) { append(.init(integer: value)) }
  func encode(_ value: Int32) { append(.init(integer: value)) }
  func encode(_ value: Int64) { append(.init(integer: value)) }
  func encode(_ value: Int128) { append(.init(integer: value)) }
  func encode(_ value: UInt) { append(.init(integer: value)) }
  func encode(_ value: UInt8) { encoder.append(byte: value) }
  func encode(_ value: UInt16) { append(.init(integer: value)) }
  func encode(_ value: UInt32) { append(.init(integer: value)) }
  func encode(_ value: UInt64) { append(.init(integer: value)) }
  func encode(_ value: UInt128) { append(.init(integer: value)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    if let byte: UInt8 = same(value) {
      encoder.append(byte: byte)
    } else {
      append(try encoder.value(of: value, at: key))
    }
  }

  private func nestedEncoder() -> PayloadEncoder {
    let nested = encoder.nested(key)
    encoder.append(.encoder(nested))
    return nested
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    nestedEncoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    nestedEncoder().unkeyedContainer()
  }

  func superEncoder() -> any Encoder { nestedEncoder() }
}

/// One value without fields or elements of its own.
struct SingleEncodingContainer: SingleValueEncodingContainer {
  let encoder: PayloadEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.set(.null) }
  func encode(_ value: Bool) { encoder.set(.bool(value)) }
  func encode(_ value: String) { encoder.set(.text(value)) }
  func encode(_ value: Double) { encoder.set(.double(value)) }
  func encode(_ value: Float) { encoder.set(.float(value)) }
  func encode(_ value: Int) { encoder.set(.init(integer: value)) }
  func encode(_ value: Int8) { encoder.set(.init(integer: value)) }
  func encode(_ value: Int16) { encoder.set(.init(integer: value)) }
  func encode(_ value: Int32) { encoder.set(.init(integer: value)) }
  func encode(_ value: Int64) { encoder.set(.init(integer: value)) }
  func encode(_ value: Int128) { encoder.set(.init(integer: value)) }
  func encode(_ value: UInt) { encoder.set(.init(integer: value)) }
  func encode(_ value: UInt8) { encoder.set(.init(integer: value)) }
  func encode(_ value: UInt16) { encoder.set(.init(integer: value)) }
  func encode(_ value: UInt32) { encoder.set(.init(integer: value)) }
  func encode(_ value: UInt64) { encoder.set(.init(integer: value)) }
  func encode(_ value: UInt128) { encoder.set(.init(integer: value)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    let inner = PayloadEncoder(encoder.scope, step: encoder.step, depth: encoder.depth)
    encoder.set(try inner.encoded(value))
  }
}
