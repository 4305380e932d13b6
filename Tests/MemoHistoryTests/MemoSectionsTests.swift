import Foundation
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Which memos share a header.
@Suite struct MemoSectionsTests {
  private func time(_ text: String) throws -> MemoTimestamp { try MemoTimestamp(iso8601: text) }

  private func memos(_ times: [MemoTimestamp]) -> [Memo] {
    times.enumerated().map { Memo(id: MemoID(Int64($0)), createdAt: $1, body: "") }
  }

  private func inZone(_ zone: TimeZone) -> MemoSections<Memo> {
    .day { time in
      let seconds = floorDivision(time.microseconds, by: 1_000_000).quotient
      return zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }
  }

  /// The day as its writer saw it, wherever it is read.
  @Test func aMemoStandsBelowTheDayOfItsWriter() throws {
    let times = try [
      "2026-03-01T00:30:00+14:00", "2026-02-28T23:30:00-08:00", "2026-02-28T23:30:00+09:00",
      "2026-02-28T00:30:00Z", "0000-02-29T12:00:00Z",
    ].map(time)
    let headers = MemoSections<Memo>.day.sections(of: memos(times)).headers
    #expect(headers.map { "\($0.key)" } == ["2026-03-01", "2026-02-28", "0000-02-29"])
    #expect(headers.map(\.count) == [1, 3, 1])
  }

  @Test func aLabelIsTheText() throws {
    let sections = MemoSections<Memo>.label { $0.body }
    let bodies = ["a", "a", "caf\u{E9}", "cafe\u{301}", "a"]
    let items = try bodies.map { Memo(id: try MemoID($0), body: $0) }
    let headers = sections.sections(of: items).headers
    #expect(headers.map(\.count) == [2, 1, 1, 1], "equal strings of different bytes are two")
    #expect(headers.map(\.repetition) == [1, 0, 0, 0])
    #expect(headers.map { "\($0.key)" } == ["a", "caf\u{E9}", "cafe\u{301}", "a"])
    #expect(Set(headers.map(\.id)).count == 4)
    #expect(HistorySectionKey.label("2026-01-05") != .day(CivilDay(daysSince1970: 20_458)))
  }

  /// Any number is taken for an offset.
  @Test(arguments: [Int.min, -86_400, 86_400, .max])
  func anImpossibleOffsetIsTheClosestOne(seconds: Int) throws {
    let day = CivilDay(try time("2026-02-28T12:00:00Z"), secondsFromUTC: seconds)
    #expect("\(day)" == (seconds < 0 ? "2026-02-27" : "2026-03-01"))
    for edge in [-3_217_830_796_800_000_000, 3_093_527_980_799_999_999] as [Int64] {
      let time = try #require(MemoTimestamp(microseconds: edge))
      #expect((-100_000...100_000).contains(CivilDay(time, secondsFromUTC: seconds).year))
    }
  }

  // MARK: - Zones

  /// Instants around every change of a zone's clock, and some of every month, newest first.
  private func instants(of zone: TimeZone) -> [MemoTimestamp] {
    let start = 1_262_304_000.0  // 2010
    let end = 1_924_992_000.0  // 2031
    var seconds: [Double] = []
    var date = Date(timeIntervalSince1970: start)
    while let change = zone.nextDaylightSavingTimeTransition(after: date),
      change.timeIntervalSince1970 < end, change > date
    {
      for offset in [-7200.0, -3601, -1, 0, 1, 3599, 3600, 7200, 86_399] {
        seconds.append(change.timeIntervalSince1970.rounded() + offset)
      }
      date = change
    }
    let step = Double(Thoroughness.step(quick: 97, push: 13)) * 86_400 + 3571
    seconds += stride(from: start, to: end, by: step)
    return seconds.sorted(by: >).compactMap { second in
      MemoTimestamp(microseconds: Int64(second) * 1_000_000)
    }
  }

  /// What the calendar of the system says is what stands in the headers: for each zone, over
  /// twenty years, on days of 23, 24 and 25 hours, days that begin at one o'clock, and a day that
  /// an island left out.
  @Test(.bug(id: "B74"), .bug(id: "B76"), .bug(id: "B77"), arguments: 0..<4)
  func daysOfAZoneAreThoseOfItsCalendar(part: Int) throws {
    let identifiers = TimeZone.knownTimeZoneIdentifiers
    try #require(identifiers.count > 300)
    for (number, identifier) in identifiers.enumerated() where number % 4 == part {
      let zone = try #require(TimeZone(identifier: identifier))
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      let items = memos(instants(of: zone))
      let sections = inZone(zone).sections(of: items)
      #expect(sections.headers.map(\.items.count).reduce(0, +) == items.count)
      for header in sections.headers {
        for item in items[header.items] {
          let second = Double(item.createdAt.microseconds / 1_000_000)
          let parts = calendar.dateComponents(
            [.year, .month, .day], from: Date(timeIntervalSince1970: second))
          let day = CivilDay(
            year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0)
          guard header.key == day.map(HistorySectionKey.day) else {
            Issue.record("\(identifier), \(item.createdAt): \(header.key)")
            return
          }
        }
      }
    }
  }

  /// The clocks of some places around midnight, as they were.
  @Test(
    .bug(id: "B76"),
    arguments: [
      // Midnight did not exist.
      ("America/Sao_Paulo", "2016-10-16T02:59:59Z", "2016-10-15"),
      ("America/Sao_Paulo", "2016-10-16T03:00:00Z", "2016-10-16"),
      // The last hour of a day came twice.
      ("America/Sao_Paulo", "2017-02-19T02:30:00Z", "2017-02-18"),
      // A day that was left out.
      ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"),
      ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"),
      ("Pacific/Kiritimati", "2026-02-28T10:30:00Z", "2026-03-01"),
    ])
  func knownDaysOfPlaces(place: String, instant: String, day: String) throws {
    let zone = try #require(TimeZone(identifier: place))
    let headers = inZone(zone).sections(of: memos([try time(instant)])).headers
    #expect(headers.map { "\($0.key)" } == [day])
  }
}
