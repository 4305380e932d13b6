public import KVEngine

extension Database {
  /// Rebuilds what can be read of a damaged store as a new store in another folder.
  ///
  /// The damaged store is only read: nothing in its folder is created, changed or removed, and its
  /// lock is taken only if it is free. Every block and record that verifies is kept, also without
  /// MANIFEST, footers and indexes. Where something of the latest state is lost, files that had
  /// been replaced fill in, so deleted keys and older values may be back: the report says whether,
  /// and what is missing. The new store has an id of its own and holds one value for each key.
  ///
  /// - Parameters:
  ///   - path: The damaged store's folder.
  ///   - target: The folder of the new store, which must not exist or be empty; its parent must
  ///     exist and not be the damaged store.
  ///   - options: Those that the new store is written with.
  /// - Returns: What was used and what is lost. The new store is durable then.
  /// - Throws: Never `DatabaseError.damaged(_:)` for what is wrong with the old store.
  ///   `DatabaseError.notFound(fileName:)` if no file of a store is in the folder,
  ///   `DatabaseError.unsupportedFormat(fileName:found:known:)` for a store of a newer library,
  ///   `DatabaseError.notAvailableYet(_:)` while the device is locked,
  ///   `DatabaseError.invalidArgument(_:)` for a target inside the store,
  ///   `DatabaseError.diskFull(_:)`, `DatabaseError.notWritten(_:)` or
  ///   `DatabaseError.io(_:)` if the new store could not be written; then no store is there.
  /// - Complexity: O(bytes of the store); logs are in memory as a whole, segments block by block.
  public static func salvage(
    storeAt path: String, to target: String, options: DatabaseOptions = DatabaseOptions()
  ) throws(DatabaseError) -> SalvageReport {
    try salvage(storeAt: path, to: target, in: PosixFileSystem.shared, options: options)
  }

  /// The same on a file system of the caller's.
  package static func salvage(
    storeAt path: String, to target: String, in files: any FileSystem, options: DatabaseOptions
  ) throws(DatabaseError) -> SalvageReport {
    try Salvage.run(
      from: StoreLocation(files: files, folder: normalized(path)),
      to: StoreLocation(files: files, folder: normalized(target)), options: options)
  }
}
