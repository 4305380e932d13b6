package import KVEngine

/// Reads one JSON text, strictly by RFC 8259.
///
/// What the RFC leaves open is decided for data that must not be lost or misread: a name twice in
/// an object is refused (readers disagree on which one counts), input must be UTF-8 (no overlong
/// form, no surrogates), values nest at most 64 deep. Calls nest as deep as the values, so the
/// stack is bounded too.
package struct JSONParser {
  /// How deep arrays and objects may nest.
  package static let maximumDepth = 64

  private let bytes: [UInt8]
  private var offset: Int

  private init(_ bytes: [UInt8], offset: Int) {
    self.bytes = bytes
    self.offset = offset
  }

  /// Reads the value that the bytes are, from an offset to the end.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 that nobody has checked.
  ///   - start: How many bytes to skip, at most their count.
  /// - Returns: The value.
  /// - Throws: `FormatError` with the offset in `bytes` of what could not be accepted.
  package static func parse(
    _ bytes: [UInt8], from start: Int = 0
  ) throws(FormatError) -> JSONValue {
    var parser = JSONParser(bytes, offset: start)
    let value = try parser.value(depth: 0)
    parser.skipBlanks()
    guard parser.offset == bytes.count else { throw parser.failure("something follows the value") }
    return value
  }

  // MARK: - Values

  private mutating func value(depth: Int) throws(FormatError) -> JSONValue {
    skipBlanks()
    guard let first = next else { throw failure("ends where a value should begin") }
    switch first {
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw failure("a value does not begin like this")
    }
  }

  private mutating func object(depth: Int) throws(FormatError) -> [JSONMember] {
    try enter(depth: depth)
    var members: [JSONMember] = []
    var names = MemberNames()
    if take("}", afterBlanks: true) { return members }
    repeat {
      skipBlanks()
      let start = offset
      guard next == UInt8(ascii: "\"") else { throw failure("expected a name in double quotes") }
      let name = try string().text
      guard names.insert(name, behind: members) else {
        throw FormatError("JSON", at: start, "the object has this name twice")
      }
      guard take(":", afterBlanks: true) else { throw failure("expected a colon") }
      members.append(JSONMember(name, try value(depth: depth)))
    } while take(",", afterBlanks: true)
    guard take("}", afterBlanks: true) else {
      throw failure("expected a comma or the end of the object")
    }
    return members
  }

  private mutating func array(depth: Int) throws(FormatError) -> [JSONValue] {
    try enter(depth: depth)
    var elements: [JSONValue] = []
    if take("]", afterBlanks: true) { return elements }
    repeat { elements.append(try value(depth: depth)) } while take(",", afterBlanks: true)
    guard take("]", afterBlanks: true) else {
      throw failure("expected a comma or the end of the array")
    }
    return elements
  }

  /// Steps over the opening bracket.
  private mutating func enter(depth: Int) throws(FormatError) {
    guard depth <= Self.maximumDepth else {
      throw failure("nests deeper than \(Self.maximumDepth) levels")
    }
    offset += 1
  }

  private mutating func word(
    _ word: StaticString, _ value: JSONValue
  ) throws(FormatError) -> JSONValue {
    let end = offset + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[offset..<end].elementsEqual("\(word)".utf8) else {
      throw failure("a value does not begin like this")
    }
    offset = end
    return value
  }

  private mutating func number() throws(FormatError) -> JSONNumber {
    let start = offset
    _ = take("-")
    let hasLeadingZero = next == UInt8(ascii: "0")
    let wholeCount = try digits("expected a digit")
    if hasLeadingZero && wholeCount > 1 {
      throw FormatError("JSON", at: start, "a number has a leading zero")
    }
    if take(".") { _ = try digits("expected a digit behind the point") }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      _ = try digits("expected a digit in the exponent")
    }
    return JSONNumber(text: String(decoding: bytes[start..<offset], as: UTF8.self))
  }

  /// Steps over digits and says how many.
  private mutating func digits(_ reason: String) throws(FormatError) -> Int {
    let start = offset
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
    guard offset > start else { throw failure(reason) }
    return offset - start
  }

  // MARK: - Strings

  private mutating func string() throws(FormatError) -> JSONString {
    offset += 1
    var start = offset
    // Decoded so far, up to `start`; empty for a string without escapes, which is copied once.
    var decoded: [UInt8] = []
    var replacementCount = 0
    while let byte = nextBehindPlainBytes() {
      switch byte {
      case UInt8(ascii: "\""):
        let rest = bytes[start..<offset]
        offset += 1
        let text =
          decoded.isEmpty
          ? String(decoding: rest, as: UTF8.self) : String(decoding: decoded + rest, as: UTF8.self)
        return JSONString(text: text, replacementCount: replacementCount)
      case UInt8(ascii: "\\"):
        decoded.append(contentsOf: bytes[start..<offset])
        let scalar = try escape()
        if scalar == nil { replacementCount += 1 }
        decoded.append(contentsOf: UTF8.encode(scalar ?? "\u{FFFD}") ?? .init())
        start = offset
      case ..<0x20: throw failure("a control character must be written as an escape")
      default: offset += try sequenceByteCount(first: byte)
      }
    }
    throw failure("ends inside a string")
  }

  /// Steps over bytes of a string that need no thought, and looks at the next one.
  private mutating func nextBehindPlainBytes() -> UInt8? {
    var position = offset
    defer { offset = position }
    while position < bytes.count {
      let byte = bytes[position]
      let isPlain =
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      guard isPlain else { return byte }
      position += 1
    }
    return nil
  }

  /// The character of an escape, `nil` for half a surrogate pair.
  private mutating func escape() throws(FormatError) -> Unicode.Scalar? {
    let start = offset
    offset += 1
    guard let letter = next else { throw failure("ends inside a string") }
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw FormatError("JSON", at: start, "unknown escape")
    }
    guard let unit = codeUnit(at: offset) else {
      throw FormatError("JSON", at: start, "expected four hexadecimal digits")
    }
    offset += 4
    guard UTF16.isLeadSurrogate(unit), offset + 2 <= bytes.count,
      bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u"),
      let second = codeUnit(at: offset + 2), UTF16.isTrailSurrogate(second)
    else { return Unicode.Scalar(unit) }
    offset += 6
    return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
  }

  /// The number of four hexadecimal digits.
  private func codeUnit(at position: Int) -> UInt16? {
    guard position + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[position..<(position + 4)] {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// Bytes of the well-formed UTF-8 sequence here that is not ASCII.
  ///
  /// - Source: The Unicode Standard, table 3-7.
  private func sequenceByteCount(first: UInt8) throws(FormatError) -> Int {
    let count: Int
    // The second byte alone tells overlong forms, surrogates and what is above U+10FFFF.
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0xC2...0xDF: count = 2
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: count = 3
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: count = 4
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: throw failure("is not UTF-8")
    }
    guard offset + count <= bytes.count, second.contains(bytes[offset + 1]),
      bytes[(offset + 2)..<(offset + count)].allSatisfy({ $0 & 0xC0 == 0x80 })
    else { throw failure("is not UTF-8") }
    return count
  }

  // MARK: - Bytes

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte.isJSONBlank { offset += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar, afterBlanks: Bool = false) -> Bool {
    if afterBlanks { skipBlanks() }
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private func failure(_ reason: String) -> FormatError {
    FormatError("JSON", at: offset, reason)
  }
}

/// The names that an object has so far, for finding one that comes twice.
///
/// A few are compared one by one (a set costs a memo line a microsecond); many through a set, so
/// that no line takes quadratic time.
private struct MemberNames {
  private static let fewCount = 16

  private var many: Set<[UInt8]> = []

  /// Takes the name of the member that comes behind `members`.
  ///
  /// - Returns: Whether it is new.
  mutating func insert(_ name: String, behind members: [JSONMember]) -> Bool {
    if members.count < Self.fewCount { return members[name] == nil }
    if many.isEmpty { many = Set(members.map { Array($0.name.utf8) }) }
    return many.insert(Array(name.utf8)).inserted
  }
}

extension UInt8 {
  /// Whether JSON allows the byte between values.
  var isJSONBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
