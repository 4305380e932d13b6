import Glibc

/// A value of JSON, as `--json` writes it.
indirect enum JSONValue: Equatable {
  case object([String: JSONValue])
  case array([JSONValue])
  case string(String)
  case number(Double)
  case word(String)

  subscript(_ name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

  var text: String? { if case .string(let text) = self { text } else { nil } }

  var number: Double? { if case .number(let number) = self { number } else { nil } }

  /// Reads a text that is one value.
  init(parsing text: String) throws(BenchmarkError) {
    var parser = JSONParser(bytes: Array(text.utf8))
    self = try parser.value(depth: 0)
    parser.skipSpace()
    if !parser.isAtEnd { throw parser.failure("more behind the value") }
  }
}

/// Goes through the bytes of a text once.
private struct JSONParser {
  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  func failure(_ what: String) -> BenchmarkError {
    BenchmarkError("no JSON, \(what) at byte \(position)")
  }

  mutating func skipSpace() {
    while position < bytes.count, [32, 9, 10, 13].contains(bytes[position]) { position += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func require(_ character: Unicode.Scalar) throws(BenchmarkError) {
    if !take(character) { throw failure("no \(character)") }
  }

  mutating func value(depth: Int) throws(BenchmarkError) -> JSONValue {
    if depth > 20 { throw failure("too deep") }
    if take("{") {
      var members: [String: JSONValue] = [:]
      if take("}") { return .object(members) }
      repeat {
        try require("\"")
        let name = try string()
        try require(":")
        members[name] = try value(depth: depth + 1)
      } while take(",")
      try require("}")
      return .object(members)
    }
    if take("[") {
      var values: [JSONValue] = []
      if take("]") { return .array(values) }
      repeat { values.append(try value(depth: depth + 1)) } while take(",")
      try require("]")
      return .array(values)
    }
    if take("\"") { return .string(try string()) }
    return try plain()
  }

  /// The rest of a text, whose first quote was read.
  private mutating func string() throws(BenchmarkError) -> String {
    var result: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: result, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        guard position < bytes.count else { break }
        // The harness escapes quotes, backslashes and line feeds only.
        result.append(bytes[position] == UInt8(ascii: "n") ? 10 : bytes[position])
        position += 1
      } else {
        result.append(byte)
      }
    }
    throw failure("a text without end")
  }

  /// A number or one of the words of JSON.
  private mutating func plain() throws(BenchmarkError) -> JSONValue {
    let word = bytes[position...].prefix { !Array(",]} \n\r\t".utf8).contains($0) }
    position += word.count
    let text = String(decoding: word, as: UTF8.self)
    if let number = Double(text), number.isFinite { return .number(number) }
    guard ["true", "false", "null"].contains(text) else { throw failure("no value") }
    return .word(text)
  }
}
