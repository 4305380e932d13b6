extension Database {
  /// Returns the newest value stored for a key, or `nil` if there is none.
  ///
  /// The read sees every write that returned before this call started. It never waits for a write
  /// or a flush. Safe to call from any thread.
  ///
  /// - Parameters:
  ///   - key: 1 to 65,535 bytes; any other key has no value.
  ///   - space: Where the key lives.
  /// - Returns: A copy of the value; `nil` if the key was never written or was deleted.
  /// - Throws: ``DatabaseError/damaged(_:)`` if a block fails its checksum,
  ///   ``DatabaseError/io(_:)`` if a read fails, ``DatabaseError/closed`` after ``close()``,
  ///   ``DatabaseError/usedAfterFork``.
  /// - Complexity: O(log *m*) key comparisons in memory plus at most *s* block reads, where *m* is
  ///   the number of entries in memtables and *s* the number of segments whose range and filter
  ///   admit the key.
  public func value(
    forKey key: [UInt8], in space: Space = .standard
  ) throws(DatabaseError) -> [UInt8]? {
    try check()
    return try state.readView.value(forKey: key, in: space)
  }

  /// A cursor over the keys of a range as they are now.
  ///
  /// - Parameters:
  ///   - range: Which keys exist for the cursor.
  ///   - space: Where the keys live.
  /// - Returns: A cursor that stands outside of the range.
  /// - Throws: As ``value(forKey:in:)``.
  public func cursor(
    in range: KeyRange = .all, space: Space = .standard
  ) throws(DatabaseError) -> Cursor {
    try check()
    return state.readView.cursor(in: range, space: space, of: self)
  }

  /// The state of this moment, for as long as the snapshot is held.
  ///
  /// - Throws: ``DatabaseError/closed`` after ``close()``, ``DatabaseError/usedAfterFork``.
  /// - Complexity: O(1).
  public func snapshot() throws(DatabaseError) -> Snapshot {
    try check()
    return Snapshot(self)
  }

  /// Live keys of a space whose writers say what each write does to the count.
  package func count(in space: Space) throws(DatabaseError) -> Int {
    try check()
    return state.readView.counts[space.code] ?? 0
  }
}
