internal import MemoCore

// Values of payloads become `Decodable` values. The tree of values was checked when it was read, so
// what is left to go wrong is that the app's type expects something else, which is an error of the
// kinds that the standard library has, and which an app's own `init(from:)` may catch.

/// What the decoders of one payload share.
final class DecodingScope: Sendable {
  let names: MemoNames
  /// Whose envelope references mean.
  let memo: Memo?
  /// Where the values are from that take the place of missing ones.
  let defaults: DecodingScope?

  init(names: MemoNames, memo: Memo?, defaults: DecodingScope? = nil) {
    self.names = names
    self.memo = memo
    self.defaults = defaults
  }
}

/// Which fields of a stored record a type has asked for.
///
/// What it did not ask for it does not know, so it cannot have meant to remove it.
final class FieldTrace {
  /// Whether the record was read as one.
  var isOpened = false
  /// By the place of the field in the record.
  private(set) var isAsked: [Bool]
  private var nested: [Int: FieldTrace] = [:]

  init(_ record: PayloadRecord) {
    isAsked = Array(repeating: false, count: record.fields.count)
  }

  func ask(_ place: Int) { isAsked[place] = true }

  /// The trace of a record inside the field at a place.
  func nested(at place: Int, _ record: PayloadRecord) -> FieldTrace {
    if let trace = nested[place] { return trace }
    let trace = FieldTrace(record)
    nested[place] = trace
    return trace
  }

  /// A new version of the record, with the fields of the old one that nobody asked for.
  func keepUnknown(
    of old: PayloadRecord, in new: PayloadRecord, resolve: (PayloadValue) -> PayloadValue
  ) -> PayloadRecord {
    guard isOpened else { return new }
    var result = new
    for (place, field) in old.fields.enumerated() {
      switch (result[field.number], field.value) {
      case (nil, _) where !isAsked[place]:
        result[field.number] = resolve(field.value)
      case (.record(let newRecord), .record(let oldRecord)):
        if let trace = nested[place] {
          result[field.number] = .record(
            trace.keepUnknown(of: oldRecord, in: newRecord, resolve: resolve))
        }
      default: break
      }
    }
    return result
  }
}

/// Decodes one value.
///
/// A class, because as a struct it would be copied at every container: that took a quarter of the
/// time of a memo.
final class PayloadDecoder: Decoder {
  let scope: DecodingScope
  let value: PayloadValue
  /// The value of the defaults at this place, for what is missing inside of `value`.
  let fallback: PayloadValue?
  let trace: FieldTrace?
  let step: CodingStep?

  init(
    _ value: PayloadValue, _ scope: DecodingScope, step: CodingStep?,
    fallback: PayloadValue? = nil, trace: FieldTrace? = nil
  ) {
    self.value = value
    self.scope = scope
    self.step = step
    self.fallback = fallback
    self.trace = trace
  }

  var codingPath: [any CodingKey] { CodingStep.path(to: step) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .record(let record) = value else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(
      RecordDecodingContainer<Key>(reader: RecordReader(record, self)))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let container = ListDecodingContainer(self) else { throw mismatch([Any].self) }
    return container
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleDecodingContainer(decoder: self)
  }

  // MARK: Values

  /// Decodes a value that lies under a key.
  func decode<Value: Decodable>(
    _ value: PayloadValue, at key: some CodingKey
  ) throws -> Value {
    if let simple: Value = value.simple() { return simple }
    return try PayloadDecoder(value, scope, step: CodingStep(key, in: step)).decoded()
  }

  /// The value of this decoder as some type.
  func decoded<Value: Decodable>() throws -> Value {
    if let simple: Value = value.simple() { return simple }
    if let type = Value.self as? any UnorderedDecodable.Type {
      guard let value = try type.init(unordered: self) as? Value else {
        throw mismatch(Value.self)
      }
      return value
    }
    // Their own way to decode is for other coders.
    if Value.self == MemoID.self || Value.self == MemoTimestamp.self {
      throw mismatch(Value.self)
    }
    return try Value(from: self)
  }

  // MARK: Errors

  func mismatch(_ type: Any.Type) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "is \(value.tag)")
    return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}

/// A value as another type, if that is its own: what `as?` does, in a tenth of the time.
func same<Value, Other>(_ value: Value) -> Other? {
  guard Value.self == Other.self else { return nil }
  // Safe: the two types are one.
  return unsafe unsafeBitCast(value, to: Other.self)
}

extension PayloadValue {
  /// The value as a type that has a kind of its own; `nil` for another type or kind.
  func simple<Value>() -> Value? {
    if Value.self == String.self {
      guard case .text(let text) = self else { return nil }
      return same(text)
    }
    if Value.self == Int.self { return integer(Int.self).flatMap { same($0) } }
    if Value.self == Double.self { return double.flatMap { same($0) } }
    if Value.self == Bool.self {
      guard case .bool(let bool) = self else { return nil }
      return same(bool)
    }
    if Value.self == [UInt8].self {
      guard case .bytes(let bytes) = self else { return nil }
      return same(bytes)
    }
    if Value.self == MemoTimestamp.self { return timestamp.flatMap { same($0) } }
    if Value.self == MemoID.self { return id.flatMap { same($0) } }
    return uuid()
  }

  /// The value as an integer, if the type is wide enough.
  func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
    switch self {
    case .unsigned(let number): return Number(exactly: number)
    case .negative(let number): return Number(exactly: number)
    case .text(let digits):
      // What does not fit 64 bits has no other form, and what fits them is a text.
      guard let number = Number(digits), Int64(exactly: number) == nil else { return nil }
      return String(number) == digits ? number : nil
    default: return nil
    }
  }

  /// The value as a floating-point number; integers only where nothing is lost.
  var double: Double? {
    switch self {
    case .double(let number): number
    case .float(let number): Double(number)
    case .unsigned(let number): Double(exactly: number)
    case .negative(let number): Double(exactly: number)
    default: nil
    }
  }

  /// The value as a floating-point number of half the width.
  var float: Float? {
    if case .float(let number) = self { return number }
    return double.map { Float($0) }
  }

  /// The value as a time, which an upgrade may have left as text.
  private var timestamp: MemoTimestamp? {
    switch self {
    case .timestamp(let timestamp): timestamp
    case .text(let text): try? MemoTimestamp(iso8601: text)
    default: nil
    }
  }

  private var id: MemoID? {
    switch self {
    case .text(let text): try? MemoID(text)
    case .bytes(let bytes): try? MemoID(bytes: bytes)
    case .uuid(let high, let low): MemoID(uuid: (high: high, low: low))
    default: integer(Int64.self).map { MemoID($0) }
    }
  }
}
