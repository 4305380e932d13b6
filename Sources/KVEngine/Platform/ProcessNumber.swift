import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The number of this process, without a system call for each look.
///
/// Every public call compares it (rule F19), and getpid costs as much as a step of a cursor. After
/// a fork the child's handler reads it again. A child made by a bare clone system call, around the
/// C library, is not noticed.
enum ProcessNumber {
  private static let cached = Atomic<Int32>(0)

  private static let isWatched: Bool = {
    cached.store(getpid(), ordering: .releasing)
    return pthread_atfork(nil, nil, { ProcessNumber.refresh() }) == 0
  }()

  private static func refresh() {
    cached.store(getpid(), ordering: .releasing)
  }

  static var current: Int32 { isWatched ? cached.load(ordering: .acquiring) : getpid() }
}
