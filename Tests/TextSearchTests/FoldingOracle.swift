import Foundation

/// Folding made of what Swift and Foundation know of Unicode: slow, and without our tables.
enum FoldingOracle {
  /// The folded form at the standard level.
  static func folded(_ text: String) -> String {
    let voiced = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar == "\u{309B}" ? "\u{3099}" : scalar == "\u{309C}" ? "\u{309A}" : scalar
    }
    var result = string(voiced)
    while true {
      let decomposed = result.decomposedStringWithCompatibilityMapping
      let next = string(
        decomposed.unicodeScalars.flatMap { scalar in
          isIgnorable(scalar) ? [] : Array(caseFolded(scalar).unicodeScalars.map(katakana))
        }
      ).decomposedStringWithCompatibilityMapping
      if next.utf8.elementsEqual(result.utf8) { break }
      result = next
    }
    let letters = result.unicodeScalars.map { $0 == "\u{345}" ? "\u{3B9}" : $0 }
    return string(letters).precomposedStringWithCanonicalMapping
  }

  /// Whether folding leaves a character out.
  static func isIgnorable(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isDefaultIgnorableCodePoint
  }

  /// Whether a mark belongs to the letter before it.
  static func attaches(_ scalar: Unicode.Scalar) -> Bool {
    let number = scalar.properties.canonicalCombiningClass.rawValue
    let value = scalar.value
    let isJamo = (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FB).contains(value)
    return isJamo || [1, 7, 8].contains(number) || number >= 200
  }

  static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  /// Case folding by way of the capital letter.
  private static func caseFolded(_ scalar: Unicode.Scalar) -> String {
    switch scalar.value {
    // Not the small letter of I; iota subscript gets its place first.
    case 0x131, 0x345: String(scalar)
    // Cherokee folds to its capitals, which were there first.
    case 0x13A0...0x13FF, 0xAB70...0xABBF: scalar.properties.uppercaseMapping
    default:
      scalar.properties.uppercaseMapping.unicodeScalars.map(\.properties.lowercaseMapping).joined()
    }
  }

  /// Katakana for hiragana.
  private static func katakana(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let distance: UInt32
    switch scalar.value {
    case 0x3041...0x3096, 0x309D, 0x309E: distance = 0x60
    case 0x1B001: distance = 0x120
    case 0x1B11F: distance = 3
    case 0x1B132: distance = 0x23
    case 0x1B150...0x1B152: distance = 0x14
    default: return scalar
    }
    return Unicode.Scalar(scalar.value + distance) ?? scalar
  }
}
