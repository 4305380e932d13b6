import CSyncs
import Glibc

/// Nanoseconds of a clock that never goes back.
func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// What a process has used: up to now, between two times, or in several such spans.
struct Usage {
  /// User and system time of all threads, in nanoseconds.
  var cpu = 0
  /// Bytes that the process made the system write to the device, `write_bytes` of /proc/self/io;
  /// 0 where the system does not say.
  var bytesWritten = 0
  /// Calls that read from files; what is read through a mapping makes none.
  var reads = 0
  /// Calls that make files durable.
  var syncs = 0
  /// Most bytes of memory at a time since ``start``, above what there was then.
  var memory = 0

  /// What this process has used up to now, and the beginning of a new peak of memory.
  static var start: Usage {
    // Makes VmHWM what is resident now.
    try? Files.write("5", to: "/proc/self/clear_refs")
    return current
  }

  /// What this process has used up to now.
  static var current: Usage {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let io = "/proc/self/io"
    return Usage(
      cpu: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
      bytesWritten: field("write_bytes:", of: io) ?? 0, reads: field("syscr:", of: io) ?? 0,
      syncs: syncCount, memory: peakMemory)
  }

  /// Most bytes of memory that this process ever had at a time (VmHWM).
  static var peakMemory: Int {
    (field("VmHWM:", of: "/proc/self/status") ?? 0) * 1024
  }

  /// Calls that made files durable up to now.
  static var syncCount: Int { memobench_sync_count() }

  /// Bytes that this process made the system read from the device.
  static var bytesRead: Int { field("read_bytes:", of: "/proc/self/io") ?? 0 }

  static func + (one: Usage, other: Usage) -> Usage {
    Usage(
      cpu: one.cpu + other.cpu, bytesWritten: one.bytesWritten + other.bytesWritten,
      reads: one.reads + other.reads, syncs: one.syncs + other.syncs,
      memory: max(one.memory, other.memory))
  }

  static func - (end: Usage, start: Usage) -> Usage {
    // Reading /proc for the start is itself some reads.
    Usage(
      cpu: end.cpu - start.cpu, bytesWritten: end.bytesWritten - start.bytesWritten,
      reads: max(end.reads - start.reads - readsOfItsOwn, 0), syncs: end.syncs - start.syncs,
      memory: max(end.memory - start.memory, 0))
  }

  /// Calls that ``current`` makes after it has read the counter of calls, until it reads it again.
  private static let readsOfItsOwn: Int = {
    let first = field("syscr:", of: "/proc/self/io") ?? 0
    _ = current
    return (field("syscr:", of: "/proc/self/io") ?? 0) - first
  }()

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
