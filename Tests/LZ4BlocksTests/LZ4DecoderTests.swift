import KVTestSupport
import Testing

@testable import LZ4Blocks

@Suite struct LZ4DecoderTests {
  /// A block of literals, one match, and last literals.
  private func block(
    literals: Int, offset: Int, matchCount: Int, last: Int
  ) -> (block: [UInt8], byteCount: Int) {
    var bytes: [UInt8] = []
    func count(_ count: Int) -> [UInt8] {
      guard count >= 15 else { return [] }
      return [UInt8](repeating: 255, count: (count - 15) / 255) + [UInt8((count - 15) % 255)]
    }
    bytes.append(UInt8(min(literals, 15) << 4 | min(matchCount - 4, 15)))
    bytes += count(literals) + (0..<literals).map { UInt8($0 % 26) + 65 }
    bytes += [UInt8(offset & 255), UInt8(offset >> 8)] + count(matchCount - 4)
    bytes += [UInt8(min(last, 15) << 4)] + count(last) + (0..<last).map { UInt8($0 % 10) + 48 }
    return (bytes, literals + matchCount + last)
  }

  private func decode(
    _ block: [UInt8], _ byteCount: Int, behind dictionary: [UInt8] = []
  ) -> [UInt8]? {
    let decoded = BlockSample.decode(block, byteCount: byteCount, behind: dictionary)
    let expected = BlockSample.decodeByTheRules(block, byteCount: byteCount, behind: dictionary)
    #expect(decoded == expected)
    return decoded
  }

  @Test func blocksDecodeToTheirBytes() {
    #expect(decode([0x30, 65, 66, 67], 3) == [65, 66, 67])
    let repeated: [UInt8] = [0x26, 65, 66, 2, 0, 0x60, 1, 2, 3, 4, 5, 6]
    #expect(
      decode(repeated, 18) == [65, 66, 65, 66, 65, 66, 65, 66, 65, 66, 65, 66, 1, 2, 3, 4, 5, 6])
    let fromDictionary: [UInt8] = [0x04, 9, 0, 0x50, 1, 2, 3, 4, 5]
    #expect(
      decode(fromDictionary, 13, behind: Array(1...9)) == [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5])
  }

  @Test func theEmptyBlockIsOneZeroByte() {
    #expect(decode([0], 0) == [])
    for block in [[], [1], [0x10], [0, 0]] as [[UInt8]] {
      #expect(decode(block, 0) == nil)
      #expect(decode(block, 0, behind: [1, 2, 3, 4, 5, 6, 7, 8]) == nil)
    }
    #expect(decode([0], 1) == nil)
  }

  @Test func theSizeIsTheStoredOne() {
    let (bytes, byteCount) = block(literals: 30, offset: 7, matchCount: 90, last: 40)
    for size in 0...200 {
      #expect((decode(bytes, size) != nil) == (size == byteCount), "size \(size)")
    }
  }

  @Test(
    arguments: [0, 1, 9, 14, 15, 16, 40, 269, 270, 600], [4, 5, 18, 19, 33, 34, 273, 274, 700])
  func everyOffsetCopiesOrIsRefused(literals: Int, matchCount: Int) {
    let dictionary = BlockSample.generated(seed: 3, 40)
    for offset in 0...(literals + 42) {
      let (bytes, size) = block(
        literals: literals, offset: offset, matchCount: matchCount, last: 50)
      #expect(
        (decode(bytes, size) != nil) == (1...max(1, literals) ~= offset && offset <= literals))
      let isInReach = offset > 0 && offset <= literals + 40
      #expect((decode(bytes, size, behind: dictionary) != nil) == isInReach, "offset \(offset)")
    }
  }

  @Test(arguments: 0...20, [4, 5, 7, 8, 11, 12, 18, 19, 40])
  func aMatchEndsFiveBytesAndBeginsTwelveBytesBeforeTheEnd(literals: Int, matchCount: Int) {
    // A whole sequence in front, so that the short ways are met as well.
    for front in [0, 40] {
      for last in 0...15 {
        let (bytes, size) = block(
          literals: literals + 16, offset: 16, matchCount: matchCount, last: last)
        let whole = [0x8F, 1, 2, 3, 4, 5, 6, 7, 8, 8, 0, 13] + bytes
        let isValid = last >= 5 && matchCount + last >= 12
        #expect((decode(bytes, size) != nil) == isValid)
        if front > 0 { #expect((decode(whole, size + 40) != nil) == isValid, "last \(last)") }
      }
    }
  }

  /// What liblz4 takes: a short match near the end, reached by short counts alone.
  @Test(arguments: 10...14, 0...5)
  func theShortWayKeepsToTheEnd(literals: Int, last: Int) {
    let (front, frontSize) = block(literals: 40, offset: 9, matchCount: 60, last: 0)
    for matchCount in 4...18 {
      let (back, size) = block(
        literals: literals, offset: 12, matchCount: matchCount, last: last)
      let decoded = decode(front.dropLast() + back, frontSize + size)
      #expect((decoded != nil) == (last >= 5 && matchCount + last >= 12))
    }
  }

  @Test(arguments: [0xF0, 0x0F, 0xFF] as [UInt8], [1, 20, 5000])
  func countsWithoutEndAreRefused(token: UInt8, count: Int) {
    let bytes = [token, 0x41, 1, 0] + [UInt8](repeating: 255, count: count)
    #expect(decode(bytes, 4096) == nil)
    #expect(decode(bytes + [0], 4096) == nil)
  }

  @Test func cutBlocksAndBlocksWithMoreBehindAreRefused() {
    let (bytes, size) = block(literals: 70, offset: 13, matchCount: 300, last: 20)
    #expect(decode(bytes, size) != nil)
    for count in 0..<bytes.count { #expect(decode(Array(bytes.prefix(count)), size) == nil) }
    for more in [[0], [0xFF], [0x10, 65], [0, 0, 0, 0]] as [[UInt8]] {
      #expect(decode(bytes + more, size) == nil)
    }
  }

  /// Tokens, counts and offsets around the bounds, behind each other.
  @Test(arguments: BlockSample.seeds(8))
  func forgedBlocksAreJudgedByTheRules(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var validCount = 0
    for round in 0..<2000 {
      let forged = ForgedBlock(&random)
      let dictionary = BlockSample.generated(seed: 5, forged.dictionaryByteCount)
      let size = forged.byteCount
      let decoded = BlockSample.decode(forged.bytes, byteCount: size, behind: dictionary)
      let expected = BlockSample.decodeByTheRules(
        forged.bytes, byteCount: size, behind: dictionary)
      #expect(decoded == expected, "seed \(seed), round \(round): \(forged.bytes)")
      if expected != nil { validCount += 1 }
    }
    #expect(validCount > 200 && validCount < 1800, "seed \(seed)")
  }
}
