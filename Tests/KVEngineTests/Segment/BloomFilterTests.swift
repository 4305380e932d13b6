import Testing

@testable import KVEngine

@Suite struct BloomFilterTests {
  private func key(_ number: Int) -> [UInt8] {
    var key: [UInt8] = [64]
    key.append(bigEndian: UInt64(number))
    return key
  }

  private func filter(of keys: [[UInt8]], prefixByteCount: Int = 0) throws -> BloomFilter {
    let block = BloomFilter.encode(hashes: keys.map { XXH64.hash($0.rawBytes) })
    return try BloomFilter(
      ByteBuffer(copying: block.rawBytes), prefixByteCount: prefixByteCount)
  }

  @Test(arguments: [0, 1, 7, 100, 3000])
  func everyKeyThatWasAddedMayBeThere(count: Int) throws {
    let keys = (0..<count).map(key)
    let filter = try filter(of: keys)
    for key in keys { #expect(filter.mayContain(key: key)) }
  }

  @Test(arguments: [1000, 4000])
  func oneOfAHundredAbsentKeysIsLetThrough(count: Int) throws {
    let filter = try filter(of: (0..<count).map(key))
    var found = 0
    for number in 0..<10_000 {
      let absent = key(1_000_000 + number)
      if filter.mayContain(key: absent) { found += 1 }
    }
    #expect(found > 20 && found < 150, "\(found) of 10,000")
  }

  @Test func aBlockHasTenBitsAKeyAndEightBytesAtLeast() {
    #expect(BloomFilter.encode(hashes: []).count == 9)
    #expect(BloomFilter.encode(hashes: [1, 2, 3, 4, 5, 6]).count == 9)
    #expect(BloomFilter.encode(hashes: Array(0..<800)).count == 1001)
    #expect(BloomFilter.encode(hashes: [9]).first == 7)
  }

  @Test func theBitsAreThoseOfTheFormat() {
    // h1 = 1, h2 = 2 | 1: bits 1, 4, 7, 10, 13, 16, 19 of 64.
    let block = BloomFilter.encode(hashes: [2 << 32 | 1])
    #expect(block == [7, 0b1001_0010, 0b0010_0100, 0b0000_1001, 0, 0, 0, 0, 0])
  }

  @Test func aPrefixFilterSaysNothingOfShorterPrefixes() throws {
    let stored: [[UInt8]] = [[2, 1, 1, 1, 1], [2, 9]]
    let filter = try filter(of: stored, prefixByteCount: 4)
    #expect(filter.mayContain(key: [2, 1, 1, 1, 1, 77]))
    #expect(filter.mayContain(key: [2, 9]))
    #expect(filter.mayContain(prefix: [2, 5]))
    #expect(filter.mayContain(prefix: [2, 5, 5, 5]))
    #expect(!filter.mayContain(prefix: [2, 5, 5, 5, 6]))
    #expect(filter.mayContain(prefix: [2, 1, 1, 1, 1, 3]))
    let whole = try self.filter(of: stored)
    #expect(whole.mayContain(prefix: [2, 5, 5, 5, 6]))
  }

  @Test func blocksThatAreNoFilterAreRefused() {
    let bits = [UInt8](repeating: 0xFF, count: 8)
    let blocks: [[UInt8]] = [
      [], [7], [7] + bits.dropLast(), [0] + bits, [31] + bits, [255] + bits,
    ]
    for block in blocks {
      #expect(throws: FormatError.self) {
        try BloomFilter(ByteBuffer(copying: block.rawBytes), prefixByteCount: 0)
      }
    }
  }
}

extension BloomFilter {
  fileprivate func mayContain(key: [UInt8]) -> Bool { mayContain(key: key.rawBytes) }
  fileprivate func mayContain(prefix: [UInt8]) -> Bool { mayContain(prefix: prefix.rawBytes) }
}
