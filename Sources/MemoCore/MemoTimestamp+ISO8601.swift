// The forms of ISO 8601 that name one instant and that programs really write. What has two readings
// (no zone, a bare number, day and month in another order) is refused: a wrong time cannot be told
// from a right one later.

extension MemoTimestamp {
  /// Reads a timestamp in ISO 8601 form.
  ///
  /// Accepted are
  /// - `2024-05-01T12:00:00+09:00`, with `T`, `t` or one space between date and time;
  /// - no seconds, or seconds with a fraction behind a point or a comma (digits behind the
  ///   microsecond are cut off, also before 1970);
  /// - the zone as `Z`, `z`, `+09`, `+0900`, `+09:00` or `+09:18:59`, one space before it allowed;
  /// - the basic form `20240501T120000Z`;
  /// - years with a sign and six digits, such as `-000001-12-31T00:00:00Z`.
  ///
  /// The second 60 becomes the last microsecond of its minute, whether or not there was a leap
  /// second; `24:00:00` is the next midnight.
  ///
  /// - Parameter text: The text, without anything around it.
  /// - Throws: ``MemoError/invalidTimestamp(reason:)``.
  public init(iso8601 text: String) throws(MemoError) {
    self = try MemoTimestamp(iso8601: Array(text.utf8))
  }

  /// The same from bytes that nobody has checked.
  package init(iso8601 bytes: [UInt8]) throws(MemoError) {
    var parser = TimestampParser(bytes)
    self = try parser.timestamp()
  }
}

/// Reads one timestamp from the front of its bytes to the end.
private struct TimestampParser {
  /// Long enough for every form with thirty digits of fraction.
  private static let maximumByteCount = 64
  private static let outsideTheYears = "is outside the years -99,999 to 99,999"

  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func timestamp() throws(MemoError) -> MemoTimestamp {
    try checkBytes()
    let (day, isBasic) = try date()
    guard take("T") || take("t") || take(" ") else { throw failure("has no time of day") }
    let microseconds = try timeOfDay(isBasic: isBasic)
    let offsetSeconds = try zone()
    guard offset == bytes.count else { throw failure("goes on behind the zone") }
    let local = Int64(day.daysSince1970) * 86_400_000_000 + microseconds
    let result = MemoTimestamp(
      microseconds: local - Int64(offsetSeconds) * 1_000_000, offsetSeconds: offsetSeconds)
    guard let result else { throw failure(Self.outsideTheYears) }
    return result
  }

  /// Refuses what is recognised better as a whole than at its first odd byte.
  private func checkBytes() throws(MemoError) {
    guard let first = bytes.first, let last = bytes.last else { throw failure("is empty") }
    guard bytes.count <= Self.maximumByteCount else {
      throw failure("is longer than \(Self.maximumByteCount) bytes")
    }
    guard bytes.allSatisfy({ $0 < 0x80 }) else {
      throw failure("has a character that is not ASCII")
    }
    if first == UInt8(ascii: " ") { throw failure("begins with a space") }
    if last == UInt8(ascii: " ") { throw failure("ends with a space") }
    if digitCount == bytes.count && bytes.count != 8 {
      throw failure("is a number; seconds or milliseconds is not said")
    }
  }

  // MARK: - Date

  private mutating func date() throws(MemoError) -> (day: CivilDay, isBasic: Bool) {
    let year: Int
    let isBasic: Bool
    if take("+") {
      year = try expandedYear()
      isBasic = false
    } else if take("-") {
      year = -(try expandedYear())
      if year == 0 { throw failure("has a year of minus zero") }
      isBasic = false
    } else {
      let run = digitCount
      guard run >= 4 else { throw failure("does not begin with a year of four digits") }
      year = try number(digitCount: 4, "does not begin with a year of four digits")
      if run == 7 { throw failure("is an ordinal date") }
      guard run == 4 || run == 8 else { throw failure("has a date that is not eight digits") }
      isBasic = run == 8
    }
    if !isBasic {
      _ = take("-")
      if next == UInt8(ascii: "W") { throw failure("is a week date") }
      if digitCount == 3 { throw failure("is an ordinal date") }
    }
    let month = try number(digitCount: 2, "has no month of two digits")
    guard isBasic || take("-") else { throw failure("has no day") }
    let day = try number(digitCount: 2, "has no day of two digits")
    // One year more than the supported ones, which a zone may bring back; not so many that the
    // instant has no Int64.
    guard abs(year) <= 100_000 else { throw failure(Self.outsideTheYears) }
    guard (1...12).contains(month) else { throw failure("has a month outside 1 to 12") }
    guard let civil = CivilDay(year: year, month: month, day: day) else {
      throw failure("has a day that its month does not have")
    }
    return (civil, isBasic)
  }

