#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A descriptor of the operating system, closed with its owner.
///
/// The result of close is ignored: what has to be durable was synced before.
struct FileDescriptor: ~Copyable, Sendable {
  let rawValue: Int32

  /// Opens a path; the descriptor does not survive exec.
  init(
    _ path: String, flags: Int32, for operation: SystemError.Operation
  ) throws(SystemError) {
    try SystemCall.check(path, for: operation)
    rawValue = try SystemCall.repeated(operation, path) {
      unsafe open(path, flags | O_CLOEXEC, 0o600)
    }
  }

  /// Opens or creates a regular file and nothing else (rule F17).
  ///
  /// A symbolic link at the end is refused by O_NOFOLLOW. O_NONBLOCK keeps a FIFO from waiting for
  /// its other end until its kind is known, and means nothing for a regular file.
  static func regularFile(
    _ path: String, flags: Int32, for operation: SystemError.Operation
  ) throws(SystemError) -> FileDescriptor {
    let descriptor = try FileDescriptor(
      path, flags: flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, for: operation)
    switch try descriptor.status(path, for: operation).kind {
    case .file: return descriptor
    case .directory: throw SystemError(operation, path, code: EISDIR)
    case .other: throw SystemError(operation, path, code: EINVAL)
    }
  }

  deinit {
    close(rawValue)
  }

  /// Kind, length and identity of what is open.
  func status(
    _ path: String, for operation: SystemError.Operation
  ) throws(SystemError) -> FileStatus {
    var found = stat()
    try SystemCall.once(operation, path) { unsafe fstat(rawValue, &found) }
    return FileStatus(found)
  }
}

extension FileStatus {
  /// What the operating system says of a file.
  init(_ found: stat) {
    let kind: Kind =
      switch found.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      default: .other
      }
    self.init(
      kind: kind, byteCount: Int(found.st_size),
      identity: FileIdentity(
        device: UInt64(truncatingIfNeeded: found.st_dev),
        inode: UInt64(truncatingIfNeeded: found.st_ino)))
  }
}
