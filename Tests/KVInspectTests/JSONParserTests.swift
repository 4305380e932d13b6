import KVEngine
import KVTestSupport
import Testing

@testable import KVInspectCore

@Suite struct JSONParserTests {
  private func parse(_ text: String) throws -> JSONValue {
    try JSONParser.parse(Array(text.utf8))
  }

  /// The value printed by the writer, which a test of its own compares with Foundation.
  private func printed(_ text: String) throws -> String {
    var output: [UInt8] = []
    JSONWriter.append(try parse(text), to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  @Test(arguments: [
    ("null", "null"), ("true", "true"), (" false\r\n", "false"), ("[]", "[]"), ("{}", "{}"),
    (" [ 1 , [ ] , { } ] ", "[1,[],{}]"),
    ("{ \"a\" : { \"b\" : [ null ] } , \"\" : \"\" }", "{\"a\":{\"b\":[null]},\"\":\"\"}"),
    ("0", "0"), ("-0", "-0"), ("-12.50e+07", "-12.50e+07"), ("1E400", "1E400"),
    ("\"\\u0041\\/\\b\\f\\n\\r\\t\\\"\\\\\"", "\"A/\\b\\f\\n\\r\\t\\\"\\\\\""),
    ("\"\\u0000\"", "\"\\u0000\""), ("\"\u{7F}\"", "\"\\u007f\""),
    ("\"\\ud83d\\uDE00\"", "\"\u{1F600}\""),
    ("\"a\u{E9}\u{304C}\u{1F600}z\"", "\"a\u{E9}\u{304C}\u{1F600}z\""),
    ("\"\u{E000}\u{FFFF}\u{10FFFF}\u{80}\u{800}\"", "\"\u{E000}\u{FFFF}\u{10FFFF}\\u0080\u{800}\""),
  ])
  func reads(text: String, expected: String) throws {
    #expect(try printed(text) == expected)
  }

  @Test(arguments: [
    ("", 0, "ends where a value should begin"), ("   ", 3, "ends where a value should begin"),
    ("nul", 0, "a value does not begin like this"), ("NaN", 0, "a value does not begin like this"),
    ("Infinity", 0, "a value does not begin like this"),
    ("truer", 4, "something follows the value"),
    ("// x", 0, "a value does not begin like this"), ("{}{}", 2, "something follows the value"),
    ("[1,]", 3, "a value does not begin like this"),
    ("[1 2]", 3, "expected a comma or the end of the array"),
    ("[1", 2, "expected a comma or the end of the array"),
    ("[", 1, "ends where a value should begin"),
    ("{\"a\":1,}", 7, "expected a name in double quotes"),
    ("{'a':1}", 1, "expected a name in double quotes"),
    ("{1:2}", 1, "expected a name in double quotes"),
    ("{\"a\" 1}", 5, "expected a colon"), ("{\"a\":}", 5, "a value does not begin like this"),
    ("{\"a\":1", 6, "expected a comma or the end of the object"),
    ("{\"a\":1,\"a\":2}", 7, "the object has this name twice"),
    ("{\"a\":1,\"\\u0061\":2}", 7, "the object has this name twice"),
    ("01", 0, "a number has a leading zero"), ("-01", 0, "a number has a leading zero"),
    ("-", 1, "expected a digit"), ("+1", 0, "a value does not begin like this"),
    ("1.", 2, "expected a digit behind the point"), (".5", 0, "a value does not begin like this"),
    ("1e", 2, "expected a digit in the exponent"), ("1e+", 3, "expected a digit in the exponent"),
    ("0x10", 1, "something follows the value"), ("\"a", 2, "ends inside a string"),
    ("\"a\\", 3, "ends inside a string"), ("\"\\x41\"", 1, "unknown escape"),
    ("\"\\u12G4\"", 1, "expected four hexadecimal digits"),
    ("\"\\u12", 1, "expected four hexadecimal digits"),
    ("\"\\u+123\"", 1, "expected four hexadecimal digits"),
    ("\"a\tb\"", 2, "a control character must be written as an escape"),
    ("\"a\u{0}b\"", 2, "a control character must be written as an escape"),
    ("\"a\nb\"", 2, "a control character must be written as an escape"),
    ("\u{FEFF}1", 0, "a value does not begin like this"),
    ("\u{A0}1", 0, "a value does not begin like this"),
  ])
  func refusesWithPlaceAndReason(text: String, offset: Int, reason: String) {
    #expect(throws: FormatError("JSON", at: offset, reason)) { try parse(text) }
  }

  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF],
      [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 0xC0],
      [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0x83, 0x81, 0x83, 0x82],
    ] as [[UInt8]])
  func refusesWhatIsNotUTF8(bytes: [UInt8]) {
    let text = [UInt8(ascii: "\""), UInt8(ascii: "a")] + bytes + [UInt8(ascii: "\"")]
    #expect(throws: FormatError("JSON", at: 2, "is not UTF-8")) { try JSONParser.parse(text) }
    #expect(throws: FormatError.self) { try JSONParser.parse(text.dropLast()) }
  }

  /// The standard library decides which sequences of up to three bytes are well-formed.
  @Test func agreesWithTheStandardLibraryAboutUTF8() {
    let interesting: [UInt8] = [0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
    for first in UInt8(0x80)...0xFF {
      for second in interesting {
        for third in interesting {
          for fourth in interesting {
            let bytes = [first, second, third, fourth]
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            let quote = [UInt8(ascii: "\"")]
            let isRead = (try? JSONParser.parse(quote + bytes + quote)) != nil
            #expect(isRead == isValid, "\(bytes)")
          }
        }
      }
    }
  }

  @Test(arguments: [
    ("\\ud83d", "\u{FFFD}", 1), ("\\ude00", "\u{FFFD}", 1),
    ("\\ude00\\ud83d", "\u{FFFD}\u{FFFD}", 2),
    ("abc\\ud800def", "abc\u{FFFD}def", 1), ("end\\udbff", "end\u{FFFD}", 1),
    ("\\ud83d\\ud83d\\ude00", "\u{FFFD}\u{1F600}", 1), ("\\udc00\\udc00", "\u{FFFD}\u{FFFD}", 2),
    ("\\ud83dx\\ude00", "\u{FFFD}x\u{FFFD}", 2), ("\\ud83d\\n", "\u{FFFD}\n", 1),
    ("\\ud83d\\u0041", "\u{FFFD}A", 1), ("ok \\ud83d\\ude00 ok", "ok \u{1F600} ok", 0),
    ("\\ufffd", "\u{FFFD}", 0),
  ])
  func replacesHalfPairsAndSaysSo(escapes: String, text: String, count: Int) throws {
    guard case .string(let string) = try parse("\"\(escapes)\"") else {
      Issue.record("not a string")
      return
    }
    #expect(string.text.utf8.elementsEqual(text.utf8))
    #expect(string.replacementCount == count)
    #expect(string.isRepaired == (count > 0))
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9223372036854775808", nil), ("1.0", nil), ("1e2", nil), ("-0.0", nil),
    ] as [(String, Int64?)])
  func tellsIntegersFromOtherNumbers(text: String, integer: Int64?) throws {
    guard case .number(let number) = try parse(text) else {
      Issue.record("not a number")
      return
    }
    #expect(number.text == text)
    #expect(number.integer == integer)
  }

  @Test(arguments: ["[", "{\"a\":"]) func nestsSixtyFourDeepAndNoDeeper(opening: String) throws {
    let closing = opening == "[" ? "]" : "}"
    let text = { (depth: Int) in
      String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
    }
    #expect(throws: Never.self) { try parse(text(64)) }
    for depth in [65, 3000, 100_000] {
      let error = #expect(throws: FormatError.self) { try parse(text(depth)) }
      #expect(error?.reason == "nests deeper than 64 levels")
      #expect(error?.offset == 64 * opening.utf8.count)
    }
  }

  @Test(arguments: [2, 15, 16, 17, 18, 300]) func findsANameThatComesTwice(count: Int) throws {
    let names = (0..<count).map { "\"n\($0)\":0" }
    #expect(throws: Never.self) { try parse("{" + names.joined(separator: ",") + "}") }
    for position in [0, count / 2, count - 1] {
      let text = "{" + (names + [names[position]]).joined(separator: ",") + "}"
      let error = #expect(throws: FormatError.self) { try parse(text) }
      #expect(error?.reason == "the object has this name twice", "\(position) of \(count)")
    }
  }

  @Test func namesAreComparedByBytes() throws {
    guard case .object(let members) = try parse("{\"caf\u{E9}\":1,\"cafe\u{301}\":2}") else {
      Issue.record("not an object")
      return
    }
    #expect(members.count == 2)
    #expect(members["cafe\u{301}"]?.kindPhrase == "a number")
    #expect(members["cafe"] == nil)
  }

  @Test(arguments: 0..<8 as Range<UInt64>) func neverTrapsOnChangedText(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let base = Array("{\"id\":-1.5e3,\"b\":[\"\\ud83d\\u0041\u{E9}\u{1F600}\",null,true]}".utf8)
    var refusedCount = 0
    for _ in 0..<1000 {
      var bytes = base
      for _ in 0..<3 {
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[position] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: position)
        default: bytes.removeSubrange(position...)
        }
        if bytes.isEmpty { break }
      }
      do {
        _ = try JSONParser.parse(bytes)
      } catch {
        refusedCount += 1
        #expect((0...bytes.count).contains(error.offset), "seed \(seed)")
      }
    }
    #expect(refusedCount > 500, "seed \(seed)")
  }
}
