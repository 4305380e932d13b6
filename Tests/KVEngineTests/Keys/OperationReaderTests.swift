import KVTestSupport
import Testing

@testable import KVEngine

/// Encoded operations that nobody vouches for.
@Suite struct OperationReaderTests {
  /// Walks to the end; the number of operations that were found.
  private func walk(_ bytes: [UInt8], count: Int) throws(FormatError) -> Int {
    var reader = OperationReader(bytes.rawBytes, count: count)
    var found = 0
    while let operation = try reader.next() {
      found += 1
      #expect(operation.key.lowerBound >= 0 && operation.value.upperBound <= bytes.count)
      #expect(operation.key.upperBound <= operation.value.lowerBound)
      #expect(operation.key.count >= 2)
    }
    return found
  }

  private static var batch: WriteBatch {
    var batch = WriteBatch()
    batch.put([1, 2, 3], forKey: [4, 5])
    batch.delete([6])
    batch.put([UInt8](repeating: 8, count: 200), forKey: [7])
    return batch
  }

  @Test func everyTruncationIsRefused() throws {
    let batch = Self.batch
    #expect(try walk(batch.bytes, count: 3) == 3)
    for count in 0..<batch.bytes.count {
      #expect(throws: FormatError.self, "\(count) bytes") {
        try walk(Array(batch.bytes.prefix(count)), count: 3)
      }
    }
  }

  @Test func aWrongNumberOfOperationsIsRefused() throws {
    for count in [0, 1, 2, 4, 1000, Int.max] {
      #expect(throws: FormatError.self, "\(count)") { try walk(Self.batch.bytes, count: count) }
    }
    #expect(throws: FormatError.self) { try walk(Self.batch.bytes + [0], count: 3) }
    #expect(try walk([], count: 0) == 0)
  }

  @Test(
    arguments: [
      [4, 2, 64, 1],  // no such kind
      [0xFF, 2, 64, 1],
      [0, 0],  // no key
      [0, 1, 64],  // a space without a key
      [0, 0x82, 0x00, 64, 1],  // length not in its shortest form
      [0, 0x81, 0x80, 0x04, 64, 1],  // key of 65,537 bytes
      [1, 2, 64, 1, 0x81, 0x80, 0x80, 0x20],  // value of 64 MiB and a byte
      [1, 2, 64, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
      [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
    ] as [[UInt8]])
  func hostileBytesAreRefused(bytes: [UInt8]) {
    #expect(throws: FormatError.self) { try walk(bytes, count: 1) }
  }

  @Test func changedAndRandomBytesNeverTrap() {
    var random = SeededGenerator(seed: 11)
    let original = Self.batch.bytes
    for bit in 0..<(8 * original.count) {
      var bytes = original
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      _ = try? walk(bytes, count: 3)
    }
    for _ in 0..<2000 {
      let bytes = random.bytes(Int.random(in: 0...40, using: &random)).map { $0 & 0x8F }
      _ = try? walk(bytes, count: Int.random(in: 0...4, using: &random))
    }
  }
}
