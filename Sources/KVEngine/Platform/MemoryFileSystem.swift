#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files and folders in memory, for stores that need no disk and as the base of tests.
///
/// Behaves as a volume of the operating system does. Paths start at an empty root; there are no
/// symbolic links. Nothing is durable, so syncs only check that what they are given exists. One
/// lock guards the volume: a call costs a few lookups and the copying of its bytes.
package final class MemoryFileSystem: FileSystem {
  private let volume: SharedLock<MemoryVolume>
  /// Differs between volumes, and from devices of the operating system by its highest bit.
  private let device: UInt64
  private let simulatedProcess: Int32?

  private static let newestDevice = Lock<UInt64>(1 << 63)

  /// Makes a file system of files that exist already; the capacity, in bytes, bounds their sum.
  ///
  /// The default capacity is more than there is memory.
  package init(_ tree: MemoryTree = MemoryTree(), capacity: Int = 1 << 40) {
    volume = SharedLock(MemoryVolume(tree, capacity: capacity))
    device = Self.newestDevice.withLock { newest in
      newest += 1
      return newest
    }
    simulatedProcess = nil
  }

  private init(_ volume: SharedLock<MemoryVolume>, device: UInt64, process: Int32) {
    self.volume = volume
    self.device = device
    simulatedProcess = process
  }

  /// The same files and locks as another process sees them.
  package func process(_ number: Int32) -> MemoryFileSystem {
    MemoryFileSystem(volume, device: device, process: number)
  }

  /// Ends what a kill of this process would end, its locks; its open files stay usable.
  package func endProcess() {
    volume.withLock { $0.unlockAll(of: processNumber) }
  }

  /// All files and folders at this moment; cheap, since unchanged pages are shared.
  package var tree: MemoryTree { volume.withLock { $0.tree } }

  package var processNumber: Int32 { simulatedProcess ?? ProcessNumber.current }

  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    let file = try volume.withLock { volume throws(SystemError) in
      try volume.open(path, mode)
    }
    let identity = FileIdentity(device: device, inode: file)
    return MemoryFile(volume, identity, path: path, isWritable: mode != .read)
  }

  package func status(_ path: String) throws(SystemError) -> FileStatus {
    try volume.withLock { volume throws(SystemError) in
      let number = try volume.tree.number(path, for: .status)
      return volume.tree.status(of: FileIdentity(device: device, inode: number))
    }
  }

  package func list(_ path: String) throws(SystemError) -> [String] {
    try names(in: path, for: .list).map { String(decoding: $0, as: UTF8.self) }
  }

  private func names(
    in path: String, for operation: SystemError.Operation
  ) throws(SystemError) -> [[UInt8]] {
    try volume.withLock { volume throws(SystemError) in
      let folder = try volume.tree.number(path, for: operation)
      guard let names = volume.tree.folders[folder] else {
        throw SystemError(operation, path, code: ENOTDIR)
      }
      return Array(names.keys)
    }
  }

  package func makeDirectory(_ path: String) throws(SystemError) {
    try volume.withLock { volume throws(SystemError) in try volume.makeDirectory(path) }
  }

  package func rename(_ source: String, to target: String) throws(SystemError) {
    try volume.withLock { volume throws(SystemError) in try volume.rename(source, to: target) }
  }

  package func link(_ source: String, to target: String) throws(SystemError) {
    try volume.withLock { volume throws(SystemError) in try volume.link(source, to: target) }
  }

  package func unlink(_ path: String) throws(SystemError) {
    try volume.withLock { volume throws(SystemError) in try volume.unlink(path) }
  }

  package func syncDirectory(_ path: String) throws(SystemError) {
    _ = try names(in: path, for: .syncDirectory)
  }

  package func lock(_ path: String) throws(SystemError) -> any FileLock {
    let (file, token) = try volume.withLock { volume throws(SystemError) in
      try volume.lock(path, process: processNumber)
    }
    return MemoryFileLock(volume, file: file, token: token)
  }

  package func freeByteCount(_ path: String) throws(SystemError) -> Int {
    try volume.withLock { volume throws(SystemError) in
      _ = try volume.tree.number(path, for: .freeSpace)
      return max(0, volume.capacity - volume.usedByteCount)
    }
  }
}

extension MemoryTree {
  fileprivate func status(of identity: FileIdentity) -> FileStatus {
    let bytes = files[identity.inode]
    return FileStatus(
      kind: bytes == nil ? .directory : .file, byteCount: bytes?.byteCount ?? 0,
      identity: identity)
  }
}

/// An open file in memory; its bytes stay while it is open.
private final class MemoryFile: File {
  private let volume: SharedLock<MemoryVolume>
  private let identity: FileIdentity
  private let path: String
  private let isWritable: Bool

  init(_ volume: SharedLock<MemoryVolume>, _ identity: FileIdentity, path: String, isWritable: Bool)
  {
    self.volume = volume
    self.identity = identity
    self.path = path
    self.isWritable = isWritable
  }

  deinit {
    volume.withLock { $0.release(identity.inode) }
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    guard offset >= 0 else { throw SystemError(.read, path, code: EINVAL) }
    return volume.withLock { volume in
      unsafe volume.tree.files[identity.inode]?.read(at: offset, into: buffer) ?? 0
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    guard isWritable else { throw SystemError(.write, path, code: EBADF) }
    return try volume.withLock { volume throws(SystemError) in
      try unsafe volume.write(buffer, at: offset, to: identity.inode, path)
    }
  }

  func sync() {}

  func status() -> FileStatus {
    volume.withLock { $0.tree.status(of: identity) }
  }
}

/// A lock on a file in memory.
private final class MemoryFileLock: FileLock {
  private let volume: SharedLock<MemoryVolume>
  private let file: UInt64
  private let token: UInt64

  init(_ volume: SharedLock<MemoryVolume>, file: UInt64, token: UInt64) {
    self.volume = volume
    self.file = file
    self.token = token
  }

  deinit {
    unlock()
  }

  func unlock() {
    volume.withLock { $0.unlock(file, token: token) }
  }
}
