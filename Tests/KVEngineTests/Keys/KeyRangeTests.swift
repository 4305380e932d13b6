import Testing

@testable import KVEngine

/// Ranges of keys as bounds of internal keys.
@Suite struct KeyRangeTests {
  private static let keys: [[UInt8]] =
    [[0], [1], [0x7F], [0x80], [0xFE], [0xFF]]
    + [0, 0x61, 0xFF].flatMap { first in [0, 0x61, 0xFF].map { [first, $0] } }
    + [[0x61, 0xFF, 0xFF], [0x61, 0xFF, 0xFF, 1], [0xFF, 0xFF, 0xFF]]

  private func contains(_ range: KeyRange, _ space: Space, _ internalKey: [UInt8]) -> Bool {
    let (lower, upper) = range.bounds(in: space)
    guard compareBytes(internalKey, lower) >= 0 else { return false }
    return upper.map { compareBytes(internalKey, $0) < 0 } ?? true
  }

  @Test(arguments: [0, 1, 64, 254, 255] as [UInt8])
  func theKeysInsideAreThoseOfTheSpaceThatTheRangeNames(code: UInt8) {
    let space = Space(code: code)
    let ranges: [(KeyRange, ([UInt8]) -> Bool)] =
      [(.all, { _ in true })]
      + ([[]] + Self.keys).flatMap { key -> [(KeyRange, ([UInt8]) -> Bool)] in
        [
          (.prefix(key), { $0.starts(with: key) }),
          (.from(key), { compareBytes($0, key) >= 0 }),
          (.upTo(key), { compareBytes($0, key) < 0 }),
        ]
      }
    for (range, isInside) in ranges {
      for key in Self.keys {
        #expect(contains(range, space, [code] + key) == isInside(key), "\(range) \(key)")
        for other in [code &- 1, code &+ 1] {
          #expect(!contains(range, space, [other] + key), "\(range) \(key)")
        }
      }
    }
  }

  @Test func aRangeHasItsLowerAndNotItsUpperKey() {
    for lower in Self.keys {
      for upper in Self.keys {
        let range = KeyRange.range(from: lower, upTo: upper)
        for key in Self.keys {
          let isInside = compareBytes(key, lower) >= 0 && compareBytes(key, upper) < 0
          #expect(contains(range, .standard, [64] + key) == isInside, "\(range) \(key)")
        }
      }
    }
  }
}
