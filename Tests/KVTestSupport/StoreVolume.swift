package import KVEngine

/// The file systems on which each part of a database is tested: a real volume and that in memory.
package enum StoreVolume: String, CaseIterable, Sendable {
  case posix, memory

  /// Each volume with seeds: the first few on the real one, where a sync takes milliseconds.
  package static func seeds(
    _ count: UInt64, onDisk diskCount: UInt64 = 1
  ) -> [(StoreVolume, UInt64)] {
    (0..<count).map { (.memory, $0) } + (0..<diskCount).map { (.posix, $0) }
  }
}

/// A folder on such a volume, for stores and for what lies beside them.
///
/// On the real one it is removed when nobody uses its files any more.
package struct StoreFolder: Sendable {
  package let files: any FileSystem
  /// The path without a slash at its end.
  package let path: String

  /// Makes an empty folder.
  package init(on volume: StoreVolume) throws {
    switch volume {
    case .memory:
      (files, path) = (MemoryFileSystem(), "/volume")
      try files.makeDirectory(path)
    case .posix:
      let directory = try TemporaryDirectory()
      files = FaultFileSystem(PosixFileSystem.shared, keeping: directory)
      path = directory.path
    }
  }

  /// Takes the root of a file system.
  package init(rootOf files: any FileSystem) {
    (self.files, path) = (files, "")
  }

  /// The same files, used by another process as far as locks and handles can tell.
  package func process(_ number: Int32) -> FaultFileSystem {
    if let memory = files as? MemoryFileSystem { return FaultFileSystem(memory.process(number)) }
    return FaultFileSystem(files, process: -number)
  }
}
