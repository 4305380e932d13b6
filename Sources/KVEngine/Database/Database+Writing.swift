extension Database {
  /// Writes a batch: all of it or nothing.
  ///
  /// Preconditions are judged in the moment of the commit, together with everything that was
  /// committed before. Batches of threads that write at the same time share one sync. A batch of
  /// four times ``DatabaseOptions/logByteCount`` or more goes into segments at once, sorted: this
  /// is how to load much, in batches of some 100,000 rows or 64 MiB. Whoever commits faster than
  /// compaction follows merges some of the newest segments on the way.
  ///
  /// - Parameters:
  ///   - batch: What to write and what has to hold for it.
  ///   - durability: When the call returns. In mode full nothing acknowledged is ever lost.
  /// - Returns: The sequence of the batch's last operation.
  /// - Throws: Nothing of the batch is stored after ``DatabaseError/preconditionFailed(index:)``,
  ///   ``DatabaseError/limitExceeded(what:maximum:)``, ``DatabaseError/invalidArgument(_:)``,
  ///   ``DatabaseError/alreadyOpen`` (another process is writing), ``DatabaseError/diskFull(_:)``,
  ///   ``DatabaseError/notWritten(_:)``, ``DatabaseError/readOnlyLocation(_:)``,
  ///   ``DatabaseError/failed``, ``DatabaseError/closed``, ``DatabaseError/io(_:)`` (a file could
  ///   not be read, or what had to be flushed before failed to sync). Only after
  ///   ``DatabaseError/outcomeUnknown(_:)`` it may be found at the next open, as a whole; this
  ///   handle never shows it.
  /// - Complexity: O(bytes) and one sync, plus a flush whenever the log reaches its bound, and a
  ///   merge of up to 16 flushes when six of them wait.
  @discardableResult
  public func write(
    _ batch: WriteBatch, durability: Durability = .full
  ) throws(DatabaseError) -> UInt64 {
    try check()
    if let failure = batch.failure { throw failure }
    defer { state.metrics.deliver() }
    let sequence = try pipeline.commit(CommitRequest(batch: batch, durability: durability))
    worker?.relieve()
    return sequence
  }

  /// Writes what a closure puts into a batch: all of it or nothing.
  ///
  /// - Parameters:
  ///   - durability: When the call returns.
  ///   - body: Fills the batch; when it throws, nothing is written.
  /// - Returns: The sequence of the batch's last operation.
  /// - Throws: As ``write(_:durability:)-(WriteBatch,_)``, or what the closure throws.
  @discardableResult
  public func write(
    durability: Durability = .full, _ body: (inout WriteBatch) throws(DatabaseError) -> Void
  ) throws(DatabaseError) -> UInt64 {
    var batch = WriteBatch()
    try body(&batch)
    return try write(batch, durability: durability)
  }

  /// Deletes the keys of a range: all that are there at one moment, or none.
  ///
  /// The same as a batch that deletes each of them; keys that are written meanwhile stay. The room
  /// comes back when compaction has merged the deletions with what they delete.
  ///
  /// - Parameters:
  ///   - range: Which keys go.
  ///   - space: Where the keys live.
  ///   - durability: When the call returns.
  /// - Returns: How many keys were deleted.
  /// - Throws: As ``write(_:durability:)-(WriteBatch,_)``;
  ///   ``DatabaseError/limitExceeded(what:maximum:)`` for more keys than a batch takes, 16,777,216
  ///   or 96 MiB of them: then delete parts of the range.
  /// - Complexity: O(keys in the range).
  @discardableResult
  public func delete(
    _ range: KeyRange, in space: Space = .standard, durability: Durability = .full
  ) throws(DatabaseError) -> Int {
    var batch = WriteBatch()
    var cursor = try cursor(in: range, space: space)
    while try cursor.moveForward() {
      batch.delete([UInt8](copying: cursor.key), in: space)
      if let failure = batch.failure { throw failure }
    }
    if !batch.isEmpty { try write(batch, durability: durability) }
    return batch.operationCount
  }

  /// Writes what is in the memtable as a segment and begins a new log, so that the next open reads
  /// no log.
  ///
  /// Happens by itself whenever the log reaches its bound.
  ///
  /// - Throws: What failed; nothing is lost by it.
  public func flush() throws(DatabaseError) {
    try check()
    try exclusively { writer throws(DatabaseError) in
      _ = try writer.begin()
      try writer.flush()
    }
  }
}
