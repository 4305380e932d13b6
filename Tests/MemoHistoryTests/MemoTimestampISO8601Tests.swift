import KVTestSupport
import MemoCore
import Testing

@Suite struct MemoTimestampISO8601Tests {
  @Test(arguments: [
    ("2024-05-01T12:00:00+09:00", "2024-05-01T12:00:00+09:00"),
    ("2024-05-01t12:00:00z", "2024-05-01T12:00:00Z"),
    ("2024-05-01 12:00:00 +0900", "2024-05-01T12:00:00+09:00"),
    ("2024-05-01T12:00:00 Z", "2024-05-01T12:00:00Z"),
    ("2024-05-01T12:00Z", "2024-05-01T12:00:00Z"),
    ("2024-05-01T12:00+09", "2024-05-01T12:00:00+09:00"),
    ("2024-05-01T12:00:00-0330", "2024-05-01T12:00:00-03:30"),
    ("2024-05-01T12:00:00-00:00", "2024-05-01T12:00:00Z"),
    ("2024-05-01T12:00:00,5Z", "2024-05-01T12:00:00.500Z"),
    ("2024-05-01T12:00:00.000000Z", "2024-05-01T12:00:00Z"),
    ("2024-05-01T12:00:00.1234567890123Z", "2024-05-01T12:00:00.123456Z"),
    ("2024-05-01T12:00:00.999999999Z", "2024-05-01T12:00:00.999999Z"),
    ("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999999Z"),
    ("20240501T120000Z", "2024-05-01T12:00:00Z"),
    ("20240501T1200-0800", "2024-05-01T12:00:00-08:00"),
    ("20240501T120000.25+09:00", "2024-05-01T12:00:00.250+09:00"),
    ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999999Z"),
    ("2016-12-31T23:59:60.5Z", "2016-12-31T23:59:59.999999Z"),
    ("2024-05-01T12:34:60Z", "2024-05-01T12:34:59.999999Z"),
    ("2024-05-01T24:00:00Z", "2024-05-02T00:00:00Z"),
    ("2023-12-31T24:00:00.000-01:00", "2024-01-01T00:00:00-01:00"),
    ("+010000-01-01T00:00:00Z", "+010000-01-01T00:00:00Z"),
    ("+002024-05-01T12:00:00Z", "2024-05-01T12:00:00Z"),
    ("-000001-12-31T00:00:00Z", "-000001-12-31T00:00:00Z"),
    ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"),
    ("1887-12-31T15:00:00+09:18:59", "1887-12-31T15:00:00+09:18:59"),
    ("2024-05-01T12:00:00+23:59:59", "2024-05-01T12:00:00+23:59:59"),
  ])
  func accepts(text: String, printed: String) throws {
    #expect(try MemoTimestamp(iso8601: text).description == printed)
  }

