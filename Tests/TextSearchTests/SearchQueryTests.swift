import Foundation
import Testing

@testable import TextSearch

/// What a search finds, and where.
@Suite struct SearchQueryTests {
  @Test(arguments: [
    ("milk", "oat milk"), ("MILK", "oat milk"), ("k", "milk"), ("lk o", "oats and milk"),
    ("\u{6771}\u{4EAC}", "\u{6771}\u{4EAC}\u{3067}\u{4F1A}\u{3046}"),
    ("\u{4EAC}", "\u{6771}\u{4EAC}"),
    ("\u{4F1A}\u{3000}\u{6771}", "\u{6771}\u{4EAC}\u{3067}\u{4F1A}\u{3046}"), ("b", "a\u{0}b"),
    ("\u{0}", "a\u{0}b"), ("\u{1F468}", "\u{1F468}\u{200D}\u{1F469}"), ("aab", "aaab"),
    ("\u{FF55}\u{FF53}\u{FF42}", "USB"), ("\u{3042}\u{3044}", "\u{FF71}\u{FF72}"),
    ("f", "\u{FB01}nd"), ("nd", "\u{FB01}nd"), ("\u{915}", "\u{915}\u{93F}"),
    ("\u{915}", "\u{915}\u{94D}"),
    ("\u{E01}", "\u{E01}\u{E38}"), ("1", "1\u{FE0F}\u{20E3}"), ("", ""), (" \u{3000}\n", "milk"),
  ])
  func whatIsThereIsFound(search: String, text: String) throws {
    #expect(try finds(search, in: text))
  }

  @Test(arguments: [
    ("milk", "mil"), ("milk", ""), ("milk oat", "milk"), ("oatmilk", "oat milk"),
    ("\u{4EAC}\u{6771}", "\u{6771}\u{4EAC}"), ("\u{430}", "\u{4B0}\u{3B0}"), ("a", "\u{561}"),
    // A letter before its mark, composed or not; half a syllable.
    ("e", "\u{E9}"), ("e", "e\u{301}"), ("x", "x\u{301}"), ("\u{304B}", "\u{304C}"),
    ("\u{304B}", "\u{FF76}\u{FF9E}"), ("\u{304B}", "\u{304B}\u{309A}"), ("\u{D558}", "\u{D55C}"),
    ("\u{1100}", "\u{AC00}"), ("\u{1100}", "\u{1100}\u{119E}"),
    // A mark alone is in no text that has it on a letter.
    ("\u{301}", "x\u{301}"), ("\u{301}", "\u{E9}"), ("\u{3099}", "\u{304B}\u{3099}"),
  ])
  func whatIsNotThereIsNotFound(search: String, text: String) throws {
    #expect(try !finds(search, in: text))
  }

  /// B80 and B83: in each form of a word every other one is found.
  @Test(.bug(id: "B80"), .bug(id: "B83"))
  func everyFormOfAWordFindsTheOthers() throws {
    let words = [
      "caf\u{E9}", "na\u{EF}ve", "\u{C5}ngstr\u{F6}m", "pi\u{F1}ata", "Vi\u{1EC7}t",
      "\u{10D}e\u{161}ka",
      "\u{419}\u{43E}\u{433}", "\u{391}\u{3CD}\u{3C1}\u{3B9}\u{3BF}", "\u{C7}a", "\u{D6}l",
      "\u{304C}\u{3063}\u{3053}\u{3046}", "\u{3071}\u{3093}", "\u{30D4}\u{30A2}\u{30CE}",
      "\u{30D6}\u{30EB}",
      "\u{30AE}\u{30BF}\u{30FC}", "\u{3056}\u{3063}\u{3057}", "\u{30F4}\u{30A1}", "\u{3065}",
      "\u{30DD}",
      "\u{D55C}\u{AE00}",
    ]
    for word in words {
      let forms = [
        word, word.decomposedStringWithCanonicalMapping, word.precomposedStringWithCanonicalMapping,
        word.uppercased(), word.decomposedStringWithCompatibilityMapping,
      ]
      for (search, text) in forms.flatMap({ form in forms.map { (form, $0) } }) {
        #expect(try matches(of: search, in: "a" + text + ".") == [text], "\(scalars(text))")
      }
    }
  }

