internal import CTextTables

/// What a scalar is folded to, as the tables say.
struct FoldingEntry {
  private let value: UInt16

  @inline(__always)
  init(_ scalar: UInt32) {
    value = ctext_entry(scalar)
  }

  /// Whether the scalar stands for itself, whatever is before and behind it.
  @inline(__always)
  var isPlain: Bool { value == 0 }

  /// Whether it stands for one scalar, which ``record`` says.
  @inline(__always)
  var isSingle: Bool { value < CTEXT_FIRST_POOLED }

  /// What is known of the one scalar.
  @inline(__always)
  var record: FoldingRecord { FoldingRecord(bits: ctext_record(value)) }

  /// What it stands for, when that is not one scalar; or one that no other is folded to alike.
  @inline(__always)
  var expansion: FoldingExpansion {
    let place = UInt32(value) &- UInt32(CTEXT_FIRST_POOLED)
    return FoldingExpansion(place: place, head: ctext_pool_byte(place))
  }

  /// Whether what it stands for may change together with what is before it.
  @inline(__always)
  var joins: Bool { isSingle ? record.joins : expansion.joins }

  /// Whether a match must not end before it: see ``SearchPart``.
  var attaches: Bool {
    isSingle ? record.attaches : expansion.joins && expansion.byteCount > 0
  }
}

/// A scalar that stands for one scalar.
struct FoldingRecord {
  let bits: UInt32

  /// The canonical combining class of the folded scalar.
  @inline(__always)
  var combiningClass: UInt8 { UInt8(truncatingIfNeeded: bits) }
  @inline(__always)
  var joins: Bool { bits & 1 << 8 != 0 }
  @inline(__always)
  var attaches: Bool { bits & 1 << 9 != 0 }
  /// Whether it is left out where marks are.
  @inline(__always)
  var isMark: Bool { bits & 1 << 10 != 0 }

  /// The folded scalar.
  @inline(__always)
  func target(of scalar: UInt32) -> UInt32 {
    scalar &+ UInt32(bitPattern: Int32(bitPattern: bits) >> 11)
  }
}

/// Some scalars, or none, that one stands for.
struct FoldingExpansion {
  fileprivate let place: UInt32
  fileprivate let head: UInt8

  @inline(__always)
  var byteCount: Int { Int(head & 0x3F) }
  /// Whether its marks have no place yet.
  @inline(__always)
  var isUnordered: Bool { head & 0x40 != 0 }
  @inline(__always)
  var joins: Bool { head & 0x80 != 0 }

  /// A byte of its UTF-8.
  @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    ctext_pool_byte(place &+ 1 &+ UInt32(truncatingIfNeeded: offset))
  }
}

/// Canonical composition: what two scalars make together.
enum CanonicalPair {
  private static let hangul = UInt32(0xAC00)..<0xD7A4
  private static let leading = UInt32(0x1100)
  private static let vowel = UInt32(0x1161)
  /// One before the first trailing consonant.
  private static let trailing = UInt32(0x11A7)

  /// The scalar that two make; `nil` for none.
  static func whole(_ first: UInt32, _ second: UInt32) -> UInt32? {
    if first >= leading, first < leading + 19, second >= vowel, second < vowel + 21 {
      return hangul.lowerBound + ((first - leading) * 21 + second - vowel) * 28
    }
    if hangul.contains(first), (first - hangul.lowerBound) % 28 == 0, second > trailing,
      second < trailing + 28
    {
      return first + second - trailing
    }
    var range = 0..<UInt32(CTEXT_PAIR_COUNT)
    while !range.isEmpty {
      let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
      let pair = ctext_pair_at(middle)
      if (pair.second, pair.first) == (second, first) { return pair.whole }
      if (pair.second, pair.first) < (second, first) {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return nil
  }

  /// The two scalars that make one; `nil` for a scalar that is not composed.
  static func parts(of whole: UInt32) -> (first: UInt32, second: UInt32)? {
    if hangul.contains(whole) {
      let index = whole - hangul.lowerBound
      if index % 28 != 0 { return (whole - index % 28, trailing + index % 28) }
      return (leading + index / 588, vowel + index % 588 / 28)
    }
    // The first one that is composed.
    guard whole >= 0xC0 else { return nil }
    var range = 0..<UInt32(CTEXT_PAIR_COUNT)
    while !range.isEmpty {
      let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
      let pair = ctext_pair_by_whole_at(middle)
      if pair.whole == whole { return (pair.first, pair.second) }
      if pair.whole < whole {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return nil
  }
}
