#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A failed call below the engine: what was tried, on what, and the error number.
package struct SystemError: Error, Equatable {
  /// The calls of the file system layer.
  package enum Operation: String, Sendable, CaseIterable {
    case open, read, write, sync, syncDirectory, rename, link, unlink, makeDirectory, list, status
    case lock, truncate, freeSpace, start
  }

  package let operation: Operation
  package let path: String
  package let code: Int32

  package init(_ operation: Operation, _ path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// Nothing has this name.
  package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }
  /// The process, or the system, has no descriptor left.
  package var isDescriptorLimit: Bool { code == EMFILE || code == ENFILE }
  /// The file cannot have a second name there: another volume, or one without links.
  package var isLinkRefused: Bool {
    code == EXDEV || code == EPERM || code == EMLINK || code == ENOTSUP
  }
  /// Something that is not a folder stands where one is needed.
  package var isNoFolder: Bool { code == ENOTDIR }
  /// The name is taken.
  package var isExisting: Bool { code == EEXIST }
  /// The volume, a quota or a file-size limit is exhausted.
  package var isSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  /// The place cannot be written by us.
  package var isReadOnly: Bool { code == EROFS || code == EACCES || code == EPERM }
  /// Bytes or names that should be durable are not, and a second attempt would prove nothing.
  package var isFailedSync: Bool { operation == .sync || operation == .syncDirectory }
  /// The lock is held by somebody else.
  package var isLocked: Bool { code == EWOULDBLOCK || code == EAGAIN }
  /// The file exists but the device does not give it out, as while an iPhone is locked.
  package var isUnavailable: Bool { code == EPERM }

  /// The failure as the caller of the engine sees it: the name without the path.
  package var failure: IOFailure {
    IOFailure(operation: operation.rawValue, fileName: Self.name(of: path), code: code)
  }

  /// What a failed read of a store's file means to the caller of the engine.
  package var readFailure: DatabaseError {
    isUnavailable ? .notAvailableYet(failure) : .io(failure)
  }

  /// What an error number means, in the operating system's words.
  package static func text(for code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  private static func name(of path: String) -> String {
    let bytes = path.utf8
    let trimmed = bytes.last == UInt8(ascii: "/") ? bytes.dropLast() : bytes[...]
    guard let slash = trimmed.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(decoding: trimmed[trimmed.index(after: slash)...], as: UTF8.self)
  }

  /// A call that took or gave nothing although there was something.
  package static func noProgress(_ operation: Operation, _ path: String) -> SystemError {
    SystemError(operation, path, code: EIO)
  }

  /// Less room than something needs.
  package static func noSpace(_ path: String) -> SystemError {
    SystemError(.freeSpace, path, code: ENOSPC)
  }

  /// A folder that must be missing or empty and is not.
  package static func taken(_ path: String) -> SystemError {
    SystemError(.makeDirectory, path, code: EEXIST)
  }

  /// A lock that another handle of this process holds.
  package static func locked(_ path: String) -> SystemError {
    SystemError(.lock, path, code: EWOULDBLOCK)
  }

  /// A file that would become larger than anybody reads.
  package static func tooLarge(_ path: String) -> SystemError {
    SystemError(.write, path, code: EFBIG)
  }
}

extension IOFailure: CustomStringConvertible {
  /// One line: what failed, on which file, and why.
  public var description: String {
    "\(operation) of \(fileName) failed: \(SystemError.text(for: code))"
  }
}

/// Does something with files; what the system says against it becomes an error of the engine.
package func readingFiles<Value>(
  _ body: () throws(SystemError) -> Value
) throws(DatabaseError) -> Value {
  do {
    return try body()
  } catch {
    throw error.readFailure
  }
}
