import KVTestSupport
import Testing

@testable import KVEngine

/// The stored hash, which must never change.
@Suite struct XXH64Tests {
  /// Results of the reference implementation with seed 0.
  @Test(
    arguments: [
      ("", 0xEF46_DB37_51D8_E999),
      ("a", 0xD24E_C4F1_A98C_6E5B),
      ("abc", 0x44BC_2CF5_AD77_0999),
      ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
      ("xxhash", 0x32DD_3895_2C4B_C720),
    ] as [(String, UInt64)])
  func referenceVectorsHold(text: String, expected: UInt64) {
    #expect(XXH64.hash(Array(text.utf8).rawBytes) == expected)
  }

  /// The specification again, byte by byte and without any thought of speed.
  private func slowHash(_ bytes: [UInt8]) -> UInt64 {
    let primes: [UInt64] = [
      0, 11_400_714_785_074_694_791, 14_029_467_366_897_019_727, 1_609_587_929_392_839_161,
      9_650_029_242_287_828_579, 2_870_177_450_012_600_261,
    ]
    func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
      value << count | value >> (64 - count)
    }
    func number(_ at: Int, _ count: Int) -> UInt64 {
      (0..<count).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
    }
    func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
      rotated(lane &+ input &* primes[2], 31) &* primes[1]
    }
    var at = 0
    var hash = primes[5]
    if bytes.count >= 32 {
      var lanes = [primes[1] &+ primes[2], primes[2], 0, 0 &- primes[1]]
      while at + 32 <= bytes.count {
        for lane in 0..<4 { lanes[lane] = round(lanes[lane], number(at + 8 * lane, 8)) }
        at += 32
      }
      hash = zip(lanes, [1, 7, 12, 18] as [UInt64]).reduce(0) { $0 &+ rotated($1.0, $1.1) }
      for lane in lanes { hash = (hash ^ round(0, lane)) &* primes[1] &+ primes[4] }
    }
    hash &+= UInt64(bytes.count)
    while at + 8 <= bytes.count {
      hash = rotated(hash ^ round(0, number(at, 8)), 27) &* primes[1] &+ primes[4]
      at += 8
    }
    if at + 4 <= bytes.count {
      hash = rotated(hash ^ number(at, 4) &* primes[1], 23) &* primes[2] &+ primes[3]
      at += 4
    }
    while at < bytes.count {
      hash = rotated(hash ^ UInt64(bytes[at]) &* primes[5], 11) &* primes[1]
      at += 1
    }
    hash = (hash ^ hash >> 33) &* primes[2]
    hash = (hash ^ hash >> 29) &* primes[3]
    return hash ^ hash >> 32
  }

  @Test func everyLengthAcrossTheBordersOfChunksAgreesWithTheSpecification() {
    var random = SeededGenerator(seed: 6)
    let bytes = random.bytes(200)
    for count in 0...200 {
      let part = Array(bytes.prefix(count))
      #expect(XXH64.hash(part.rawBytes) == slowHash(part), "\(count) bytes")
    }
  }

  @Test func theHashDoesNotDependOnWhereTheBytesLie() {
    var random = SeededGenerator(seed: 7)
    let bytes = random.bytes(80)
    let expected = XXH64.hash(Array(bytes[..<67]).rawBytes)
    for start in 0..<8 {
      let moved = [UInt8](repeating: 0xEE, count: start) + bytes[..<67]
      let span = moved.rawBytes.extracting(droppingFirst: start)
      let hash = XXH64.hash(span)
      #expect(hash == expected, "at \(start)")
    }
  }
}
