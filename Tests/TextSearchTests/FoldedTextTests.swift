import Foundation
import KVTestSupport
import Testing

@testable import TextSearch

/// Folding against what Swift and Foundation know of Unicode.
@Suite struct FoldedTextTests {
  @Test func everyScalarIsFoldedAsUnicodeSays() {
    var count = 0
    var wrong: [String] = []
    for value in 0..<0x110000 as Range<UInt32> {
      guard let scalar = Unicode.Scalar(value), OddText.isOld(scalar) else { continue }
      // Most ideographs stand for themselves.
      guard value < 0x3400 || value % 16 == 3 || Thoroughness.isLarge else { continue }
      count += 1
      let text = String(scalar)
      let expected = FoldingOracle.folded(text)
      if bytes(folded(text)) != bytes(expected) {
        wrong.append("\(scalars(text)): \(scalars(folded(text))), not \(scalars(expected))")
      }
    }
    #expect(wrong == [])
    #expect(count > (Thoroughness.isLarge ? 140_000 : 20_000))
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func allFormsOfATextAreFoldedToOne(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<Thoroughness.count(quick: 300, push: 1500, nightly: 30_000) {
      let text = OddText.random(12, &generator)
      let note = "seed \(seed), round \(round): \(scalars(text))"
      let expected = FoldingOracle.folded(text)
      #expect(scalars(folded(text)) == scalars(expected), "\(note)")
      for form in [
        text.decomposedStringWithCanonicalMapping, text.precomposedStringWithCanonicalMapping,
      ] {
        for folding in [TextFolding.standard, .withoutMarks] {
          let result = folded(text, folding)
          #expect(bytes(folded(form, folding)) == bytes(result), "\(note)")
          #expect(bytes(folded(result, folding)) == bytes(result), "again, \(note)")
        }
      }
      #expect(bytes(folded(text, .exact)) == bytes(text), "\(note)")
    }
  }

  /// Whatever is before a text, its folded form does not depend on how it was reached.
  @Test func aBufferIsAsGoodAsNew() {
    var generator = SeededGenerator(seed: 1)
    var buffer = FoldedText()
    for _ in 0..<200 {
      let count = generator.coin() ? 10 : 2000
      let text = OddText.random(count, &generator)
      #expect(text.withBytes { buffer.fold($0, .standard, isMapped: generator.coin()) })
      let result = buffer.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
      #expect(result == bytes(folded(text)), "\(scalars(text))")
    }
  }

  @Test(arguments: [
    ("\u{FB01}", "fi"), ("STRASSE", "stra\u{DF}e"), ("\u{FF35}\u{FF33}\u{FF22}", "usb"),
    ("\u{30AB}\u{3099}", "\u{304C}"), ("\u{FF76}\u{FF9E}", "\u{304C}"),
    ("\u{304B}\u{309B}", "\u{304C}"),
    ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("e\u{301}\u{323}", "e\u{323}\u{301}"),
    ("so\u{AD}ft", "soft"), ("\u{1FB3}\u{301}", "\u{1FB4}"), ("\u{3A3}", "\u{3C2}"),
    ("\u{337F}", "\u{682A}\u{5F0F}\u{4F1A}\u{793E}"), ("\u{30F7}", "\u{308F}\u{3099}"),
    ("a\u{345}\u{301}", "a\u{301}\u{345}"), ("\u{212B}", "\u{E5}"), ("\u{3000}", " "),
  ])
  func formsOfATextAreTheSame(left: String, right: String) {
    #expect(bytes(folded(left)) == bytes(folded(right)))
  }

  @Test(arguments: [
    ("caf\u{E9}", "cafe"), ("\u{419}", "\u{438}"), ("\u{1EC7}", "e"), ("x\u{301}\u{20DD}", "x"),
    // Points of Hebrew and Arabic.
    ("\u{5E9}\u{5B8}\u{5DC}", "\u{5E9}\u{5DC}"), ("\u{643}\u{64E}", "\u{643}"),
    ("\u{1FB3}", "\u{3B1}"),
    // Another letter: ga, a vowel of Hindi, and one of Thai.
    ("\u{304C}", "\u{30AC}"), ("\u{304B}\u{3099}", "\u{30AC}"),
    ("\u{915}\u{93F}", "\u{915}\u{93F}"),
    ("\u{E01}\u{E38}", "\u{E01}\u{E38}"), ("\u{D55C}", "\u{D55C}"), ("\u{F8}", "\u{F8}"),
  ])
  func marksAreLeftOutButThoseThatMakeALetter(text: String, result: String) {
    #expect(scalars(folded(text, .withoutMarks)) == scalars(result))
  }

  @Test(
    arguments: [
      [0x80], [0xC3], [0x61, 0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE3, 0x81],
      [0xF4, 0x90, 0x80, 0x80],
      [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80], [0x65, 0xCC, 0x81, 0xFF], [0xE3, 0x81, 0x41],
      [0xF8, 0x88, 0x80, 0x80],
    ] as [[UInt8]])
  func whatIsNotUTF8IsRefused(text: [UInt8]) {
    for folding in [TextFolding.standard, .withoutMarks] {
      var buffer = FoldedText()
      #expect(!text.withBytes { buffer.fold($0, folding, isMapped: true) })
    }
  }

  /// No number leads out of the tables.
  @Test func everyNumberHasAnEntry() {
    for value in [0x10FFFF, 0x110000, 0xD800, 0x2FA1F, 0x2FA20, 0x1FFFF, 0x20000, UInt32.max] {
      let entry = FoldingEntry(value)
      #expect(entry.isPlain || entry.expansion.byteCount < 64)
    }
  }
}
