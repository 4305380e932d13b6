/// A folded text that is looked for in others.
///
/// A match begins where a folded character begins and ends where one ends. So it never ends before
/// a mark that belongs to its last letter: one that could be composed with a letter, whether or not
/// the two have a composed form, and one that makes the syllable of Hangul longer. And it begins
/// with such a mark only where a text does. Where one character of the text stands for several, a
/// match may have some of them.
///
/// A class, since what looks for it holds it for each text anew: that is to be one count, not two.
final class SearchPart: Sendable, Hashable {
  let bytes: [UInt8]
  private let beginsWithMark: Bool
  /// The places of the two bytes that are rarest in most texts; the same in a part of one byte.
  private let first: Int
  private let second: Int
  /// For each length of a beginning, that of the longest shorter one with which it ends.
  private let borders: [UInt16]

  /// Makes a part.
  ///
  /// - Parameter bytes: UTF-8, at most ``SearchQuery/maximumByteCount``; not empty.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    beginsWithMark = bytes.withBytes { Self.isMark(at: 0, in: $0) }
    let order = bytes.indices.sorted { Self.frequency(bytes[$0]) < Self.frequency(bytes[$1]) }
    first = order.first ?? 0
    second = order.count > 1 ? order[1] : first
    var borders: [UInt16] = [0]
    var border = 0
    for byte in bytes.dropFirst() {
      while border > 0, bytes[border] != byte { border = Int(borders[border - 1]) }
      if bytes[border] == byte { border += 1 }
      borders.append(UInt16(truncatingIfNeeded: border))
    }
    self.borders = borders
  }

  static func == (left: SearchPart, right: SearchPart) -> Bool { left.bytes == right.bytes }

  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The first match that does not begin before an offset.
  ///
  /// - Complexity: O(bytes of the text), whatever the two are.
  func firstMatch(in text: RawSpan, from start: Int) -> Range<Int>? {
    bytes.withBytes { part -> Range<Int>? in
      let place = firstPlace(of: part, in: text, from: start)
      return place.map { $0..<$0 + part.byteCount }
    }
  }

  /// Looks for the two rarest bytes at their distance, eight places at once, and compares there.
  ///
  /// Comparing at too many places costs more than it may; then ``firstPlaceByBorders(_:_:_:)`` goes
  /// on.
  private func firstPlace(of part: RawSpan, in text: RawSpan, from start: Int) -> Int? {
    let end = text.byteCount - part.byteCount + 1
    var place = start
    var budget = 1024
    let firstBytes = UInt64(part.byte(at: first)) &* 0x0101_0101_0101_0101
    let secondBytes = UInt64(part.byte(at: second)) &* 0x0101_0101_0101_0101
    while place + 8 <= end {
      // A byte of zeros where both are there; those behind the first such may be none. Eight bytes
      // from each of the last eight places on are in the text, since all of the part is.
      let difference =
        unsafe (text.uncheckedWord(at: place + first) ^ firstBytes)
        | (text.uncheckedWord(at: place + second) ^ secondBytes)
      var zeros =
        (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
      while zeros != 0 {
        let found = place + zeros.trailingZeroBitCount / 8
        if isMatch(at: found, of: part, in: text) { return found }
        budget -= part.byteCount
        zeros &= zeros &- 1
      }
      if budget < 0 { return firstPlaceByBorders(of: part, in: text, from: place + 8) }
      budget += 16
      place += 8
    }
    while place < end {
      if text.byte(at: place + first) == part.byte(at: first),
        isMatch(at: place, of: part, in: text)
      {
        return place
      }
      place += 1
    }
    return nil
  }

  private func isMatch(at place: Int, of part: RawSpan, in text: RawSpan) -> Bool {
    text.hasSameBytes(at: place, as: part) && isWhole(at: place, in: text)
  }

  /// Whether bytes that are those of the part are whole characters.
  private func isWhole(at place: Int, in text: RawSpan) -> Bool {
    (!beginsWithMark || place == 0) && !Self.isMark(at: place + bytes.count, in: text)
  }

  /// Looks at each byte of the text once (Knuth, Morris and Pratt, 1977).
  private func firstPlaceByBorders(
    of part: RawSpan, in text: RawSpan, from start: Int
  ) -> Int? {
    var matched = 0
    for offset in start..<max(start, text.byteCount) {
      let byte = text.byte(at: offset)
      while matched > 0, part.byte(at: matched) != byte { matched = Int(borders[matched - 1]) }
      if part.byte(at: matched) == byte { matched += 1 }
      guard matched == part.byteCount else { continue }
      let place = offset + 1 - matched
      if isWhole(at: place, in: text) { return place }
      matched = Int(borders[matched - 1])
    }
    return nil
  }

  /// Whether a mark is at an offset that belongs to the letter before.
  private static func isMark(at offset: Int, in text: RawSpan) -> Bool {
    // The first bytes of all marks.
    guard offset < text.byteCount, text.byte(at: offset) >= 0xCC,
      let (scalar, _) = text.scalar(at: offset)
    else { return false }
    return FoldingEntry(scalar).attaches
  }

  /// How often a byte is in texts, more or less; its place among the bytes matters, not the number.
  private static func frequency(_ byte: UInt8) -> Int {
    switch byte {
    // What kana begin with, and what follows it.
    case 0xE3: 9
    case 0x81...0x83: 8
    case UInt8(ascii: " "), UInt8(ascii: "e"): 7
    case UInt8(ascii: "a"), UInt8(ascii: "i"), UInt8(ascii: "n"), UInt8(ascii: "o"),
      UInt8(ascii: "r"), UInt8(ascii: "s"), UInt8(ascii: "t"):
      6
    case UInt8(ascii: "a")...UInt8(ascii: "z"): 4
    case 0xE4...0xE9: 3
    case 0x80...0xBF: 2
    default: 1
    }
  }
}
