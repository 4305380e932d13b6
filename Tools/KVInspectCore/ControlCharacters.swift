extension Unicode.Scalar {
  /// Whether a terminal or a reader may act on this character instead of showing it: C0 controls,
  /// DEL, C1 controls, line and paragraph separators, what changes the direction of text, and the
  /// byte order mark, which some JSON readers drop.
  ///
  /// Escape sequences in a memo could otherwise move the cursor or rename the window, and direction
  /// marks could show other text than is there (Boucher and Anderson, "Trojan Source", 2021).
  var isControlling: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x2028, 0x2029: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    case 0xFEFF: true
    default: false
    }
  }
}

extension Array<UInt8> {
  /// Appends an ASCII or other text as UTF-8.
  mutating func append(text: String) {
    append(contentsOf: text.utf8)
  }
}
