#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The volumes of the operating system.
///
/// Has no state: a path means what it means to the process at the time of the call.
package final class PosixFileSystem: FileSystem {
  /// The only one.
  package static let shared = PosixFileSystem()

  private init() {}

  package var processNumber: Int32 { ProcessNumber.current }

  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .update: O_RDWR
      case .create: O_RDWR | O_CREAT | O_EXCL
      }
    if mode != .read { FileSizeSignal.ignore() }
    return PosixFile(try .regularFile(path, flags: flags, for: .open), path: path)
  }

  package func status(_ path: String) throws(SystemError) -> FileStatus {
    try SystemCall.check(path, for: .status)
    var found = stat()
    try SystemCall.once(.status, path) { unsafe lstat(path, &found) }
    return FileStatus(found)
  }

  /// The names in a folder; one that is no UTF-8 is listed in a repaired form that opens nothing.
  package func list(_ path: String) throws(SystemError) -> [String] {
    try SystemCall.check(path, for: .list)
    guard let folder = unsafe opendir(path) else {
      throw SystemError(.list, path, code: errno)
    }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(folder) else {
        guard errno == 0 else { throw SystemError(.list, path, code: errno) }
        return names
      }
      let name = unsafe Self.name(of: entry)
      if name != "." && name != ".." { names.append(name) }
    }
  }

  package func makeDirectory(_ path: String) throws(SystemError) {
    try SystemCall.check(path, for: .makeDirectory)
    try SystemCall.once(.makeDirectory, path) { unsafe mkdir(path, 0o700) }
  }

  package func rename(_ source: String, to target: String) throws(SystemError) {
    try SystemCall.check(source, for: .rename)
    try SystemCall.check(target, for: .rename)
    try SystemCall.once(.rename, source) {
      unsafe renameat(AT_FDCWD, source, AT_FDCWD, target)
    }
  }

  package func link(_ source: String, to target: String) throws(SystemError) {
    try SystemCall.check(source, for: .link)
    try SystemCall.check(target, for: .link)
    // Unlike link, linkat without flags follows a symbolic link on no system.
    try SystemCall.once(.link, source) {
      unsafe linkat(AT_FDCWD, source, AT_FDCWD, target, 0)
    }
  }

  package func unlink(_ path: String) throws(SystemError) {
    try SystemCall.check(path, for: .unlink)
    try SystemCall.once(.unlink, path) { unsafe unlinkat(AT_FDCWD, path, 0) }
  }

  package func syncDirectory(_ path: String) throws(SystemError) {
    let folder = try FileDescriptor(path, flags: O_RDONLY | O_DIRECTORY, for: .syncDirectory)
    try FileSync.syncDirectory(folder.rawValue, path)
  }

  package func lock(_ path: String) throws(SystemError) -> any FileLock {
    try PosixFileLock(path)
  }

  package func freeByteCount(_ path: String) throws(SystemError) -> Int {
    try SystemCall.check(path, for: .freeSpace)
    var volume = statvfs()
    try SystemCall.once(.freeSpace, path) { unsafe statvfs(path, &volume) }
    let (bytes, isTooLarge) = Int(clamping: volume.f_bavail)
      .multipliedReportingOverflow(by: Int(clamping: volume.f_frsize))
    return isTooLarge ? .max : bytes
  }

  /// The name in a directory entry.
  ///
  /// Read in place: the entry is shorter than its type, a copy would read behind it.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
      unsafe String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
    }
  }
}

/// An open file of the operating system.
private final class PosixFile: File {
  private let descriptor: FileDescriptor
  private let path: String

  init(_ descriptor: consuming FileDescriptor, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    let count = min(buffer.count, SystemCall.maximumByteCount)
    return try SystemCall.rereading { () throws(SystemError) in
      try SystemCall.repeated(.read, path) {
        unsafe pread(descriptor.rawValue, buffer.baseAddress, count, off_t(offset))
      }
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    let count = min(buffer.count, SystemCall.maximumByteCount)
    return try SystemCall.repeated(.write, path) {
      unsafe pwrite(descriptor.rawValue, buffer.baseAddress, count, off_t(offset))
    }
  }

  func sync() throws(SystemError) {
    try FileSync.syncFile(descriptor.rawValue, path)
  }

  func status() throws(SystemError) -> FileStatus {
    try descriptor.status(path, for: .status)
  }
}
