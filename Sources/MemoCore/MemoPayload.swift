// FORMAT.md section 10.4: what an app's own type adds to a memo, behind the text of its record.
//
//   schema version   record
//
// Values say their kind, and fields are numbers whose names the store keeps once (10.5). So a tool
// shows a payload without the app that wrote it, a type may grow, and fields that an app does not
// know can be kept.
// One value has one form: numbers are as short as they can be, whatever type the app had; fields
// and keys ascend. What decodes encodes to the same bytes.

/// The app's part of a stored memo.
package struct MemoPayload: Sendable, Hashable {
  /// The version of the app's schema by which the payload was written.
  package var schemaVersion: UInt64
  /// The fields of the app's type.
  package var record: PayloadRecord

  package init(schemaVersion: UInt64, record: PayloadRecord) {
    self.schemaVersion = schemaVersion
    self.record = record
  }
}

/// Fields by number, each number once, ascending.
package struct PayloadRecord: Sendable, Hashable {
  /// The number of a name in the store, and what stands under it.
  package struct Field: Sendable, Hashable {
    package let number: Int
    package var value: PayloadValue

    package init(number: Int, value: PayloadValue) {
      self.number = number
      self.value = value
    }
  }

  package private(set) var fields: [Field]

  package init() {
    fields = []
  }

  /// Takes fields in any order; of several with one number the last one stays.
  package init(_ fields: [Field]) {
    self.fields = fields
    let isAscending = zip(fields, fields.dropFirst()).allSatisfy { $0.number < $1.number }
    if isAscending { return }
    self.fields = []
    for field in fields { self[field.number] = field.value }
  }

  /// Takes fields that ascend; only the decoder knows that they do.
  init(ascending fields: [Field]) {
    self.fields = fields
  }

  /// The value under a number; `nil` is none.
  package subscript(number: Int) -> PayloadValue? {
    get {
      let place = place(of: number)
      return place < fields.count && fields[place].number == number ? fields[place].value : nil
    }
    set {
      let place = place(of: number)
      let isThere = place < fields.count && fields[place].number == number
      switch (newValue, isThere) {
      case (let value?, true): fields[place].value = value
      case (let value?, false): fields.insert(Field(number: number, value: value), at: place)
      case (nil, true): fields.remove(at: place)
      case (nil, false): break
      }
    }
  }

  /// Where the field with a number is or would be.
  private func place(of number: Int) -> Int {
    var range = 0..<fields.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      if fields[middle].number < number {
        range = (middle + 1)..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return range.lowerBound
  }
}

/// A value of a payload, without the type that the app gave it.
package enum PayloadValue: Sendable {
  case null
  case bool(Bool)
  /// Any number from 0 on.
  case unsigned(UInt64)
  /// A number below 0.
  case negative(Int64)
  case float(Float)
  case double(Double)
  case text(String)
  /// Bytes, also those of a list of `UInt8`.
  case bytes([UInt8])
  case list([PayloadValue])
  case record(PayloadRecord)
  /// Entries whose keys are the app's, not names of fields; ascending by the keys' UTF-8.
  case map([Entry])
  case uuid(high: UInt64, low: UInt64)
  case timestamp(MemoTimestamp)
  /// What the envelope of the memo holds already.
  case reference(Reference)

  /// One entry of a map.
  package struct Entry: Sendable, Hashable {
    package let key: String
    package var value: PayloadValue

    package init(key: String, value: PayloadValue) {
      self.key = key.contiguous
      self.value = value
    }
  }

  /// The parts of an envelope.
  package enum Reference: Sendable, Hashable {
    case text
    case id
    case createdAt
  }

  /// What the kinds of values are called in stored payloads.
  ///
  /// Never renumber (FORMAT.md 13).
  package enum Tag: UInt8, CaseIterable, Sendable {
    case null = 0
    case `false` = 1
    case `true` = 2
    case unsigned = 3
    case negative = 4
    case float = 5
    case double = 6
    case text = 7
    case bytes = 8
    case list = 9
    case record = 10
    case map = 11
    case uuid = 12
    case timestamp = 13
    case memoText = 14
    case memoID = 15
    case memoCreatedAt = 16
  }

  /// How deep values may lie in each other; the payload's own record counts.
  package static let maximumDepth = 64

  /// An integer of any sign in its one form.
  package static func integer(_ value: Int64) -> PayloadValue {
    value < 0 ? .negative(value) : .unsigned(UInt64(value))
  }
}

extension PayloadValue: Hashable {
  /// Whether both have the same stored form: numbers by their bits, texts by their bytes.
  package static func == (left: PayloadValue, right: PayloadValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.unsigned(let a), .unsigned(let b)): a == b
    case (.negative(let a), .negative(let b)): a == b
    case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.list(let a), .list(let b)): a == b
    case (.record(let a), .record(let b)): a == b
    case (.map(let a), .map(let b)): a == b
    case (.uuid(let aHigh, let aLow), .uuid(let bHigh, let bLow)): aHigh == bHigh && aLow == bLow
    case (.timestamp(let a), .timestamp(let b)): a == b
    case (.reference(let a), .reference(let b)): a == b
    default: false
    }
  }

  /// Feeds the stored form to a hasher.
  package func hash(into hasher: inout Hasher) {
    var bytes: [UInt8] = []
    bytes.append(value: self)
    hasher.combine(bytes)
  }
}

extension PayloadValue.Entry {
  package static func == (left: Self, right: Self) -> Bool {
    left.key.hasSameBytes(as: right.key) && left.value == right.value
  }

  package func hash(into hasher: inout Hasher) {
    key.hashBytes(into: &hasher)
    hasher.combine(value)
  }
}

extension PayloadValue {
  /// An id as a value: each of its kinds has one.
  package init(_ id: MemoID) {
    self =
      switch id.storage {
      case .text(let text): .text(text)
      case .integer(let number): .integer(number)
      case .bytes(let bytes): .bytes(bytes)
      case .uuid(let high, let low): .uuid(high: high, low: low)
      }
  }

  /// The value with its reference followed.
  package func resolved(in memo: Memo) -> PayloadValue {
    switch self {
    case .reference(.text): .text(memo.body)
    case .reference(.id): PayloadValue(memo.id)
    case .reference(.createdAt): .timestamp(memo.createdAt)
    default: self
    }
  }
}

extension PayloadRecord {
  /// The largest number in the record and in the records inside it, -1 when there is none.
  package var highestNumber: Int {
    fields.reduce(fields.last?.number ?? -1) { max($0, $1.value.highestNumber) }
  }

  /// The fields with what the envelope holds already replaced by references to it.
  package func referring(to memo: Memo) -> PayloadRecord {
    let id = PayloadValue(memo.id)
    var result = self
    for place in result.fields.indices {
      switch result.fields[place].value {
      case .text(let text) where text.hasSameBytes(as: memo.body):
        result.fields[place].value = .reference(.text)
      case .timestamp(memo.createdAt):
        result.fields[place].value = .reference(.createdAt)
      case let value where value == id:
        result.fields[place].value = .reference(.id)
      default: break
      }
    }
    return result
  }
}

extension PayloadValue {
  /// The largest number of a field inside the value, -1 when there is none.
  package var highestNumber: Int {
    switch self {
    case .record(let record): record.highestNumber
    case .list(let values): values.reduce(-1) { max($0, $1.highestNumber) }
    case .map(let entries): entries.reduce(-1) { max($0, $1.value.highestNumber) }
    default: -1
    }
  }
}
