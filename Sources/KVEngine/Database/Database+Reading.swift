extension Database {
  /// Returns the newest value stored for a key, or `nil` if there is none.
  ///
  /// The read sees every write that returned before this call started, those of other processes
  /// included. It never waits for a write or a flush. Safe to call from any thread.
  ///
  /// - Parameters:
  ///   - key: 1 to 65,535 bytes; any other key has no value.
  ///   - space: Where the key lives.
  /// - Returns: A copy of the value; `nil` if the key was never written or was deleted.
  /// - Throws: ``DatabaseError/damaged(_:)`` if a block fails its checksum,
  ///   ``DatabaseError/io(_:)`` if a read fails, ``DatabaseError/closed`` after ``close()``,
  ///   ``DatabaseError/usedAfterFork``, ``DatabaseError/busy`` if a writer replaced the state at
  ///   every attempt to read it.
  /// - Complexity: O(log *m*) key comparisons in memory plus at most *s* block reads, where *m* is
  ///   the number of entries in memtables and *s* the number of segments whose range and filter
  ///   admit the key. In a handle that does not hold the store's lock also two system calls, and
  ///   O(bytes of the log) whenever another process has written.
  public func value(
    forKey key: [UInt8], in space: Space = .standard
  ) throws(DatabaseError) -> [UInt8]? {
    try check()
    return try state.read(at: location) { (view, _) throws(DatabaseError) in
      try view.value(forKey: key, in: space)
    }
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
    return try stableView().cursor(in: range, space: space, of: self)
  }

  /// The state of this moment, for as long as the snapshot is held.
  ///
  /// - Throws: ``DatabaseError/closed`` after ``close()``, ``DatabaseError/usedAfterFork``; in a
  ///   handle that does not hold the store's lock what keeps the state or a file from being read,
  ///   as at open.
  /// - Complexity: O(1). In a handle that does not hold the lock two system calls, and, whenever
  ///   another process has written, O(bytes of the log) and the opening of the segments.
  public func snapshot() throws(DatabaseError) -> Snapshot {
    try check()
    // Entered before the view is taken: a compaction in between keeps a little more.
    let token = state.snapshots.enter(state.readView.sequence)
    return Snapshot(self, view: try stableView(), token: token)
  }

  /// One short read at one moment, which opens files only as it needs them.
  ///
  /// Where another process has removed a file meanwhile, `body` runs again at a newer moment, so it
  /// must not have given anything away yet.
  package func briefly(_ body: (Snapshot) throws(DatabaseError) -> Void) throws(DatabaseError) {
    try check()
    let token = state.snapshots.enter(state.readView.sequence)
    try state.read(at: location) { (view, _) throws(DatabaseError) in
      try body(Snapshot(self, view: view, token: token))
    }
  }

  /// The newest view.
  func currentView() throws(DatabaseError) -> ReadView {
    try state.currentView(at: location).view
  }

  /// The newest view, which can be read to its end whatever other processes do.
  private func stableView() throws(DatabaseError) -> ReadView {
    try state.read(at: location) { (view, isFollowing) throws(DatabaseError) in
      if isFollowing { try view.pin() }
      return view
    }
  }

  /// Live keys of a space whose writers say what each write does to the count.
  package func count(in space: Space) throws(DatabaseError) -> Int {
    try check()
    return try currentView().counts[space.code]
  }
}
