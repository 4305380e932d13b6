import KVTestSupport
import Testing

@testable import KVEngine

/// The order of keys.
@Suite struct ByteOrderTests {
  /// Every single byte, and every pair of bytes at the borders of signed and unsigned numbers.
  private static let borderKeys: [[UInt8]] =
    [[]] + (0...255).map { [UInt8($0)] }
    + [0x00, 0x7F, 0x80, 0xFF].flatMap { first -> [[UInt8]] in
      [0x00, 0x7F, 0x80, 0xFF].map { [first, $0] }
    }

  /// Unsigned order, byte by byte.
  private func slowOrder(_ a: [UInt8], _ b: [UInt8]) -> Int {
    for (left, right) in zip(a, b) where left != right { return left < right ? -1 : 1 }
    return (a.count - b.count).signum()
  }

  @Test(.bug(id: "B28")) func bytesAreComparedWithoutSign() {
    for a in Self.borderKeys {
      for b in Self.borderKeys {
        #expect(compareBytes(a, b).signum() == slowOrder(a, b), "\(a) \(b)")
      }
    }
  }

  @Test(.bug(id: "B28"), arguments: [0, 1, 6, 7, 8, 9, 15, 16, 17])
  func bytesBehindALongCommonStartAreComparedWithoutSign(count: Int) {
    let start = [UInt8](repeating: 0x80, count: count)
    let keys = Self.borderKeys.filter { $0.count != 1 || [0, 0x7F, 0x80, 0xFF].contains($0[0]) }
    for a in keys {
      for b in keys {
        #expect(compareBytes(start + a, start + b).signum() == slowOrder(a, b), "\(a) \(b)")
      }
    }
  }

  @Test func randomBytesAreOrderedAndShareTheirCommonStart() {
    var random = SeededGenerator(seed: 8)
    for round in 0..<2000 {
      let start = random.bytes(Int.random(in: 0...20, using: &random))
      let a = start + random.bytes(Int.random(in: 0...12, using: &random)).map { $0 & 0x81 }
      let b = start + random.bytes(Int.random(in: 0...12, using: &random)).map { $0 & 0x81 }
      #expect(compareBytes(a, b).signum() == slowOrder(a, b), "round \(round)")
      let common = zip(a, b).prefix { $0 == $1 }.count
      #expect(commonPrefixByteCount(a.rawBytes, b.rawBytes) == common, "round \(round)")
      let startsWith = a.rawBytes.starts(with: b.rawBytes)
      #expect(startsWith == a.starts(with: b), "round \(round)")
    }
  }

  @Test(
    arguments: [
      ([], nil), ([0], [1]), ([0xFE], [0xFF]), ([0xFF], nil), ([0xFF, 0xFF], nil),
      ([0x61, 0xFF], [0x62]), ([0x61, 0xFF, 0xFF], [0x62]), ([0xFF, 0x00], [0xFF, 0x01]),
      ([0x61, 0x62], [0x61, 0x63]),
    ] as [([UInt8], [UInt8]?)])
  func theSuccessorOfAPrefixIsBehindAllThatBeginsWithIt(prefix: [UInt8], successor: [UInt8]?) {
    #expect(prefix.prefixSuccessor == successor)
  }

  @Test func nothingFitsBetweenAPrefixAndItsSuccessor() {
    let prefixes = Self.borderKeys.filter { $0.allSatisfy { [0, 0x7F, 0x80, 0xFF].contains($0) } }
    for prefix in prefixes {
      guard let successor = prefix.prefixSuccessor else {
        #expect(prefix.allSatisfy { $0 == 0xFF })
        continue
      }
      for key in prefixes + prefixes.map({ prefix + $0 }) + prefixes.map({ successor + $0 }) {
        let isInside = compareBytes(key, prefix) >= 0 && compareBytes(key, successor) < 0
        #expect(isInside == key.starts(with: prefix), "\(prefix) \(key)")
      }
    }
  }

  @Test func aNumberIsReadOnlyWhereAllOfItIs() {
    let bytes: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    #expect(bytes.rawBytes.bigEndianUInt64(at: 0) == 0x0001_0203_0405_0607)
    #expect(bytes.rawBytes.bigEndianUInt64(at: 2) == 0x0203_0405_0607_0809)
    #expect(bytes.rawBytes.bigEndianUInt64(at: 3) == nil)
    #expect(bytes.rawBytes.bigEndianUInt64(at: -1) == nil)
    #expect([UInt8]().rawBytes.bigEndianUInt64(at: 0) == nil)
  }

  @Test(arguments: 0...33) func theFirstByteThatIsNotZeroIsFoundWhereverItIs(count: Int) {
    var bytes = [UInt8](repeating: 0, count: count)
    #expect(bytes.rawBytes.firstNonZeroOffset == nil)
    for offset in (0..<count).reversed() {
      bytes[offset] = 0x80
      #expect(bytes.rawBytes.firstNonZeroOffset == offset)
    }
  }
}
