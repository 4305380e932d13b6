import Testing

@testable import KVInspectCore

@Suite struct TerminalTextTests {
  @Test(arguments: [
    ("", ""), ("milk", "milk"), ("a\nb\r\nc\td", "a\\nb\\r\\nc\\td"),
    ("\u{1B}[31m\u{7}", "\\u{1B}[31m\\u{7}"),
    ("\u{0}\u{7F}\u{85}\u{9B}", "\\u{0}\\u{7F}\\u{85}\\u{9B}"),
    ("\u{202E}abc\u{2069}", "\\u{202E}abc\\u{2069}"), ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
    ("C:\\new", "C:\\new"),
    ("\u{304C}\u{1F468}\u{200D}\u{1F469}", "\u{304C}\u{1F468}\u{200D}\u{1F469}"),
    ("e\u{301}\u{1B}e\u{301}", "e\u{301}\\u{1B}e\u{301}"),
  ])
  func showsControlsAsEscapes(text: String, expected: String) {
    #expect(Array(TerminalText.visible(text).utf8) == Array(expected.utf8))
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd\u{2026}"), ("abcdef", 1, "\u{2026}"),
    ("a", 1, "a"), ("", 1, ""),
    ("abcde\u{301}", 5, "abcde\u{301}"), ("abcde\u{301}f", 5, "abcd\u{2026}"),
    ("abcd\u{301}ef", 5, "abcd\u{301}\u{2026}"),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}\u{2026}"),
    ("\u{304C}\u{304C}\u{304C}", 3, "\u{304C}\u{304C}\u{304C}"),
    ("\u{304C}\u{304C}\u{304C}", 2, "\u{304C}\u{2026}"),
    ("\u{1F468}\u{200D}\u{1F469}xy", 2, "\u{1F468}\u{200D}\u{1F469}\u{2026}"),
    ("ab\ncd", 6, "ab\\ncd"), ("ab\ncd", 5, "ab\\n\u{2026}"), ("ab\ncd", 4, "ab\u{2026}"),
    ("abc\u{1B}", 8, "abc\u{2026}"), ("abc\u{1B}", 9, "abc\\u{1B}"),
  ])
  func cutsAtCharacterBorders(text: String, limit: Int, expected: String) {
    let shown = TerminalText.visible(text, limit: limit)
    #expect(Array(shown.utf8) == Array(expected.utf8))
    #expect(shown.count <= limit)
  }

  @Test func neverLetsAControlThrough() {
    for value in UInt32(0)...0x2FFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let shown = TerminalText.visible("a\(Character(scalar))b")
      #expect(!shown.unicodeScalars.contains { $0.isControlling }, "\(value)")
      #expect(shown.utf8.first == 0x61 && shown.utf8.last == 0x62, "\(value)")
    }
  }

  @Test func aCharacterOfThousandsOfMarksIsShortenedInACutText() {
    let text = "a" + String(repeating: "\u{301}", count: 100_000) + "b"
    #expect(TerminalText.visible(text) == text)
    let shown = TerminalText.visible(text, limit: 5)
    #expect(shown == "a" + String(repeating: "\u{301}", count: 31) + "b")
  }

  @Test func appendsBehindWhatIsThere() {
    var output = Array("1 ".utf8)
    TerminalText.append("\u{304C}\u{304C}\u{304C}", limit: 2, to: &output)
    TerminalText.append("abc", limit: 2, to: &output)
    #expect(String(decoding: output, as: UTF8.self) == "1 \u{304C}\u{2026}a\u{2026}")
  }
}
