/// A point in time to the microsecond, and the offset of the zone in which it was written down.
///
/// The instant orders memos; the offset keeps the day and the time of day as the writer saw them,
/// wherever the memo is read. Two values with the same instant and different offsets are different.
///
/// Instants lie in the years -99,999 to 99,999 (UTC, proleptic Gregorian calendar with a year 0).
/// Leap seconds do not exist in this count, as in Unix time.
public struct MemoTimestamp: Sendable, Hashable {
  /// Microseconds since 1970-01-01T00:00:00 UTC, negative before.
  ///
  /// The difference of any two is an `Int64`.
  public let microseconds: Int64
  /// Seconds that the writer's clock was ahead of UTC, -86,399 to 86,399; negative west of
  /// Greenwich.
  public let offsetSeconds: Int32

  /// Makes a timestamp, or `nil` when a number is out of range.
  ///
  /// - Parameters:
  ///   - microseconds: Microseconds since 1970-01-01T00:00:00 UTC, in the years -99,999 to 99,999.
  ///   - offsetSeconds: Seconds ahead of UTC, -86,399 to 86,399. Default: 0, which is UTC.
  public init?(microseconds: Int64, offsetSeconds: Int32 = 0) {
    guard Self.supportedMicroseconds.contains(microseconds),
      Self.supportedOffsetSeconds.contains(offsetSeconds)
    else { return nil }
    self.microseconds = microseconds
    self.offsetSeconds = offsetSeconds
  }

  /// Makes a timestamp of the closest numbers in range, for clocks that nobody can refuse.
  init(clampingMicroseconds microseconds: Int64, offsetSeconds: Int32) {
    let range = Self.supportedMicroseconds
    self.microseconds = min(max(microseconds, range.lowerBound), range.upperBound)
    self.offsetSeconds = Self.supportedOffsetSeconds.contains(offsetSeconds) ? offsetSeconds : 0
  }

  /// From -99999-01-01T00:00:00Z to the last microsecond of +99999-12-31: every instant has a year
  /// of at most six digits in any zone, and differences fit their type.
  package static let supportedMicroseconds: ClosedRange<Int64> =
    -3_217_830_796_800_000_000...3_093_527_980_799_999_999

  /// Less than a day in both directions.
  package static let supportedOffsetSeconds: ClosedRange<Int32> = -86_399...86_399

  /// The instant as an unsigned number in the same order, for keys (FORMAT.md 10.1).
  package var sortKey: UInt64 {
    Self.sortKey(ofMicroseconds: microseconds)
  }

  /// Any instant as an unsigned number in the same order.
  package static func sortKey(ofMicroseconds microseconds: Int64) -> UInt64 {
    UInt64(bitPattern: microseconds) ^ (1 << 63)
  }

  /// The instant of a sort key, which may lie outside the supported range.
  package static func microseconds(ofSortKey sortKey: UInt64) -> Int64 {
    Int64(bitPattern: sortKey ^ (1 << 63))
  }
}

extension MemoTimestamp: Comparable {
  /// Whether a timestamp comes before another: by instant, equal instants by offset.
  ///
  /// - Parameters:
  ///   - left: A timestamp.
  ///   - right: Another one.
  /// - Returns: Whether `left` comes first. Neither comes first only when the two are equal.
  public static func < (left: MemoTimestamp, right: MemoTimestamp) -> Bool {
    left.microseconds == right.microseconds
      ? left.offsetSeconds < right.offsetSeconds : left.microseconds < right.microseconds
  }
}
