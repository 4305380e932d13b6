#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Time for intervals: never goes back and means nothing outside of this process.
package enum MonotonicClock {
  /// Nanoseconds since an arbitrary start.
  package static func nanoseconds() -> UInt64 {
    let now = read(CLOCK_MONOTONIC)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }
}

/// Time as data: may jump either way, so no decision rests on it (rule F32).
package enum WallClock {
  /// Microseconds since the start of 1970, UTC.
  package static func microseconds() -> Int64 {
    let now = read(CLOCK_REALTIME)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }
}

private func read(_ clock: clockid_t) -> timespec {
  var now = timespec()
  unsafe clock_gettime(clock, &now)
  return now
}
