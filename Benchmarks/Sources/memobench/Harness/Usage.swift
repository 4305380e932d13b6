import Glibc

/// Nanoseconds of a clock that never goes back.
func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// What a process has used so far.
struct Usage {
  /// User and system time of all threads, in nanoseconds.
  var cpu = 0
  /// Bytes that the process made the system write to the device, `write_bytes` of /proc/self/io;
  /// 0 where the system does not say.
  var bytesWritten = 0

  /// What this process has used up to now.
  static var current: Usage {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Usage(
      cpu: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
      bytesWritten: field("write_bytes:", of: "/proc/self/io") ?? 0)
  }

  /// Most bytes of memory that this process ever had at a time (VmHWM).
  static var peakMemory: Int {
    (field("VmHWM:", of: "/proc/self/status") ?? 0) * 1024
  }

  static func - (end: Usage, start: Usage) -> Usage {
    Usage(cpu: end.cpu - start.cpu, bytesWritten: end.bytesWritten - start.bytesWritten)
  }

  static func nanoseconds(_ time: timeval) -> Int {
    Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_usec) * 1000
  }

  /// The number behind a name in a file of /proc.
  private static func field(_ name: String, of path: String) -> Int? {
    let text = (try? Files.text(of: path)) ?? ""
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else {
      return nil
    }
    return line.dropFirst(name.count).split(whereSeparator: { $0 == " " || $0 == "\t" }).first
      .flatMap { Int($0) }
  }
}
