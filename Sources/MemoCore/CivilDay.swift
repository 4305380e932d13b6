/// A day of the proleptic Gregorian calendar: the rules of today applied to all times, with a year
/// 0 (ISO 8601), whatever calendar was in use then.
public struct CivilDay: Hashable, Sendable {
  /// The year, -999,999 to 999,999; 0 is the year before 1.
  public let year: Int
  /// The month, 1 to 12.
  public let month: Int
  /// The day of the month, from 1 on.
  public let day: Int

  /// Makes a day, or `nil` when there is no such day.
  ///
  /// - Parameters:
  ///   - year: -999,999 to 999,999.
  ///   - month: 1 to 12.
  ///   - day: 1 to the length of the month.
  public init?(year: Int, month: Int, day: Int) {
    guard (-999_999...999_999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.dayCount(ofMonth: month, in: year)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  // Both directions count years from March, so that the leap day is the last day of its year and
  // needs no case of its own; day 0 of that count is 1 March of year 0, 719,468 days before 1970.
  // Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (days_from_civil).

  private static let daysFromMarch0To1970 = 719_468

  /// The day that is so many days after 1 January 1970.
  package init(daysSince1970 days: Int) {
    // Longest cycle first: 400 years, then 100, 4 and 1. The last century and the last year of a
    // cycle have one day more than the others, hence `min`.
    let (cycles, dayOfCycle) = floorDivision(days + Self.daysFromMarch0To1970, by: 146_097)
    let centuries = min(dayOfCycle / 36_524, 3)
    let dayOfCentury = dayOfCycle - centuries * 36_524
    let (leaps, dayOfLeap) = floorDivision(dayOfCentury, by: 1461)
    let years = min(dayOfLeap / 365, 3)
    let dayOfYear = dayOfLeap - years * 365

    // March is month 0; five months have 153 days, wherever they start.
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = 400 * cycles + 100 * centuries + 4 * leaps + years + (month <= 2 ? 1 : 0)
  }

  /// Days from 1 January 1970 to this day.
  package var daysSince1970: Int {
    let yearFromMarch = month > 2 ? year : year - 1
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let leapDays =
      floorDivision(yearFromMarch, by: 4).quotient - floorDivision(yearFromMarch, by: 100).quotient
      + floorDivision(yearFromMarch, by: 400).quotient
    return 365 * yearFromMarch + leapDays + (153 * monthFromMarch + 2) / 5 + day - 1
      - Self.daysFromMarch0To1970
  }

  /// The day on which a time was written down, by the writer's own clock.
  ///
  /// - Parameter time: The time; its own offset decides, wherever it is read.
  public init(_ time: MemoTimestamp) {
    self.init(time, secondsFromUTC: Int(time.offsetSeconds))
  }

  /// The day of an instant by a clock that is so far ahead of UTC.
  ///
  /// - Parameters:
  ///   - time: The instant; its own offset does not matter.
  ///   - seconds: How far the clock was ahead then, -86,399 to 86,399, as the offset of a
  ///     ``MemoTimestamp``; a number outside counts as the closest one in range.
  public init(_ time: MemoTimestamp, secondsFromUTC seconds: Int) {
    let range = MemoTimestamp.supportedOffsetSeconds
    let offset = min(max(Int64(seconds), Int64(range.lowerBound)), Int64(range.upperBound))
    let days = floorDivision(time.microseconds + offset * 1_000_000, by: 86_400_000_000).quotient
    self.init(daysSince1970: Int(days))
  }

  /// Number of days in a month; the month is 1 to 12.
  private static func dayCount(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension CivilDay: Comparable {
  /// Whether a day comes before another one.
  ///
  /// - Parameters:
  ///   - left: A day.
  ///   - right: Another one.
  /// - Returns: Whether `left` is the earlier one.
  public static func < (left: CivilDay, right: CivilDay) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }
}

extension CivilDay: CustomStringConvertible {
  /// The day in ISO 8601 form, for example "2024-05-01".
  ///
  /// Years outside 0 to 9999 have a sign and six digits.
  public var description: String {
    var text: [UInt8] = []
    text.append(self)
    return String(decoding: text, as: UTF8.self)
  }
}

extension Array<UInt8> {
  /// Appends a day in ISO 8601 form.
  mutating func append(_ date: CivilDay) {
    if (0...9999).contains(date.year) {
      append(digits: date.year, count: 4)
    } else {
      append(UInt8(ascii: date.year < 0 ? "-" : "+"))
      append(digits: abs(date.year), count: 6)
    }
    append(UInt8(ascii: "-"))
    append(digits: date.month, count: 2)
    append(UInt8(ascii: "-"))
    append(digits: date.day, count: 2)
  }

  /// Appends a number that is not negative with leading zeros.
  mutating func append(digits number: Int, count: Int) {
    var divisor = 1
    for _ in 1..<count { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }
}

/// Division that rounds down, so that the remainder is never negative; the divisor is above 0.
package func floorDivision<Integer: FixedWidthInteger & SignedInteger>(
  _ value: Integer, by divisor: Integer
) -> (quotient: Integer, remainder: Integer) {
  let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