  @Test func levelsTakeForTheSameWhatTheySay() throws {
    #expect(try finds("Milk", in: "Milk", .exact) && !finds("milk", in: "Milk", .exact))
    #expect(try !finds("e", in: "e\u{301}", .exact) && !finds("\u{E9}", in: "e\u{301}", .exact))
    #expect(try finds("cafe", in: "CAF\u{C9}", .withoutMarks) && !finds("cafe", in: "caf\u{E9}"))
    #expect(try finds("caf\u{E9}", in: "cafe", .withoutMarks))
    #expect(try matches(of: "fe", in: "Cafe\u{301}s", .withoutMarks) == ["fe\u{301}"])
    #expect(try !finds("\u{304B}", in: "\u{304C}", .withoutMarks))
  }

  @Test(arguments: [
    ("milk", "Milk, milk", ["Milk", "milk"]), ("f", "o\u{FB00}s f", ["\u{FB00}", "f"]),
    ("i n", "\u{FB01}nd", ["\u{FB01}", "n"]), ("aa", "aaaaa", ["aa", "aa"]),
    ("ab bc", "abc", ["abc"]), ("\u{E9}", "xe\u{301}y", ["e\u{301}"]),
    ("soft", "a so\u{AD}ft\u{AD} b", ["so\u{AD}ft\u{AD}"]),
    ("\u{304C}", "\u{FF76}\u{FF9E}\u{304C}", ["\u{FF76}\u{FF9E}", "\u{304C}"]),
    ("\u{D55C}", "\u{1112}\u{1161}\u{11AB}\u{AE00}", ["\u{1112}\u{1161}\u{11AB}"]),
    ("\u{5F0F}", "A\u{337F}B", ["\u{337F}"]), ("b", "A\u{337F}B", ["B"]),
    ("ss", "Stra\u{DF}e", ["\u{DF}"]),
    ("\u{2764}", "\u{2764}\u{FE0F}!", ["\u{2764}\u{FE0F}"]), ("x", "\u{200B}x", ["x"]),
    ("x", "\u{FB01}\u{301}x", ["x"]), ("f\u{ED}", "a\u{FB01}\u{301}x", ["\u{FB01}\u{301}"]),
    ("b", "\u{33A5}\u{30A}\u{301}b", ["b"]), ("", "milk", []), ("z", "milk", []),
  ])
  func rangesAreWholePiecesOfTheText(search: String, text: String, found: [String]) throws {
    let result = try matches(of: search, in: text)
    #expect(result.map(bytes) == found.map(bytes), "\(result.map(scalars))")
  }

  /// What follows a character that stands for several changes the last of them only.
  @Test func aMarkBehindALigatureBelongsToAllOfIt() throws {
    for count in 1...9 {
      let pieces = Array(repeating: "\u{FB01}\u{301}", count: count)
      let found = try matches(of: "f", in: pieces.joined(separator: "x"))
      #expect(found.map(bytes) == pieces.map(bytes), "\(count) of them")
    }
  }

  @Test func rangesHaveALimit() throws {
    let text = String(repeating: "a-", count: 5000)
    #expect(try matches(of: "a", in: text, limit: 7).count == 7)
    #expect(try matches(of: "a -", in: text, limit: 10_000).count == 10_000)
  }

