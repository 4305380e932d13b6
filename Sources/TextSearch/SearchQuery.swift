/// What a text has to hold to be found.
///
/// Parts that are separated by white space have to be there all, in any order, as substrings, from
/// one character on, in any script. A part between double quotation marks may have white space.
package struct SearchQuery: Sendable, Hashable {
  /// The most bytes of UTF-8 that the folded parts may have together.
  package static let maximumByteCount = 1024
  /// The most parts.
  package static let maximumPartCount = 32
  /// What is refused without a look into it: characters that fold to nothing are no excuse.
  private static let maximumTypedByteCount = 16 * maximumByteCount

  /// Why a search is refused.
  package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong
    case tooManyParts

    /// Reads on after "the search".
    package var description: String {
      switch self {
      case .tooLong: "has more than \(maximumByteCount) bytes"
      case .tooManyParts: "has more than \(maximumPartCount) parts"
      }
    }
  }

  /// What is taken for the same.
  package let folding: TextFolding
  /// The longest first: it is the one that is missing most often.
  private let parts: [SearchPart]

  /// Takes a search apart.
  ///
  /// - Parameters:
  ///   - text: What a user typed. Any white space of Unicode separates; quotation marks of any kind
  ///     but corner brackets, which are part of what Japanese texts say, hold a part together; one
  ///     that nothing closes stands for itself.
  ///   - folding: What is taken for the same. Default: case, width, kana and normal form.
  /// - Throws: ``Refusal`` for a search that is too large.
  package init(_ text: String, folding: TextFolding = .standard) throws(Refusal) {
    self.folding = folding
    if text.isEmpty {
      parts = []
      return
    }
    guard text.utf8.count <= Self.maximumTypedByteCount else { throw .tooLong }
    var folded = FoldedText()
    var parts: [SearchPart] = []
    var byteCount = 0
    for piece in Self.pieces(of: text) {
      let bytes = String(piece).withBytes { bytes in
        _ = folded.fold(bytes, folding, isMapped: false)
        return folded.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
      }
      byteCount += bytes.count
      guard byteCount <= Self.maximumByteCount else { throw .tooLong }
      guard !bytes.isEmpty, !parts.contains(where: { $0.bytes == bytes }) else { continue }
      parts.append(SearchPart(bytes))
      guard parts.count <= Self.maximumPartCount else { throw .tooManyParts }
    }
    self.parts = parts.sorted { left, right in
      left.bytes.count == right.bytes.count
        ? left.bytes.lexicographicallyPrecedes(right.bytes) : left.bytes.count > right.bytes.count
    }
  }

  /// Whether every text is found.
  package var isEmpty: Bool { parts.isEmpty }

  /// Whether a text is found.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - folded: Where the text is folded.
  /// - Returns: `nil` when the text is not UTF-8.
  /// - Complexity: O(bytes of the text) for each part.
  package func finds(_ text: RawSpan, folded: inout FoldedText) -> Bool? {
    if parts.isEmpty { return true }
    // What has to be there as it is needs no copy.
    if folding == .exact { return holdsParts(text) }
    guard folded.fold(text, folding, isMapped: false) else { return nil }
    return folded.withBytes(holdsParts)
  }

  /// Whether a text is found.
  package func finds(_ text: String, folded: inout FoldedText) -> Bool {
    if parts.isEmpty { return true }
    return text.withBytes { finds($0, folded: &folded) } ?? false
  }

  private func holdsParts(_ text: RawSpan) -> Bool {
    parts.allSatisfy { $0.firstMatch(in: text, from: 0) != nil }
  }

  /// Where a text has the parts.
  ///
  /// - Parameters:
  ///   - text: A text that is found.
  ///   - folded: Where the text is folded.
  ///   - limit: At most so many of each part.
  /// - Returns: Offsets of its UTF-8, in order, none over another; each has whole scalars.
  /// - Complexity: O(bytes of the text) for each part, and O(*n* log *n*) for *n* matches.
  package func ranges(
    in text: String, folded: inout FoldedText, limit: Int
  ) -> [Range<Int>] {
    guard !parts.isEmpty, text.withBytes({ folded.fold($0, folding, isMapped: true) })
    else { return [] }
    var found: [Range<Int>] = []
    for part in parts {
      let matches = folded.withBytes { bytes in
        var matches: [Range<Int>] = []
        while matches.count < limit,
          let match = part.firstMatch(in: bytes, from: matches.last?.upperBound ?? 0)
        {
          matches.append(match)
        }
        return matches
      }
      for match in matches { found.append(folded.originalRange(of: match)) }
    }
    found.sort { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
    var ranges: [Range<Int>] = []
    for range in found {
      if let last = ranges.last, range.lowerBound < last.upperBound {
        let upper = max(last.upperBound, range.upperBound)
        ranges[ranges.count - 1] = last.lowerBound..<upper
      } else {
        ranges.append(range)
      }
    }
    return Array(ranges.prefix(limit))
  }

  // MARK: - Taking apart

  private static func pieces(of text: String) -> [Substring.UnicodeScalarView] {
    var pieces: [Substring.UnicodeScalarView] = []
    var rest = text.unicodeScalars[...]
    while let first = rest.first {
      if first.properties.isWhitespace {
        rest.removeFirst()
        continue
      }
      if isQuotationMark(first), let end = rest.dropFirst().firstIndex(where: isQuotationMark) {
        pieces.append(rest[rest.startIndex..<end].dropFirst())
        rest = rest[end...].dropFirst()
        continue
      }
      let end = rest.firstIndex(where: \.properties.isWhitespace) ?? rest.endIndex
      pieces.append(rest[..<end])
      rest = rest[end...]
    }
    return pieces
  }

  /// Whether a scalar opens and closes a part: `"`, its full width, and those that text processors
  /// and keyboards make of it.
  private static func isQuotationMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x22, 0xFF02, 0x201C...0x201F: true
    default: false
    }
  }
}
