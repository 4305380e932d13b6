/// A value of RFC 8259 as it was written: members in their order, numbers not yet rounded.
package indirect enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(JSONString)
  case array([JSONValue])
  case object([JSONMember])

  /// What the value is, as in "is a number".
  package var kindPhrase: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// A string that a program has.
  package static func text(_ text: String) -> JSONValue {
    .string(JSONString(text: text))
  }

  /// An integer that a program has.
  package static func integer(_ number: Int64) -> JSONValue {
    .number(JSONNumber(text: String(number)))
  }
}

/// A number in the digits it was written with.
package struct JSONNumber: Sendable {
  package let text: String
  /// The value when it is written as an integer (no point, no exponent) and fits 64 bits.
  package let integer: Int64?

  package init(text: String) {
    self.text = text
    integer = Int64(text)
  }
}

/// A string, and how much of it could not be kept.
package struct JSONString: Sendable {
  package let text: String
  /// How many lone surrogates were replaced by U+FFFD: an escape such as `\ud83d` without its other
  /// half is allowed by the grammar and is no character.
  package let replacementCount: Int

  package init(text: String, replacementCount: Int = 0) {
    self.text = text
    self.replacementCount = replacementCount
  }

  /// Whether the text differs from what was written.
  package var isRepaired: Bool { replacementCount > 0 }
}

/// A name and its value in an object.
package struct JSONMember: Sendable {
  package let name: String
  package let value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

extension [JSONMember] {
  /// The value of a member by its name, compared byte by byte.
  package subscript(name: String) -> JSONValue? {
    first {
      $0.name.utf8.count == name.utf8.count && $0.name.utf8.elementsEqual(name.utf8)
    }?.value
  }
}
