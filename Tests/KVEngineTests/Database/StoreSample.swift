import KVTestSupport

@testable import KVEngine

/// A folder "store" on some file system and the options it is opened with.
///
/// Nothing happens by itself unless a test says so: segments, calls and crash images are counted.
struct StoreSample {
  /// The folder that the store's is in.
  let folder: StoreFolder
  /// That of the volume, or what was put in between.
  var files: any FileSystem
  var options: DatabaseOptions

  /// Prepares a store "/store"; if it is tiny, logs, blocks and steps are so small that borders
  /// are frequent.
  init(_ files: any FileSystem = MemoryFileSystem(), isTiny: Bool = false) {
    self.init(StoreFolder(rootOf: files), isTiny: isTiny)
  }

  /// Prepares a store in a new folder of a volume.
  ///
  /// What happens beside it on the volume is done through `folder`.
  init(on volume: StoreVolume, isTiny: Bool = false) throws {
    self.init(try StoreFolder(on: volume), isTiny: isTiny)
  }

  /// Prepares a store on a volume, of any kind, on which all files together have that many bytes.
  init(on volume: StoreVolume, capacity: Int, isTiny: Bool = false) throws {
    switch volume {
    case .memory: self.init(MemoryFileSystem(capacity: capacity), isTiny: isTiny)
    case .posix:
      try self.init(on: volume, isTiny: isTiny)
      addFaults().limit(to: capacity, in: [folder.path, path])
    }
  }

  private init(_ folder: StoreFolder, isTiny: Bool) {
    self.folder = folder
    files = folder.files
    options = DatabaseOptions()
    options.worksInBackground = false
    options.zeroStepByteCount = isTiny ? 64 : 4096
    options.blockByteCount = isTiny ? 64 : Limits.Block.defaultByteCount
    options.logByteCount = isTiny ? 0 : 1 << 20
    options.worksInBackground = false
  }

  var path: String { folder.path + "/store" }

  /// The path of a name in the store's folder.
  subscript(name: String) -> String { path + "/" + name }

  /// From now on the store is opened through a file system that fails where it is told to.
  mutating func addFaults() -> FaultFileSystem {
    let faults = FaultFileSystem(files)
    files = faults
    return faults
  }

  func open(in other: (any FileSystem)? = nil) throws(DatabaseError) -> Database {
    try Database(at: path, in: other ?? files, options: options)
  }

  /// Opens it as another process does.
  func open(process number: Int32) throws(DatabaseError) -> Database {
    try open(in: folder.process(number))
  }

  /// Everything that a database holds in the standard space, forward.
  static func contents(_ database: Database) throws(DatabaseError) -> [[UInt8]: [UInt8]] {
    var cursor = try database.cursor()
    var found: [[UInt8]: [UInt8]] = [:]
    while let entry = try cursor.next() { found[entry.key] = entry.value }
    return found
  }

  /// Names in the folder that are not those of replaced MANIFESTs.
  func names() throws -> Set<String> {
    Set(try files.list(path).filter { !$0.hasPrefix("MANIFEST-") })
  }
}

extension Database {
  /// Writes one value.
  @discardableResult
  func put(
    _ value: [UInt8], _ key: [UInt8], durability: Durability = .full
  ) throws(DatabaseError) -> UInt64 {
    var batch = WriteBatch()
    batch.put(value, forKey: key)
    return try write(batch, durability: durability)
  }

  /// Deletes one key.
  @discardableResult
  func remove(
    _ key: [UInt8], durability: Durability = .full
  ) throws(DatabaseError) -> UInt64 {
    var batch = WriteBatch()
    batch.delete(key)
    return try write(batch, durability: durability)
  }
}
