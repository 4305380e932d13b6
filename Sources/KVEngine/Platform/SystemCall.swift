#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How system calls are repeated, and when they are not.
enum SystemCall {
  /// The largest transfer asked for at once: Darwin refuses 2 GiB, Linux takes a little less.
  static let maximumByteCount = 1 << 30

  /// Runs a call until a signal no longer interrupts it (rule F1), and returns its result.
  ///
  /// For calls that may be repeated without harm: open, lock, positioned reads and writes. A sync
  /// or a change of names is none of them, see ``once(_:_:_:)``.
  static func repeated<Count: SignedInteger>(
    _ operation: SystemError.Operation, _ path: String, _ call: () -> Count
  ) throws(SystemError) -> Count {
    while true {
      let result = call()
      if result >= 0 { return result }
      let code = errno
      if code != EINTR { throw SystemError(operation, path, code: code) }
    }
  }

  /// Runs a call that must not be repeated whatever it answers.
  ///
  /// An interrupted sync counts as failed: the kernel may have met, reported and forgotten a write
  /// error on the way, so that a second call would succeed without the bytes (rule F4). A rename
  /// that was interrupted on a network volume may have happened; repeating it reports ENOENT.
  @discardableResult
  static func once<Count: SignedInteger>(
    _ operation: SystemError.Operation, _ path: String, _ call: () -> Count
  ) throws(SystemError) -> Count {
    let result = call()
    guard result >= 0 else { throw SystemError(operation, path, code: errno) }
    return result
  }

  /// Reads again, once, what the device could not read (rule F16).
  static func rereading(
    _ read: () throws(SystemError) -> Int
  ) throws(SystemError) -> Int {
    do {
      return try read()
    } catch {
      guard error.code == EIO else { throw error }
      return try read()
    }
  }

  /// Refuses a path that the C library would cut short at a zero byte.
  static func check(
    _ path: String, for operation: SystemError.Operation
  ) throws(SystemError) {
    let hasZero = unsafe path.utf8.withContiguousStorageIfAvailable {
      unsafe $0.contains(0)
    }
    guard !(hasZero ?? path.utf8.contains(0)) else {
      throw SystemError(operation, path, code: EINVAL)
    }
  }
}
