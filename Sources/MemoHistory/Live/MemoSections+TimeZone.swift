// The one file that knows `TimeZone`, where Foundation is part of the system. On Linux it would add
// megabytes to a static program, and `day(secondsFromUTC:)` does the same.

#if canImport(Darwin)
  internal import MemoCore
  public import Foundation

  extension MemoSections {
    /// By the day on which a memo was written, by the clocks of a time zone.
    ///
    /// - Parameter zone: The zone. With `.autoupdatingCurrent` refresh the history when the system
    ///   says that the zone has changed (`NSSystemTimeZoneDidChange`).
    /// - Returns: Sections whose days need not be 24 hours long.
    public static func day(in zone: TimeZone) -> MemoSections {
      day { time in
        let seconds = floorDivision(time.microseconds, by: 1_000_000).quotient
        return zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
      }
    }
  }
#endif
