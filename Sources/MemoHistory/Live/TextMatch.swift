/// What a text has to hold to be found by a search.
///
/// A search is cut at blanks, and a text is found when it holds every part, as a substring, from
/// one character on, in any script. Both sides are folded to lower case by Unicode's mappings and
/// compared by their UTF-8; no other forms of a character are taken for the same.
struct TextMatch: Sendable, Hashable {
  /// Folded; never empty ones.
  private let parts: [[UInt8]]

  /// Takes a search apart.
  ///
  /// - Parameter search: What a user typed; any white space of Unicode separates, also that of
  ///   Japanese keyboards.
  init(_ search: String) {
    parts = search.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
      .map { Self.folded(String($0)) }
  }

  /// Whether every text is found.
  var isEmpty: Bool { parts.isEmpty }

  /// Whether a text is found.
  ///
  /// - Complexity: O(bytes of the text) for each part, unless the text repeats its beginning.
  func finds(_ text: String) -> Bool {
    if parts.isEmpty { return true }
    let text = Self.folded(text)
    return parts.allSatisfy { Self.isPart($0, of: text) }
  }

  private static func folded(_ text: String) -> [UInt8] { Array(text.lowercased().utf8) }

  /// Whether bytes stand somewhere in others; never in the middle of a character of UTF-8, since
  /// its first byte says that it is one.
  private static func isPart(_ part: [UInt8], of text: [UInt8]) -> Bool {
    guard let first = part.first, part.count <= text.count else { return false }
    return (0...text.count - part.count).contains { start in
      text[start] == first && part.indices.allSatisfy { text[start + $0] == part[$0] }
    }
  }
}
