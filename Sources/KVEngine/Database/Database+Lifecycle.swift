import Synchronization

extension Database {
  /// Gives up everything that a suspended app must not hold: ends background work at the next
  /// block, makes lazy commits durable, unlocks.
  ///
  /// Going to the background needs no call, since the lock is given up after an idle second anyway;
  /// this makes it immediate. Reads go on; writes throw ``DatabaseError/suspended`` until
  /// ``resume()``. Calling it twice is fine.
  ///
  /// - Throws: ``DatabaseError/outcomeUnknown(_:)`` if lazy commits could not be made durable; the
  ///   lock is given up all the same. ``DatabaseError/closed``, ``DatabaseError/usedAfterFork``.
  public func suspend() throws(DatabaseError) {
    try check()
    isSuspended.store(true, ordering: .releasing)
    worker?.pause()
    try exclusively { writer throws(DatabaseError) in try writer.suspend() }
  }

  /// Ends a suspension.
  ///
  /// - Throws: ``DatabaseError/closed``, ``DatabaseError/usedAfterFork``.
  public func resume() throws(DatabaseError) {
    try check()
    isSuspended.store(false, ordering: .releasing)
    defer { worker?.unpause() }
    try exclusively { writer throws(DatabaseError) in writer.resume() }
  }

  /// Gives back what can be read again: cached blocks, indexes of segments, descriptors.
  ///
  /// For a warning of low memory. Files that another process may remove meanwhile stay open.
  ///
  /// - Throws: ``DatabaseError/closed``, ``DatabaseError/usedAfterFork``.
  public func releaseMemory() throws(DatabaseError) {
    try check()
    state.segments.releaseMemory()
  }

  /// What the handle has done and what it holds.
  ///
  /// - Throws: ``DatabaseError/closed``, ``DatabaseError/usedAfterFork``.
  /// - Complexity: O(*s*) for *s* segments.
  public func statistics() throws(DatabaseError) -> DatabaseStatistics {
    try check()
    var statistics = state.metrics.current
    let live = state.readView.version.segments.map(\.descriptor)
    statistics.segmentCount = live.count
    statistics.segmentByteCount = live.reduce(0) { $0 + $1.byteCount }
    statistics.pinnedByteCount = state.segments.heldByteCount(
      without: Set(live.map(\.number)))
    let (count, age) = state.snapshots.summary
    statistics.snapshotCount = count
    statistics.oldestSnapshotAge = .nanoseconds(Int64(clamping: age))
    return statistics
  }
}
