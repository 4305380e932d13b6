import KVTestSupport
import Testing

@testable import TextSearch

/// Looking for one part, against a look at every place.
@Suite struct SearchPartTests {
  /// Texts that repeat themselves: most places look like a match, and many matches are none.
  @Test(arguments: 0..<10 as Range<UInt64>)
  func theFirstMatchIsThatOfALookAtEveryPlace(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let letters: [Unicode.Scalar] = ["x", "\u{301}", "a", "b"]
    func random(_ count: Int, of kinds: Int) -> [Unicode.Scalar] {
      (0..<count).map { _ in letters[Int.random(in: 0..<kinds, using: &generator)] }
    }
    for round in 0..<Thoroughness.count(quick: 100, push: 1000, nightly: 10_000) {
      let kinds = Int.random(in: 1...4, using: &generator)
      let piece = random(Int.random(in: 1...5, using: &generator), of: kinds)
      let count = Int.random(in: 1...200, using: &generator)
      let scalars =
        Array(repeatElement(piece, count: count).joined())
        + random(Int.random(in: 0...9, using: &generator), of: kinds)
      let text = bytes(FoldingOracle.string(scalars))
      let length = Int.random(in: 1...min(90, scalars.count), using: &generator)
      let offset = Int.random(in: 0...scalars.count - length, using: &generator)
      let tail = random(Int.random(in: 0...1, using: &generator), of: kinds)
      let part = bytes(FoldingOracle.string(scalars[offset..<offset + length] + tail))
      let start = Int.random(in: 0...text.count, using: &generator)
      let found = text.withBytes { SearchPart(part).firstMatch(in: $0, from: start)?.lowerBound }
      #expect(found == Self.place(of: part, in: text, from: start), "seed \(seed), round \(round)")
    }
  }

  /// The only mark here begins with 0xCC.
  private static func place(of part: [UInt8], in text: [UInt8], from start: Int) -> Int? {
    (start..<max(start, text.count - part.count + 1)).first { place in
      let end = place + part.count
      return text[place..<end].elementsEqual(part) && (part[0] != 0xCC || place == 0)
        && (end == text.count || text[end] != 0xCC)
    }
  }
}