  @Test(arguments: [
    ("", "is empty"),
    ("yesterday", "does not begin with a year of four digits"),
    ("2024-05-01", "has no time of day"),
    ("20240501", "has no time of day"),
    ("2024-05-01T12:00", "has no zone"),
    ("2024-05-01T12:00:00", "has no zone"),
    ("2024-05-01T12:00:00 UTC", "has no zone where one is expected"),
    ("2024-W18-3T12:00:00Z", "is a week date"),
    ("2024W183T120000Z", "is a week date"),
    ("2024-122T12:00:00Z", "is an ordinal date"),
    ("2024122T120000Z", "is an ordinal date"),
    ("1714532400", "is a number; seconds or milliseconds is not said"),
    ("5", "is a number; seconds or milliseconds is not said"),
    (" 2024-05-01T12:00:00Z", "begins with a space"),
    ("2024-05-01T12:00:00Z ", "ends with a space"),
    ("\u{662}\u{660}\u{662}\u{664}-05-01T12:00:00Z", "has a character that is not ASCII"),
    ("2024-05-01T12:00:00\u{2212}08:00", "has a character that is not ASCII"),
    ("2023-02-29T00:00:00Z", "has a day that its month does not have"),
    ("2024-04-31T00:00:00Z", "has a day that its month does not have"),
    ("2024-05-00T00:00:00Z", "has a day that its month does not have"),
    ("2024-13-01T00:00:00Z", "has a month outside 1 to 12"),
    ("2024-00-10T00:00:00Z", "has a month outside 1 to 12"),
    ("2024-05-01T25:00:00Z", "has an hour outside 0 to 24"),
    ("2024-05-01T24:00:01Z", "is later than 24:00:00"),
    ("2024-05-01T24:00:00.000001Z", "is later than 24:00:00"),
    ("2024-05-01T12:61:00Z", "has minutes outside 0 to 59"),
    ("2024-05-01T12:00:61Z", "has seconds outside 0 to 60"),
    ("2024-05-01T12:00:00+24:00", "has a zone of more than 23:59:59"),
    ("2024-05-01T12:00:00+09:60", "has a zone of more than 23:59:59"),
    ("2011-08-29T06:50:23+518:00", "has a zone that is not two or four digits"),
    ("2024-05-01T12:00:00+", "has a zone that is not two or four digits"),
    ("2024-05-01T12:00:00+09:", "has a zone without minutes"),
    ("2024-05-01T12:00:00+09:00:", "has a zone without seconds"),
    ("2024-05-01T12:00:00+0900:00", "goes on behind the zone"),
    ("2024-05-01T12:00:00Z[UTC]", "goes on behind the zone"),
    ("2024-05-01T12:00:00ZZ", "goes on behind the zone"),
    ("2024-05-01T12:00:00  +0900", "has no zone where one is expected"),
    ("2024-05-01T12:00:00.Z", "has no digit behind the decimal sign"),
    ("2024-05-01T12:00.5Z", "has no zone where one is expected"),
    ("2024-05-01T120000Z", "has no minutes"),
    ("2024-05-01T12Z", "has no minutes"),
    ("2024-05-01T1:00:00Z", "has no hour of two digits"),
    ("20240501T12:00:00Z", "has no minutes of two digits"),
    ("2024-5-01T12:00:00Z", "has no month of two digits"),
    ("2024-05T12:00:00Z", "has no day"),
    ("2024/05/01T12:00:00Z", "has no month of two digits"),
    ("202405011T12:00:00Z", "has a date that is not eight digits"),
    ("-000000-01-01T00:00:00Z", "has a year of minus zero"),
    ("+2024-05-01T12:00:00Z", "has a sign but no year of six digits"),
    ("+100000-01-01T00:00:00Z", "is outside the years -99,999 to 99,999"),
    ("-100000-12-31T23:59:59Z", "is outside the years -99,999 to 99,999"),
    ("+999999-12-31T23:59:59Z", "is outside the years -99,999 to 99,999"),
    ("-999999-01-01T00:00:00Z", "is outside the years -99,999 to 99,999"),
    (
      "2024-05-01T12:00:00.0000000000000000000000000000000000000000000000Z",
      "is longer than 64 bytes"
    ),
  ])
  func refusesWithAReason(text: String, reason: String) {
    #expect(throws: MemoError.invalidTimestamp(reason: reason)) {
      try MemoTimestamp(iso8601: text)
    }
  }

  @Test func describesItselfInOneLine() {
    let error = MemoError.invalidTimestamp(reason: "has no zone")
    #expect("\(error)" == "the time has no zone")
  }

  @Test(arguments: 0..<8 as Range<UInt64>) func changedTextsAreReadOrRefused(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("0123456789-+:.,TtZz W\u{0}\u{FF}".utf8)
    var readCount = 0
    for _ in 0..<500 {
      var bytes = Array(MemoTimestamp.any(using: &generator).description.utf8)
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[position] = alphabet.randomElement(using: &generator) ?? 0
        case 1: bytes.remove(at: position)
        default: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: position)
        }
      }
      guard let timestamp = try? MemoTimestamp(iso8601: bytes) else { continue }
      readCount += 1
      let again = try? MemoTimestamp(iso8601: timestamp.description)
      #expect(again == timestamp, "seed \(seed) \(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(readCount > 0, "seed \(seed)")
  }
}
