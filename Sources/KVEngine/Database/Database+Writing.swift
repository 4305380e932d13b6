extension Database {
  /// Writes a batch: all of it or nothing.
  ///
  /// Preconditions are judged in the moment of the commit, together with everything that was
  /// committed before. Batches of threads that write at the same time share one sync.
  ///
  /// - Parameters:
  ///   - batch: What to write and what has to hold for it.
  ///   - durability: When the call returns. In mode full nothing acknowledged is ever lost.
  /// - Returns: The sequence of the batch's last operation.
  /// - Throws: Nothing of the batch is stored after ``DatabaseError/preconditionFailed(index:)``,
  ///   ``DatabaseError/limitExceeded(what:maximum:)``, ``DatabaseError/invalidArgument(_:)``,
  ///   ``DatabaseError/alreadyOpen`` (another process is writing), ``DatabaseError/diskFull(_:)``,
  ///   ``DatabaseError/notWritten(_:)``, ``DatabaseError/readOnlyLocation(_:)``,
  ///   ``DatabaseError/failed``, ``DatabaseError/closed``. Only after
  ///   ``DatabaseError/outcomeUnknown(_:)`` it may be found at the next open, as a whole; this
  ///   handle never shows it.
  /// - Complexity: O(bytes) and one sync, plus a flush whenever the log reaches its bound.
  @discardableResult
  public func write(
    _ batch: WriteBatch, durability: Durability = .full
  ) throws(DatabaseError) -> UInt64 {
    try check()
    if let failure = batch.failure { throw failure }
    defer { state.metrics.deliver() }
    return try pipeline.commit(CommitRequest(batch: batch, durability: durability))
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
