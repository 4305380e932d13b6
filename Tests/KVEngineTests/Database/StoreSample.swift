import KVTestSupport

@testable import KVEngine

/// A folder "/store" on a memory file system and the options it is opened with.
///
/// Nothing happens by itself unless a test says so: segments, calls and crash images are counted.
struct StoreSample {
  static let path = "/store"

  let files: any FileSystem
  var options: DatabaseOptions

  /// Prepares a store; if it is tiny, logs, blocks and steps are so small that borders are
  /// frequent.
  init(_ files: any FileSystem = MemoryFileSystem(), isTiny: Bool = false) {
    self.files = files
    options = DatabaseOptions()
    options.worksInBackground = false
    options.zeroStepByteCount = isTiny ? 64 : 4096
    options.blockByteCount = isTiny ? 64 : Limits.Block.defaultByteCount
    options.logByteCount = isTiny ? 0 : 1 << 20
    options.worksInBackground = false
  }

  func open(in other: (any FileSystem)? = nil) throws(DatabaseError) -> Database {
    try Database(at: Self.path, in: other ?? files, options: options)
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
    Set(try files.list(Self.path).filter { !$0.hasPrefix("MANIFEST-") })
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
  func remove(_ key: [UInt8]) throws(DatabaseError) -> UInt64 {
    var batch = WriteBatch()
    batch.delete(key)
    return try write(batch)
  }
}
