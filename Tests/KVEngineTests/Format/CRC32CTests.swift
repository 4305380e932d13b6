import KVTestSupport
import Testing

@testable import KVEngine

/// The checksum against its published vectors, and its two implementations against each other.
@Suite struct CRC32CTests {
  /// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
  private static let vectors: [([UInt8], UInt32)] = [
    ([], 0),
    (Array("123456789".utf8), 0xE306_9283),
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    (Array(0..<32), 0x46DD_794E),
    (Array((0..<32).reversed()), 0x113F_DB5C),
    (
      [
        0x01, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00,
        0x00, 0x18, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00,
      ], 0xD996_3A56
    ),
  ]

  private func byTables(_ bytes: RawSpan, continuing value: UInt32 = 0) -> UInt32 {
    var checksum = CRC32C(continuing: value)
    checksum.updateByTables(bytes)
    return checksum.value
  }

  @Test func publishedVectorsHoldOnBothPaths() {
    for (bytes, expected) in Self.vectors {
      #expect(CRC32C.checksum(bytes.rawBytes) == expected)
      let tables = byTables(bytes.rawBytes)
      #expect(tables == expected)
    }
  }

  @Test func tablesAndInstructionAgreeForEveryLengthAndAlignment() {
    var random = SeededGenerator(seed: 2)
    let bytes = random.bytes(700)
    for count in 0...80 {
      for start in 0..<8 {
        let span = bytes.rawBytes.extracting(start..<(start + count))
        let (fast, slow) = (CRC32C.checksum(span), byTables(span))
        #expect(fast == slow, "\(count) bytes at \(start)")
      }
    }
    for _ in 0..<100 {
      let count = Int.random(in: 0...bytes.count, using: &random)
      let span = bytes.rawBytes.extracting(first: count)
      let (fast, slow) = (CRC32C.checksum(span), byTables(span))
      #expect(fast == slow, "\(count) bytes")
    }
  }

  @Test func longInputsAgreeToo() {
    // Longer than any block that an implementation with several streams may work in.
    var random = SeededGenerator(seed: 3)
    for count in [4095, 4096, 4097, 24_576, 24_583, 100_003] {
      let bytes = random.bytes(count)
      let (fast, slow) = (CRC32C.checksum(bytes.rawBytes), byTables(bytes.rawBytes))
      #expect(fast == slow, "\(count) bytes")
    }
  }

  @Test func partsGiveTheChecksumOfTheWhole() {
    var random = SeededGenerator(seed: 4)
    let bytes = random.bytes(300)
    let whole = CRC32C.checksum(bytes.rawBytes)
    for cut in 0...bytes.count {
      var checksum = CRC32C()
      checksum.update(bytes.rawBytes.extracting(first: cut))
      checksum.update(bytes.rawBytes.extracting(droppingFirst: cut))
      #expect(checksum.value == whole, "cut at \(cut)")
      let first = byTables(bytes.rawBytes.extracting(first: cut))
      let rest = byTables(bytes.rawBytes.extracting(droppingFirst: cut), continuing: first)
      #expect(rest == whole, "cut at \(cut)")
    }
  }

  @Test func aNumberCountsAsItsLittleEndianBytes() {
    var number = CRC32C()
    number.update(u64: 0x0102_0304_0506_0708)
    #expect(number.value == CRC32C.checksum([8, 7, 6, 5, 4, 3, 2, 1].rawBytes))
  }

  @Test func everyFlippedBitChangesTheChecksum() {
    var random = SeededGenerator(seed: 5)
    var bytes = random.bytes(64)
    let whole = CRC32C.checksum(bytes.rawBytes)
    for bit in 0..<(8 * bytes.count) {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(CRC32C.checksum(bytes.rawBytes) != whole, "bit \(bit)")
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
  }
}
