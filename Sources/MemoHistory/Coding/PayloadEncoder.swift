internal import MemoCore

// `Encodable` values become values of payloads (FORMAT.md 10.4) in one form each: fields by number,
// sets and dictionaries in the order of their encoded bytes, integers of every width as numbers.
//
// An encoder is also the place where its value comes together: containers that an app holds on to,
// as `superEncoder()` makes them, write into it until it is finished.

/// What the encoders of one payload share.
final class EncodingScope {
  /// The names of fields; names that are new are added.
  var names: MemoNames

  init(names: MemoNames) {
    self.names = names
  }
}

/// One step of a coding path.
final class CodingStep {
  let key: any CodingKey
  let parent: CodingStep?

  init(_ key: any CodingKey, in parent: CodingStep?) {
    self.key = key
    self.parent = parent
  }

  /// The keys from the outermost on.
  static func path(to step: CodingStep?) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var step = step
    while let current = step {
      keys.append(current.key)
      step = current.parent
    }
    return keys.reversed()
  }
}

/// A key that is no property of the app's: a place in a list, or the encoder of a superclass.
struct PlaceKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = Int(stringValue)
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }

  static let superclass = PlaceKey(stringValue: "super")
}

/// Encodes one value.
final class PayloadEncoder: Encoder {
  /// A part of a value that is complete, or still being written.
  enum Part {
    case value(PayloadValue)
    case encoder(PayloadEncoder)

    func finished() throws -> PayloadValue {
      switch self {
      case .value(let value): value
      case .encoder(let encoder): try encoder.finished()
      }
    }
  }

  /// What the value turned out to be.
  private enum Kind {
    case undecided
    case single
    case record
    case list
  }

  let scope: EncodingScope
  let step: CodingStep?
  /// How deep a container that the value becomes would lie.
  let depth: Int
  private var kind = Kind.undecided
  private var value = PayloadValue.null
  private var fields: [(number: Int, part: Part)] = []
  private var parts: [Part] = []
  /// The elements of a list as long as all of them are `UInt8`.
  private var bytes: [UInt8] = []
  /// Why the value cannot be encoded, found where nothing can be thrown.
  private var failure: String?

  init(_ scope: EncodingScope, step: CodingStep? = nil, depth: Int = 1) {
    self.scope = scope
    self.step = step
    self.depth = depth
  }

  var codingPath: [any CodingKey] { CodingStep.path(to: step) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
    begin(.record)
    return KeyedEncodingContainer(RecordEncodingContainer<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    begin(.list)
    return ListEncodingContainer(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleEncodingContainer(encoder: self)
  }

  private func begin(_ kind: Kind) {
    if self.kind == .undecided { self.kind = kind }
    if self.kind != kind { failure = "it is encoded in two ways" }
    if depth > PayloadValue.maximumDepth { failure = "it lies too deep in other values" }
  }

  /// The value, when everything was written.
  func finished() throws -> PayloadValue {
    if let failure { throw error(failure) }
    switch kind {
    case .single: return value
    // A type that writes nothing has nothing.
    case .undecided: return .record(PayloadRecord())
    case .record:
      return .record(
        PayloadRecord(
          try fields.map { PayloadRecord.Field(number: $0.number, value: try $0.part.finished()) }))
    case .list:
      if !bytes.isEmpty { return .bytes(bytes) }
      return .list(try parts.map { try $0.finished() })
    }
  }

  func error(_ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
    let path = codingPath + (key.map { [$0] } ?? [])
    return .invalidValue(
      "",
      EncodingError.Context(
        codingPath: path, debugDescription: reason, underlyingError: Refusal(reason: reason)))
  }

  /// Why we refuse a value, in words that hold nothing of it.
  struct Refusal: Error {
    let reason: String
  }

  // MARK: Parts

  /// Sets the whole value.
  func set(_ value: PayloadValue) {
    if kind != .undecided { failure = "it is encoded in two ways" }
    kind = .single
    self.value = value
  }

  /// The number of a field, taken before its value is encoded: names get theirs from the outside
  /// in.
  func number(of key: some CodingKey) throws -> Int {
    guard let number = scope.names.number(adding: key.stringValue) else {
      throw error(MemoNames.refusal, at: key)
    }
    return number
  }

  /// Sets a field of a record.
  func set(_ part: Part, at number: Int) {
    fields.append((number, part))
  }

  /// How many elements a list has.
  var elementCount: Int { bytes.isEmpty ? parts.count : bytes.count }

  func append(_ part: Part) {
    if !bytes.isEmpty {
      parts = bytes.map { .value(.unsigned(UInt64($0))) }
      bytes = []
    }
    parts.append(part)
  }

  /// Adds an element whose type is `UInt8`; a list of nothing else is bytes.
  func append(byte: UInt8) {
    if parts.isEmpty { bytes.append(byte) } else { append(.value(.unsigned(UInt64(byte)))) }
  }

  // MARK: Values

  /// An encoder for a part of the value.
  func nested(_ key: any CodingKey) -> PayloadEncoder {
    PayloadEncoder(scope, step: CodingStep(key, in: step), depth: depth + 1)
  }

  /// An encoder for a field, which may be written to later.
  func nestedEncoder(for key: some CodingKey) -> PayloadEncoder {
    let encoder = nested(key)
    do {
      set(.encoder(encoder), at: try number(of: key))
    } catch {
      failure = MemoNames.refusal
    }
    return encoder
  }

  /// Encodes a value that lies under a key.
  func value<Value: Encodable>(of value: Value, at key: some CodingKey) throws -> PayloadValue {
    if let simple = PayloadValue(simple: value) { return simple }
    return try nested(key).encoded(value)
  }

  /// Encodes a value as the one of this encoder.
  func encoded<Value: Encodable>(_ value: Value) throws -> PayloadValue {
    if let simple = PayloadValue(simple: value) { return simple }
    if let unordered = value as? any UnorderedEncodable {
      begin(.list)
      if let failure { throw error(failure) }
      return try unordered.payloadValue(with: self)
    }
    try value.encode(to: self)
    return try finished()
  }
}

extension PayloadValue {
  /// A value whose type has a kind of its own.
  ///
  /// Elements of lists come here as well, where the standard library knows no more of their type.
  init?<Value>(simple value: Value) {
    if let text: String = same(value) {
      self = .text(text)
    } else if let number: Int = same(value) {
      self = .integer(Int64(number))
    } else if let number: Double = same(value) {
      self = .double(number)
    } else if let bool: Bool = same(value) {
      self = .bool(bool)
    } else if let timestamp: MemoTimestamp = same(value) {
      self = .timestamp(timestamp)
    } else if let id: MemoID = same(value) {
      self = PayloadValue(id)
    } else if let bytes: [UInt8] = same(value) {
      // An empty list says nothing about its type.
      self = bytes.isEmpty ? .list([]) : .bytes(bytes)
    } else if let uuid = Self.uuid(value) {
      self = uuid
    } else {
      return nil
    }
  }

  /// A number of any integer type: as a number if it fits 64 bits, else its decimal digits.
  init(integer value: some BinaryInteger) {
    if let number = UInt64(exactly: value) {
      self = .unsigned(number)
    } else if let number = Int64(exactly: value) {
      self = .negative(number)
    } else {
      self = .text(String(value))
    }
  }
}