  private mutating func expandedYear() throws(MemoError) -> Int {
    guard digitCount == 6 else { throw failure("has a sign but no year of six digits") }
    return try number(digitCount: 6, "has a sign but no year of six digits")
  }

  // MARK: - Time of day

  /// Microseconds since the midnight before; up to a whole day for 24:00:00.
  private mutating func timeOfDay(isBasic: Bool) throws(MemoError) -> Int64 {
    let hour = try number(digitCount: 2, "has no hour of two digits")
    guard isBasic || take(":") else { throw failure("has no minutes") }
    let minute = try number(digitCount: 2, "has no minutes of two digits")
    var second = 0
    var fraction: Int64 = 0
    if isBasic ? digitCount > 0 : take(":") {
      second = try number(digitCount: 2, "has no seconds of two digits")
      if take(".") || take(",") { fraction = try microsecondsOfFraction() }
    }
    guard hour <= 24 else { throw failure("has an hour outside 0 to 24") }
    guard minute <= 59 else { throw failure("has minutes outside 0 to 59") }
    guard second <= 60 else { throw failure("has seconds outside 0 to 60") }
    if hour == 24 && (minute != 0 || second != 0 || fraction != 0) {
      throw failure("is later than 24:00:00")
    }
    if second == 60 {
      second = 59
      fraction = 999_999
    }
    return Int64(hour * 3600 + minute * 60 + second) * 1_000_000 + fraction
  }

  /// The first six digits count, the rest is cut off: a time never moves into the next second.
  private mutating func microsecondsOfFraction() throws(MemoError) -> Int64 {
    let count = digitCount
    guard count > 0 else { throw failure("has no digit behind the decimal sign") }
    var result: Int64 = 0
    for position in 0..<6 {
      result *= 10
      if position < count { result += Int64(bytes[offset + position] - UInt8(ascii: "0")) }
    }
    offset += count
    return result
  }

  // MARK: - Zone

  private mutating func zone() throws(MemoError) -> Int32 {
    if offset == bytes.count { throw failure("has no zone") }
    _ = take(" ")
    if take("Z") || take("z") { return 0 }
    let isNegative = next == UInt8(ascii: "-")
    guard take("+") || take("-") else { throw failure("has no zone where one is expected") }

    let run = digitCount
    guard run == 2 || run == 4 else { throw failure("has a zone that is not two or four digits") }
    let hours = try number(digitCount: 2, "has a zone without hours")
    var minutes = 0
    var seconds = 0
    if run == 4 {
      minutes = try number(digitCount: 2, "has a zone without minutes")
    } else if take(":") {
      minutes = try number(digitCount: 2, "has a zone without minutes")
      if take(":") { seconds = try number(digitCount: 2, "has a zone without seconds") }
    }
    guard hours <= 23, minutes <= 59, seconds <= 59 else {
      throw failure("has a zone of more than 23:59:59")
    }
    let magnitude = Int32(hours * 3600 + minutes * 60 + seconds)
    return isNegative ? -magnitude : magnitude
  }

  // MARK: - Bytes

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Number of digits from here on.
  private var digitCount: Int {
    bytes[offset...].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.count
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  /// The number that the next digits are.
  private mutating func number(digitCount count: Int, _ reason: String) throws(MemoError) -> Int {
    guard digitCount >= count else { throw failure(reason) }
    var result = 0
    for byte in bytes[offset..<(offset + count)] {
      result = result * 10 + Int(byte - UInt8(ascii: "0"))
    }
    offset += count
    return result
  }

  private func failure(_ reason: String) -> MemoError {
    .invalidTimestamp(reason: reason)
  }
}
