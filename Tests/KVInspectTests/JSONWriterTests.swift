import KVTestSupport
import Testing

@testable import KVInspectCore

@Suite struct JSONWriterTests {
  private func written(_ text: String) -> [UInt8] {
    var output: [UInt8] = []
    JSONWriter.append(text, to: &output)
    return output
  }

  @Test(arguments: [
    ("", "\"\""), ("milk", "\"milk\""), ("\"\\/", "\"\\\"\\\\/\""),
    ("\u{8}\u{C}\n\r\t", "\"\\b\\f\\n\\r\\t\""), ("\u{0}\u{1B}\u{7F}", "\"\\u0000\\u001b\\u007f\""),
    ("\u{80}\u{9B}\u{9F}\u{A0}", "\"\\u0080\\u009b\\u009f\u{A0}\""),
    ("\u{61C}\u{61D}", "\"\\u061c\u{61D}\""),
    ("\u{200D}\u{200E}\u{200F}\u{2010}", "\"\u{200D}\\u200e\\u200f\u{2010}\""),
    (
      "\u{2027}\u{2028}\u{2029}\u{202A}\u{202E}\u{202F}",
      "\"\u{2027}\\u2028\\u2029\\u202a\\u202e\u{202F}\""
    ),
    ("\u{2065}\u{2066}\u{2069}\u{206A}", "\"\u{2065}\\u2066\\u2069\u{206A}\""),
    ("\u{FEFF}\u{FEFE}\u{FF21}", "\"\\ufeff\u{FEFE}\u{FF21}\""),
    ("\u{E9}\u{304C}\u{1F600}", "\"\u{E9}\u{304C}\u{1F600}\""),
  ])
  func escapesWhatATerminalWouldObey(text: String, expected: String) {
    #expect(written(text) == Array(expected.utf8))
  }

  /// Every character once, so that the first bytes that the writer looks for are complete.
  @Test func everyCharacterComesBackAndNoneControls() throws {
    for value in UInt32(0)...0x2FFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(Character(scalar))
      let output = written(text)
      let shown = String(decoding: output, as: UTF8.self)
      #expect(!shown.unicodeScalars.contains { $0.isControlling }, "\(value)")
      guard case .string(let string) = try JSONParser.parse(output) else {
        Issue.record("\(value) is not a string")
        continue
      }
      #expect(string.text.utf8.elementsEqual(text.utf8), "\(value)")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func mixedTextsComeBack(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let pieces = [
      "a", "\"", "\\", "\n", "\u{0}", "\u{E9}", "e\u{301}", "\u{202E}", "\u{1F600}", "u0041",
    ]
    for _ in 0..<300 {
      var text = ""
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        text += pieces.randomElement(using: &generator) ?? ""
      }
      guard case .string(let string) = try JSONParser.parse(written(text)) else {
        Issue.record("seed \(seed)")
        return
      }
      #expect(string.text.utf8.elementsEqual(text.utf8), "seed \(seed)")
    }
  }

  @Test func writesWholeValuesOnOneLine() {
    let value = JSONValue.object([
      JSONMember("a\n", .array([.null, .bool(true), .bool(false), .integer(-5), .text("x")])),
      JSONMember("b", .object([])),
    ])
    var output: [UInt8] = []
    JSONWriter.append(value, to: &output)
    #expect(
      String(decoding: output, as: UTF8.self)
        == "{\"a\\n\":[null,true,false,-5,\"x\"],\"b\":{}}")
  }
}
