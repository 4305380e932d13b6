internal import KVEngine

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A file system that fails as long as it is told to, in the way it is told to.
final class FailingFileSystem: FileSystem {
  private let base: MemoryFileSystem
  let fault: SharedLock<TestVolume.Fault?>

  init(_ base: MemoryFileSystem, _ fault: SharedLock<TestVolume.Fault?>) {
    self.base = base
    self.fault = fault
  }

  var processNumber: Int32 { base.processNumber }

  /// Throws when a fault has an effect on an operation.
  fileprivate func check(
    _ operation: SystemError.Operation, _ path: String
  ) throws(SystemError) {
    if let code = fault.withLock({ $0 })?.code(of: operation) {
      throw SystemError(operation, path, code: code)
    }
  }

  func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    try check(mode == .read ? .open : .makeDirectory, path)
    return FailingFile(try base.open(path, mode), path, self)
  }

  func status(_ path: String) throws(SystemError) -> FileStatus { try base.status(path) }

  func list(_ path: String) throws(SystemError) -> [String] { try base.list(path) }

  func makeDirectory(_ path: String) throws(SystemError) {
    try check(.makeDirectory, path)
    try base.makeDirectory(path)
  }

  func rename(_ source: String, to target: String) throws(SystemError) {
    try check(.rename, source)
    try base.rename(source, to: target)
  }

  func link(_ source: String, to target: String) throws(SystemError) {
    try check(.link, source)
    try base.link(source, to: target)
  }

  func unlink(_ path: String) throws(SystemError) { try base.unlink(path) }

  func syncDirectory(_ path: String) throws(SystemError) { try base.syncDirectory(path) }

  func lock(_ path: String) throws(SystemError) -> any FileLock { try base.lock(path) }

  func freeByteCount(_ path: String) throws(SystemError) -> Int {
    fault.withLock { $0 } == .diskFull ? 0 : try base.freeByteCount(path)
  }
}

private final class FailingFile: File {
  private let base: any File
  private let path: String
  private let files: FailingFileSystem

  init(_ base: any File, _ path: String, _ files: FailingFileSystem) {
    self.base = base
    self.path = path
    self.files = files
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try files.check(.read, path)
    return try unsafe base.read(at: offset, into: buffer)
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try files.check(.write, path)
    return try unsafe base.write(buffer, at: offset)
  }

  func sync() throws(SystemError) {
    try files.check(.sync, path)
    try base.sync()
  }

  func status() throws(SystemError) -> FileStatus { try base.status() }
}

extension TestVolume.Fault {
  /// What the system says to an operation; `nil` when the fault does not concern it.
  fileprivate func code(of operation: SystemError.Operation) -> Int32? {
    switch (self, operation) {
    case (.locked, .open), (.locked, .read), (.locked, .makeDirectory): EPERM
    case (.diskFull, .write), (.diskFull, .makeDirectory), (.diskFull, .link): ENOSPC
    case (.readOnly, .write), (.readOnly, .makeDirectory), (.readOnly, .rename),
      (.readOnly, .link):
      EROFS
    case (.failingSync, .sync): EIO
    default: nil
    }
  }
}
