/// A day of the proleptic Gregorian calendar: the rules of today applied to all times, with a year
/// 0 (ISO 8601), whatever calendar was in use then.
package struct CivilDay: Hashable, Sendable {
  package let year: Int
  package let month: Int
  package let day: Int

  /// Makes a day, `nil` when the month does not have it.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), day >= 1, day <= Self.dayCount(ofMonth: month, in: year) else {
      return nil
    }
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

  /// Number of days in a month; the month is 1 to 12.
  private static func dayCount(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
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
