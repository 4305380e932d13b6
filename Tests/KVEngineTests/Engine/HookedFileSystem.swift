import KVTestSupport

@testable import KVEngine

/// A file system on which other things happen between the calls of the one who uses it.
///
/// Reads of files return at most a page each, so that something can happen in the midst of them.
final class HookedFileSystem: FileSystem {
  /// Called before every call that looks something up, and before syncs of files, with its path.
  typealias Hook = @Sendable (SystemError.Operation, String) -> Void

  private let base: any FileSystem
  private let number = Lock<Int32>(1)
  private let hook = Lock<Hook?>(nil)

  init(_ base: any FileSystem) {
    self.base = base
  }

  /// From now on the caller is another process, as the child of a fork is.
  func fork() { number.withLock { $0 += 1 } }

  /// Calls a closure before the n-th call (counting from 1) of a kind on a file of some name.
  func before(
    _ position: Int, _ operation: SystemError.Operation, of name: String,
    _ body: @escaping @Sendable () -> Void
  ) {
    let seen = Lock(0)
    hook.withLock { hook in
      hook = { found, path in
        guard found == operation, path.hasSuffix(name) else { return }
        let count = seen.withLock { count in
          count += 1
          return count
        }
        if count == position { body() }
      }
    }
  }

  /// Calls a closure before every call of a kind on a file of some name.
  func beforeEvery(
    _ operation: SystemError.Operation, of name: String, _ body: @escaping @Sendable () -> Void
  ) {
    hook.withLock { hook in
      hook = { found, path in
        if found == operation, path.hasSuffix(name) { body() }
      }
    }
  }

  fileprivate func call(_ operation: SystemError.Operation, _ path: String) {
    hook.withLock { $0 }?(operation, path)
  }

  var processNumber: Int32 { number.withLock { $0 } }

  func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    call(.open, path)
    return HookedFile(try base.open(path, mode), path: path, files: self)
  }

  func status(_ path: String) throws(SystemError) -> FileStatus {
    call(.status, path)
    return try base.status(path)
  }

  func list(_ path: String) throws(SystemError) -> [String] {
    call(.list, path)
    return try base.list(path)
  }

  func makeDirectory(_ path: String) throws(SystemError) { try base.makeDirectory(path) }
  func rename(_ source: String, to target: String) throws(SystemError) {
    try base.rename(source, to: target)
  }
  func link(_ source: String, to target: String) throws(SystemError) {
    try base.link(source, to: target)
  }
  func unlink(_ path: String) throws(SystemError) { try base.unlink(path) }
  func syncDirectory(_ path: String) throws(SystemError) { try base.syncDirectory(path) }
  func lock(_ path: String) throws(SystemError) -> any FileLock { try base.lock(path) }
  func freeByteCount(_ path: String) throws(SystemError) -> Int { try base.freeByteCount(path) }
}

private final class HookedFile: File {
  private let base: any File
  private let path: String
  private let files: HookedFileSystem

  init(_ base: any File, path: String, files: HookedFileSystem) {
    self.base = base
    self.path = path
    self.files = files
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    files.call(.read, path)
    let page = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(4096 - offset % 4096))
    return try base.read(at: offset, into: page)
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try base.write(buffer, at: offset)
  }

  func sync() throws(SystemError) {
    files.call(.sync, path)
    try base.sync()
  }

  func status() throws(SystemError) -> FileStatus { try base.status() }
}
