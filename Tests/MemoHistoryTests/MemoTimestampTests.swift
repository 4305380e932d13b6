import Foundation
import KVTestSupport
import MemoCore
import Testing

@Suite struct MemoTimestampTests {
  @Test func supportsTheYearsItSays() throws {
    let first = try #require(CivilDay(year: -99_999, month: 1, day: 1)).daysSince1970
    let behind = try #require(CivilDay(year: 100_000, month: 1, day: 1)).daysSince1970
    let range = MemoTimestamp.supportedMicroseconds
    #expect(range.lowerBound == Int64(first) * 86_400_000_000)
    #expect(range.upperBound == Int64(behind) * 86_400_000_000 - 1)
    #expect(!range.upperBound.subtractingReportingOverflow(range.lowerBound).overflow)
  }

  @Test func refusesNumbersOutOfRange() {
    let range = MemoTimestamp.supportedMicroseconds
    #expect(MemoTimestamp(microseconds: range.lowerBound) != nil)
    #expect(MemoTimestamp(microseconds: range.upperBound) != nil)
    #expect(MemoTimestamp(microseconds: range.lowerBound - 1) == nil)
    #expect(MemoTimestamp(microseconds: range.upperBound + 1) == nil)
    #expect(MemoTimestamp(microseconds: .min) == nil)
    #expect(MemoTimestamp(microseconds: .max) == nil)
    #expect(MemoTimestamp(microseconds: 0, offsetSeconds: 86_399) != nil)
    #expect(MemoTimestamp(microseconds: 0, offsetSeconds: -86_399) != nil)
    #expect(MemoTimestamp(microseconds: 0, offsetSeconds: 86_400) == nil)
    #expect(MemoTimestamp(microseconds: 0, offsetSeconds: .min) == nil)
  }

  @Test func nowIsBetweenTwoLooksAtTheClock() {
    let before = Date().timeIntervalSince1970
    let now = MemoTimestamp.now
    let after = Date().timeIntervalSince1970
    // A microsecond each way: the other clock is read as a floating-point number.
    #expect(Double(now.microseconds) >= before * 1e6 - 1)
    #expect(Double(now.microseconds) <= after * 1e6 + 1)
  }

  @Test func nowHasTheOffsetOfTheLocalZone() {
    let now = MemoTimestamp.now
    let date = Date(timeIntervalSince1970: Double(now.microseconds) / 1e6)
    #expect(Int(now.offsetSeconds) == TimeZone.current.secondsFromGMT(for: date))
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func orderIsByInstantThenOffset(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let left = MemoTimestamp.small(using: &generator)
      let right = MemoTimestamp.small(using: &generator)
      let count = (left < right ? 1 : 0) + (right < left ? 1 : 0) + (left == right ? 1 : 0)
      #expect(count == 1, "seed \(seed) \(left) \(right)")
      if left.microseconds != right.microseconds {
        #expect((left < right) == (left.microseconds < right.microseconds), "seed \(seed)")
        #expect((left.sortKey < right.sortKey) == (left < right), "seed \(seed)")
      } else {
        #expect((left < right) == (left.offsetSeconds < right.offsetSeconds), "seed \(seed)")
        #expect(left.sortKey == right.sortKey)
      }
    }
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max]) func sortKeyComesBack(microseconds: Int64) {
    let key = MemoTimestamp.sortKey(ofMicroseconds: microseconds)
    #expect(MemoTimestamp.microseconds(ofSortKey: key) == microseconds)
  }

  @Test func sortKeysOfExtremesAreOrdered() {
    let keys = [Int64.min, -1, 0, 1, .max].map(MemoTimestamp.sortKey(ofMicroseconds:))
    let middle: UInt64 = 0x8000_0000_0000_0000
    #expect(keys == [0, middle - 1, middle, middle + 1, UInt64.max])
  }

  @Test(
    arguments: [
      (0, 0, "1970-01-01T00:00:00Z"),
      (-1, 0, "1969-12-31T23:59:59.999999Z"),
      (-1000, 0, "1969-12-31T23:59:59.999Z"),
      (1_714_532_400_125_000, 32_400, "2024-05-01T12:00:00.125+09:00"),
      (1_714_532_400_000_001, -12_600, "2024-04-30T23:30:00.000001-03:30"),
      (0, 33_539, "1970-01-01T09:18:59+09:18:59"),
      (0, -1, "1969-12-31T23:59:59-00:00:01"),
      (-62_167_219_200_000_000, 0, "0000-01-01T00:00:00Z"),
      (-62_167_219_200_000_001, 0, "-000001-12-31T23:59:59.999999Z"),
      (253_402_300_800_000_000, 0, "+010000-01-01T00:00:00Z"),
      (253_402_300_800_000_000, -60, "9999-12-31T23:59:00-00:01"),
    ] as [(Int64, Int32, String)])
  func printsISO8601(microseconds: Int64, offsetSeconds: Int32, text: String) throws {
    let timestamp = try #require(
      MemoTimestamp(microseconds: microseconds, offsetSeconds: offsetSeconds))
    #expect(timestamp.description == text)
    #expect(try MemoTimestamp(iso8601: text) == timestamp)
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func printedFormComesBack(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let timestamp = MemoTimestamp.any(using: &generator)
      let text = timestamp.description
      #expect(try MemoTimestamp(iso8601: text) == timestamp, "seed \(seed) \(text)")
    }
  }

  @Test(arguments: [Int32(0), 86_399, -86_399]) func extremesComeBack(offsetSeconds: Int32) throws {
    let range = MemoTimestamp.supportedMicroseconds
    for microseconds in [range.lowerBound, range.upperBound] {
      let timestamp = try #require(
        MemoTimestamp(microseconds: microseconds, offsetSeconds: offsetSeconds))
      #expect(try MemoTimestamp(iso8601: timestamp.description) == timestamp)
    }
  }
}

extension MemoTimestamp {
  /// Any timestamp there can be; whole seconds, minutes and near times are frequent.
  static func any(using generator: inout SeededGenerator) -> MemoTimestamp {
    let units: [Int64] = [1, 1000, 1_000_000, 60_000_000]
    let unit = units.randomElement(using: &generator) ?? 1
    let range: ClosedRange<Int64> =
      generator.coin() ? supportedMicroseconds : -4_000_000_000_000_000...4_000_000_000_000_000
    let microseconds = Int64.random(in: range, using: &generator) / unit * unit
    let steps: [Int32] = [1, 60, 900, 3600]
    let step = steps.randomElement(using: &generator) ?? 1
    let offset = Int32.random(in: supportedOffsetSeconds, using: &generator) / step * step
    return make(microseconds, offset)
  }

  /// One of few, so that equal instants are frequent.
  static func small(using generator: inout SeededGenerator) -> MemoTimestamp {
    make(
      Int64.random(in: -2...2, using: &generator), Int32.random(in: -1...1, using: &generator))
  }

  private static func make(_ microseconds: Int64, _ offset: Int32) -> MemoTimestamp {
    guard let made = MemoTimestamp(microseconds: microseconds, offsetSeconds: offset) else {
      Issue.record("\(microseconds) \(offset) is in range")
      return .now
    }
    return made
  }
}
