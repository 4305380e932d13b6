#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock by flock on a file that is never deleted (rule F18).
///
/// flock belongs to the open file: a second handle of the same process is refused like another
/// process, and closing some other descriptor of the file does not give the lock up, as it does
/// with POSIX record locks.
final class PosixFileLock: FileLock {
  /// Guarded by the lock; `nil` once given up.
  private let descriptor: Lock<FileDescriptor?>
  /// The process that took the lock.
  private let owner: Int32

  init(_ path: String) throws(SystemError) {
    let opened = try FileDescriptor.regularFile(path, flags: O_RDWR | O_CREAT, for: .lock)
    _ = try SystemCall.repeated(.lock, path) { flock(opened.rawValue, LOCK_EX | LOCK_NB) }
    descriptor = Lock(opened)
    owner = getpid()
  }

  deinit {
    unlock()
  }

  func unlock() {
    descriptor.withLock { held in
      guard let open = held.take() else { return }
      // The owner unlocks at once even if a child still has the descriptor; a child must not, since
      // that would unlock for the parent too (rule F19).
      if getpid() == owner { flock(open.rawValue, LOCK_UN) }
    }
  }
}
