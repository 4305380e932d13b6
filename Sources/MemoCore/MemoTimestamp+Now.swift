#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#else
  #error("MemoCore needs the C library of Linux or an Apple system")
#endif

extension MemoTimestamp {
  /// The wall clock of the system with the offset of its time zone at this moment.
  ///
  /// The clock may have been set back since an earlier call. A clock outside the supported years
  /// gives the closest supported instant.
  ///
  /// - Complexity: O(1), about a microsecond.
  public static var now: MemoTimestamp {
    var time = timespec()
    // The only documented failure is an unknown clock; 1970 is then as good as anything.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    let range = supportedMicroseconds
    let seconds = min(
      max(Int64(time.tv_sec), range.lowerBound / 1_000_000), range.upperBound / 1_000_000)
    return MemoTimestamp(
      clampingMicroseconds: seconds * 1_000_000 + Int64(time.tv_nsec) / 1000,
      offsetSeconds: offsetSeconds(at: time.tv_sec))
  }

  /// The local offset from UTC at a moment; 0 when the system cannot tell.
  private static func offsetSeconds(at moment: time_t) -> Int32 {
    var moment = moment
    var parts = unsafe tm()
    // localtime_r alone need not notice that the zone changed since the process started.
    tzset()
    guard unsafe localtime_r(&moment, &parts) != nil else { return 0 }
    return Int32(exactly: unsafe parts.tm_gmtoff) ?? 0
  }
}
