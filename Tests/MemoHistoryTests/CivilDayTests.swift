import Foundation
import KVTestSupport
import MemoCore
import Testing

@Suite struct CivilDayTests {
  /// The C library counts days independently, also in the proleptic calendar.
  private func daysByTimegm(_ year: Int, _ month: Int, _ day: Int) -> Int {
    var parts = tm()
    parts.tm_year = Int32(year - 1900)
    parts.tm_mon = Int32(month - 1)
    parts.tm_mday = Int32(day)
    return timegm(&parts) / 86_400
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func agreesWithTheCLibrary(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let year = Int.random(in: -99_999...99_999, using: &generator)
      let month = Int.random(in: 1...12, using: &generator)
      let day = Int.random(in: 1...28, using: &generator)
      let civil = try #require(CivilDay(year: year, month: month, day: day))
      #expect(
        civil.daysSince1970 == daysByTimegm(year, month, day), "seed \(seed) \(civil)")
    }
  }

  @Test(arguments: [-800, -400, -1, 0, 1, 1899, 1970, 1999, 2000, 2023, 2099, 2400])
  func everyDayOfAYearComesBack(year: Int) throws {
    let first = try #require(CivilDay(year: year, month: 1, day: 1)).daysSince1970
    var previous = first - 1
    for month in 1...12 {
      for day in 1...31 {
        guard let civil = CivilDay(year: year, month: month, day: day) else { continue }
        #expect(civil.daysSince1970 == previous + 1)
        #expect(CivilDay(daysSince1970: civil.daysSince1970) == civil)
        previous = civil.daysSince1970
      }
    }
    let next = try #require(CivilDay(year: year + 1, month: 1, day: 1)).daysSince1970
    #expect(previous + 1 == next)
  }

  @Test func epochIsDayZero() {
    #expect(CivilDay(year: 1970, month: 1, day: 1)?.daysSince1970 == 0)
    #expect(CivilDay(daysSince1970: -1) == CivilDay(year: 1969, month: 12, day: 31))
  }

  @Test(arguments: [
    (1900, 2, 29), (2023, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1),
    (2024, 1, 0), (2024, 1, 32),
  ])
  func refusesDaysThatDoNotExist(year: Int, month: Int, day: Int) {
    #expect(CivilDay(year: year, month: month, day: day) == nil)
  }

  @Test(arguments: [(1600, 2, 29), (2000, 2, 29), (2024, 2, 29), (0, 2, 29), (-4, 2, 29)])
  func acceptsLeapDays(year: Int, month: Int, day: Int) {
    #expect(CivilDay(year: year, month: month, day: day) != nil)
  }

  @Test(arguments: [(7, 2), (-7, 2), (-8, 2), (0, 5), (-1, 1_000_000)])
  func floorDivisionRoundsDown(value: Int, divisor: Int) {
    let (quotient, remainder) = floorDivision(value, by: divisor)
    #expect(quotient * divisor + remainder == value)
    #expect((0..<divisor).contains(remainder))
  }

  @Test(arguments: [
    (2024, 5, 1, "2024-05-01"), (0, 2, 29, "0000-02-29"), (9999, 12, 31, "9999-12-31"),
    (-1, 1, 2, "-000001-01-02"), (10_000, 1, 1, "+010000-01-01"),
    (999_999, 12, 31, "+999999-12-31"),
  ])
  func aDayReadsAsISO8601(year: Int, month: Int, day: Int, text: String) {
    #expect(CivilDay(year: year, month: month, day: day)?.description == text)
  }

  @Test(arguments: [Int.min, -1_000_000, 1_000_000, .max])
  func aYearOfMoreThanSixDigitsIsNone(year: Int) {
    #expect(CivilDay(year: year, month: 1, day: 1) == nil)
  }

  @Test func daysAreOrdered() {
    let days = [-800_000, -1, 0, 1, 30, 31, 365, 20_000].map(CivilDay.init(daysSince1970:))
    for (index, day) in days.enumerated() {
      for (other, otherDay) in days.enumerated() {
        #expect((day < otherDay) == (index < other))
      }
    }
  }
}