  @Test func quotationMarksHoldAPartTogether() throws {
    for search in [
      "\"oat milk\"", "\u{201C}oat milk\u{201D}", "\u{201E}oat milk\u{201C}",
      "\u{FF02}oat milk\u{FF02}",
    ] {
      #expect(try finds(search, in: "Oat milk") && !finds(search, in: "milk, oat"), "\(search)")
    }
    #expect(try finds("\"a b\"c", in: "c a b") && !finds("\"a b\"c", in: "a b"))
    // Alone, inside a word, and around nothing.
    #expect(try finds("\"oat", in: "say \"oats\"") && !finds("\"oat", in: "oats"))
    #expect(try finds("5\"", in: "a 5\" disk") && !finds("5\"", in: "5"))
    #expect(try SearchQuery("\"\"").isEmpty && finds("\"\" milk", in: "milk"))
    // What Japanese texts put in corners is there with them.
    let corners = "\u{300C}\u{6771}\u{300D}"
    #expect(try finds(corners, in: "x\u{300C}\u{6771}\u{300D}") && !finds(corners, in: "\u{6771}"))
  }

  @Test func onlyWhatIsSearchedForTellsSearchesApart() throws {
    #expect(try SearchQuery(" Milk  oat ") == SearchQuery("oat\u{3000}MILK milk"))
    #expect(try SearchQuery("milk oat") != SearchQuery("milkoat"))
    #expect(try SearchQuery("\u{E9}") == SearchQuery("e\u{301}"))
    #expect(try SearchQuery("\u{E9}", folding: .exact) != SearchQuery("e\u{301}", folding: .exact))
    #expect(try SearchQuery("a") != SearchQuery("a", folding: .withoutMarks))
  }

  // MARK: - Hostile ones

  @Test func aSearchHasALimit() throws {
    let longest = String(repeating: "a", count: SearchQuery.maximumByteCount)
    #expect(try finds(longest, in: "b" + longest))
    let tooLong = [
      longest + "a", longest + " b", String(repeating: "a", count: 1 << 20),
      String(repeating: " ", count: 1 << 20), String(repeating: "\u{200B}", count: 1 << 20),
      String(repeating: "\u{301}", count: 1 << 20), String(repeating: "\u{FDFA}", count: 32),
    ]
    for search in tooLong {
      #expect(throws: SearchQuery.Refusal.tooLong) { try SearchQuery(search) }
    }
    let parts = (0..<SearchQuery.maximumPartCount).map { "p\($0)" }
    #expect(try finds(parts.joined(separator: " "), in: parts.reversed().joined()))
    #expect(throws: SearchQuery.Refusal.tooManyParts) {
      try SearchQuery((parts + ["q"]).joined(separator: "\t"))
    }
    #expect(try !SearchQuery(Array(repeating: "same", count: 200).joined(separator: " ")).isEmpty)
  }

  @Test(arguments: ["\u{200B}", "\u{AD}\u{FE0F}", "\u{E0020}", "\u{3164}"])
  func whatFoldsToNothingFindsEverything(search: String) throws {
    #expect(try SearchQuery(search).isEmpty)
    #expect(try !SearchQuery(search, folding: .exact).isEmpty)
  }

  /// Text and search that repeat themselves, so that every place looks like a match.
  ///
  /// In a release build each takes milliseconds; were it quadratic, minutes in a debug build.
  @Test(arguments: [
    (String(repeating: "a", count: 1000) + "b", "a", 1_000_000),
    ("b" + String(repeating: "a", count: 1000), "a", 1_000_000),
    (String(repeating: "ab", count: 500) + "b", "ab", 500_000),
    (String(repeating: "x\u{301}", count: 300) + "x", "x\u{301}", 300_000),
    ("e", "e\u{301}\u{323}", 100_000), ("e", "\u{323}\u{301}", 200_000),
    ("\u{1161}\u{302}", "\u{1161}\u{301}\u{323}", 100_000),
  ])
  func hostileTextsTakeNoTime(search: String, piece: String, count: Int) throws {
    let text = String(repeating: piece, count: count)
    #expect(try !finds(search, in: text))
    // At the end it is there.
    #expect(try matches(of: "q" + search, in: text + "q" + search).count == 1)
  }
}
