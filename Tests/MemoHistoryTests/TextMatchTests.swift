import Testing

@testable import MemoHistory

/// What a search finds.
@Suite struct TextMatchTests {
  private func finds(_ search: String, in text: String) -> Bool { TextMatch(search).finds(text) }

  @Test(arguments: [
    ("milk", "oat milk"), ("MILK", "oat milk"), ("milk", "OAT MILK"), ("k", "milk"),
    ("lk o", "oats and milk"), ("\u{C4}rger", "\u{E4}rger"), ("\u{436}", "\u{416}\u{423}\u{41A}"),
    // Tokyo, one character of it, and a search of two parts from a Japanese keyboard.
    ("\u{6771}\u{4EAC}", "\u{6771}\u{4EAC}\u{3067}\u{4F1A}\u{3046}"),
    ("\u{4EAC}", "\u{6771}\u{4EAC}\u{3067}\u{4F1A}\u{3046}"),
    ("\u{4F1A}\u{3000}\u{6771}", "\u{6771}\u{4EAC}\u{3067}\u{4F1A}\u{3046}"),
    ("b", "a\u{0}b"), ("\u{1F468}", "\u{1F468}\u{200D}\u{1F469}"), ("aab", "aaab"),
  ])
  func whatIsThereIsFound(search: String, text: String) {
    #expect(finds(search, in: text))
  }

  @Test(arguments: [
    ("milk", "mil"), ("milk", ""), ("milk oat", "milk"), ("oatmilk", "oat milk"),
    ("\u{4EAC}\u{6771}", "\u{6771}\u{4EAC}"), ("\u{4EAC}\u{3000}\u{4F1A}", "\u{6771}\u{4EAC}"),
    // The same last byte, and the first byte of a character.
    ("\u{430}", "\u{4B0}\u{3B0}"), ("a", "\u{561}"),
  ])
  func whatIsNotThereIsNotFound(search: String, text: String) {
    #expect(!finds(search, in: text))
  }

  @Test(arguments: ["", " ", "\u{3000}", " \t\n\u{A0}\u{2003}"])
  func blanksFindEverything(search: String) {
    #expect(TextMatch(search).isEmpty && finds(search, in: "") && finds(search, in: "milk"))
  }

  @Test func onlyWhatIsSearchedForTellsSearchesApart() {
    #expect(TextMatch(" Milk  oat ") == TextMatch("milk\u{3000}OAT"))
    #expect(TextMatch("milk oat") != TextMatch("milkoat"))
    #expect(TextMatch("\u{E9}") != TextMatch("e\u{301}"), "other bytes, another search")
  }
}
