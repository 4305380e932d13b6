/// Text for people on a terminal: one line, and nothing in it that a terminal would obey.
package enum TerminalText {
  /// What stands for the rest of a text that was cut.
  private static let ellipsis = "\u{2026}"
  /// Scalars shown of one character in a text that may be cut.
  ///
  /// A letter with thousands of marks is one character too; proper text has at most 30 of them
  /// (Unicode annex 15, stream-safe text).
  private static let characterScalarCount = 32

  /// Appends a text with controlling characters as visible escapes, such as `\n` and `\u{1B}`.
  ///
  /// A backslash of the text stays as it is: the result is for reading, JSON is for programs.
  ///
  /// - Parameters:
  ///   - text: Any text.
  ///   - limit: The most characters to append, an ellipsis included; at least 1. A character and
  ///     its combining marks stay together, but of thousands of marks most are left out. `nil`
  ///     appends all.
  ///   - output: Where the UTF-8 goes.
  /// - Complexity: O(bytes appended), not of the whole text.
  package static func append(_ text: String, limit: Int? = nil, to output: inout [UInt8]) {
    guard let limit else { return appendAll(text, to: &output) }
    if appendPlain(text, limit: limit, to: &output) { return }
    var count = 0
    // Where the text is cut when more follows than fits: behind at most `limit - 1` characters.
    var cut = output.count
    for character in text {
      count += appendVisible(character, to: &output)
      if count > limit {
        output.removeSubrange(cut...)
        output.append(text: ellipsis)
        return
      }
      if count < limit { cut = output.count }
    }
  }

  /// The same as a string.
  package static func visible(_ text: String, limit: Int? = nil) -> String {
    var output: [UInt8] = []
    append(text, limit: limit, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends a whole text.
  ///
  /// Where characters end does not matter then: looking for that took ten times as long as
  /// everything else of printing 200 memos.
  private static func appendAll(_ text: String, to output: inout [UInt8]) {
    let bytes = Array(text.utf8)
    // Stretches of plain bytes are copied as one.
    var start = 0
    for offset in bytes.indices where !isPlain(bytes[offset]) {
      if bytes[offset] >= 0x80 {
        output.append(contentsOf: bytes[start..<offset])
        let rest = String(decoding: bytes[offset...], as: UTF8.self)
        for scalar in rest.unicodeScalars { append(scalar, to: &output) }
        return
      }
      output.append(contentsOf: bytes[start..<offset])
      append(Unicode.Scalar(bytes[offset]), to: &output)
      start = offset + 1
    }
    output.append(contentsOf: bytes[start...])
  }

  private static func append(_ scalar: Unicode.Scalar, to output: inout [UInt8]) {
    if scalar.isControlling {
      output.append(text: escape(scalar))
    } else {
      output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
  }

  /// Appends a text of printable ASCII, which most are, without looking for character borders.
  ///
  /// - Returns: Whether the text was appended; if not, nothing was.
  private static func appendPlain(
    _ text: String, limit: Int, to output: inout [UInt8]
  ) -> Bool {
    let bytes = text.utf8
    guard bytes.count > limit else {
      guard bytes.allSatisfy(isPlain) else { return false }
      output.append(contentsOf: bytes)
      return true
    }
    // So many plain bytes are so many characters, whatever marks follow the last one.
    guard bytes.prefix(limit + 1).allSatisfy(isPlain) else { return false }
    output.append(contentsOf: bytes.prefix(limit - 1))
    output.append(text: ellipsis)
    return true
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F
  }

  /// Appends one character of a text that may be cut.
  ///
  /// - Returns: How many characters it takes on the screen's line, an escape counting as its
  ///   length.
  private static func appendVisible(
    _ character: Character, to output: inout [UInt8]
  ) -> Int {
    var count = 0
    var hasShown = false
    for scalar in character.unicodeScalars.prefix(characterScalarCount) {
      if scalar.isControlling {
        let escape = escape(scalar)
        output.append(text: escape)
        count += escape.utf8.count
      } else {
        output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        hasShown = true
      }
    }
    return hasShown ? count + 1 : count
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
}
