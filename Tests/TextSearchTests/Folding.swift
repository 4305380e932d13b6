import Foundation
import KVTestSupport
import TextSearch

/// The folded form of a text.
func folded(_ text: String, _ folding: TextFolding = .standard) -> String {
  var folded = FoldedText()
  guard text.withBytes({ folded.fold($0, folding, isMapped: false) }) else { return "no UTF-8" }
  return folded.withBytes { bytes in
    bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}

/// Whether a search finds a text.
func finds(
  _ search: String, in text: String, _ folding: TextFolding = .standard
) throws -> Bool {
  var folded = FoldedText()
  return try SearchQuery(search, folding: folding).finds(text, folded: &folded)
}

/// What a search finds in a text, piece by piece.
func matches(
  of search: String, in text: String, _ folding: TextFolding = .standard, limit: Int = 1000
) throws -> [String] {
  var folded = FoldedText()
  let bytes = Array(text.utf8)
  return try SearchQuery(search, folding: folding)
    .ranges(in: text, folded: &folded, limit: limit)
    .map { String(decoding: bytes[$0], as: UTF8.self) }
}

/// Strings are compared by their bytes: canonically equivalent ones would be equal.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The scalars of a text, to read in a message.
func scalars(_ text: String) -> String {
  text.unicodeScalars.prefix(40).map { String($0.value, radix: 16) }.joined(separator: " ")
}

/// Characters in which forms differ.
///
/// Without U+1176: Foundation composes it to syllables, which Unicode does not.
enum OddText {
  static let ranges: [ClosedRange<UInt32>] = [
    0x20...0x7E, 0xA0...0x24F, 0x300...0x362, 0x370...0x3FF, 0x5D0...0x5EA, 0x5B0...0x5BD,
    0x622...0x652, 0x915...0x94D, 0x9BE...0x9D7, 0xE01...0xE4E, 0x1100...0x1112, 0x1160...0x1175,
    0x1177...0x1178,
    0x11A8...0x11C4, 0x1E00...0x1EFF, 0x1F00...0x1FFE, 0x200B...0x200F, 0x2070...0x2090,
    0x20D0...0x20F0, 0x2100...0x2138, 0x3041...0x30FF, 0x3300...0x33FF, 0x4E00...0x4E10,
    0xAC00...0xAC40, 0xF900...0xF910, 0xFB00...0xFB4E, 0xFE00...0xFE0F, 0xFF01...0xFFDC,
    0x1D15E...0x1D16F, 0x1D400...0x1D420, 0x1109A...0x110BA, 0x2F800...0x2F810, 0xE0020...0xE0030,
  ]

  /// A text of up to so many of them, of few ranges, so that they meet.
  static func random(_ limit: Int, _ generator: inout SeededGenerator) -> String {
    let some = (0..<3).compactMap { _ in ranges.randomElement(using: &generator) }
    let scalars = (0..<Int.random(in: 0...limit, using: &generator)).compactMap { _ in
      some.randomElement(using: &generator).flatMap { range in
        Unicode.Scalar(UInt32.random(in: range, using: &generator))
      }
    }
    return FoldingOracle.string(scalars.filter(isOld))
  }

  /// Whether both our tables and Swift's know a character.
  static func isOld(_ scalar: Unicode.Scalar) -> Bool {
    guard let age = scalar.properties.age else { return false }
    return age.major < 15 || age.major == 15 && age.minor == 0
  }
}
