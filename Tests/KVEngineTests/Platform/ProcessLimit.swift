import Foundation

/// Limits of the process that calls: for tests that end with their process.
enum ProcessLimit {
  #if canImport(Glibc)
    typealias Resource = __rlimit_resource
    private static func number(_ resource: Resource) -> __rlimit_resource_t {
      __rlimit_resource_t(resource.rawValue)
    }
  #else
    typealias Resource = Int32
    private static func number(_ resource: Resource) -> Int32 { resource }
  #endif

  /// Sets a limit that can be raised again.
  private static func set(_ resource: Resource, to value: rlim_t) -> Bool {
    var limit = rlimit()
    guard getrlimit(number(resource), &limit) == 0 else { return false }
    limit.rlim_cur = min(value, limit.rlim_max)
    return setrlimit(number(resource), &limit) == 0
  }

  /// Limits the number of open files.
  ///
  /// Dispatch opens files of its own when its first timer runs, and ends the process when it
  /// cannot: so one runs before. Under load the runtime of the tests may need one at any time.
  static func setDescriptorCount(to count: rlim_t) -> Bool {
    let hasRun = DispatchSemaphore(value: 0)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { hasRun.signal() }
    hasRun.wait()
    return set(RLIMIT_NOFILE, to: count)
  }

  /// Limits the size of files, and lets the signal of it through: task threads block it.
  static func setFileSize(to byteCount: rlim_t) -> Bool {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGXFSZ)
    return pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0
      && set(RLIMIT_FSIZE, to: byteCount)
  }
}
