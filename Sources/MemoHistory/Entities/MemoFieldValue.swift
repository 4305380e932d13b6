internal import MemoCore

/// The value of a stored field, without the type that the app gave it.
public enum MemoFieldValue: Sendable, Hashable {
  /// Nothing: an optional that is `nil`.
  case null
  /// True or false.
  case bool(Bool)
  /// An integer of any width; one that does not fit is a text of its digits.
  case integer(Int64)
  /// A floating-point number.
  case double(Double)
  /// A text.
  case text(String)
  /// Bytes; a UUID is sixteen of them.
  case bytes([UInt8])
  /// A point in time.
  case timestamp(MemoTimestamp)
  /// An array or a set.
  case list([MemoFieldValue])
  /// A struct, or an enum with values: its fields by name.
  case record([String: MemoFieldValue])
  /// A dictionary, whose keys are data and not names of fields.
  case map([String: MemoFieldValue])
}

extension MemoFieldValue {
  /// Shows a stored value; fields without a name are left out.
  init(_ value: PayloadValue, _ names: MemoNames) {
    self =
      switch value {
      case .null, .reference: .null
      case .bool(let bool): .bool(bool)
      case .unsigned(let number): Int64(exactly: number).map { .integer($0) } ?? .text("\(number)")
      case .negative(let number): .integer(number)
      case .float(let number): .double(Double(number))
      case .double(let number): .double(number)
      case .text(let text): .text(text)
      case .bytes(let bytes): .bytes(bytes)
      case .uuid(let high, let low):
        .bytes(Array(MemoID(uuid: (high: high, low: low)).encoded.dropFirst()))
      case .timestamp(let timestamp): .timestamp(timestamp)
      case .list(let values): .list(values.map { MemoFieldValue($0, names) })
      case .record(let record):
        .record(
          Dictionary(
            record.fields.compactMap { field in
              names[field.number].map { ($0, MemoFieldValue(field.value, names)) }
            }, uniquingKeysWith: { first, _ in first }))
      case .map(let entries):
        .map(
          Dictionary(
            entries.map { ($0.key, MemoFieldValue($0.value, names)) },
            uniquingKeysWith: { first, _ in first }))
      }
  }

  /// The stored form; `nil` when a field's name is too long.
  func payloadValue(adding names: inout MemoNames) -> PayloadValue? {
    switch self {
    case .null: return .null
    case .bool(let bool): return .bool(bool)
    case .integer(let number): return .integer(number)
    case .double(let number): return .double(number)
    case .text(let text): return .text(text)
    case .bytes(let bytes): return .bytes(bytes)
    case .timestamp(let timestamp): return .timestamp(timestamp)
    case .list(let values):
      var list: [PayloadValue] = []
      for value in values {
        guard let value = value.payloadValue(adding: &names) else { return nil }
        list.append(value)
      }
      return .list(list)
    case .record(let fields):
      var record = PayloadRecord()
      for (name, value) in fields {
        guard let value = value.payloadValue(adding: &names),
          let number = names.number(adding: name)
        else { return nil }
        record[number] = value
      }
      return .record(record)
    case .map(let values):
      var entries: [PayloadValue.Entry] = []
      for (key, value) in values {
        guard let value = value.payloadValue(adding: &names) else { return nil }
        entries.append(PayloadValue.Entry(key: key, value: value))
      }
      return .map(entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    }
  }
}
