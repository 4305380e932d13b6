/// What a handle has done and what it holds, since it was opened.
public struct DatabaseStatistics: Sendable, Equatable {
  /// Batches that were committed.
  public package(set) var commitCount = 0
  /// Records in the log: commits of threads that met share one.
  public package(set) var recordCount = 0
  /// Bytes of batches as their callers gave them.
  public package(set) var batchByteCount = 0
  /// Bytes written to the log, zeros ahead not counted.
  public package(set) var logByteCount = 0
  /// Bytes written by flushes.
  public package(set) var flushByteCount = 0
  /// Bytes written by compactions.
  public package(set) var compactionByteCount = 0
  /// Bytes written to MANIFESTs.
  public package(set) var manifestByteCount = 0
  /// Syncs of the log.
  public package(set) var syncCount = 0
  /// Memtables that became segments.
  public package(set) var flushCount = 0
  /// Compactions that were published.
  public package(set) var compactionCount = 0
  /// Live segments.
  public package(set) var segmentCount = 0
  /// Bytes of live segments.
  public package(set) var segmentByteCount = 0
  /// Bytes of segments that only snapshots and cursors still hold.
  public package(set) var pinnedByteCount = 0
  /// Snapshots that are held.
  public package(set) var snapshotCount = 0
  /// How long the oldest of them has been held.
  public package(set) var oldestSnapshotAge: Duration = .zero
  /// The newest failure of background work; `nil` when the last attempt went well.
  public package(set) var backgroundFailure: DatabaseError?

  package init() {}

  /// Bytes written for each byte that callers gave; 0 before the first.
  public var writeAmplification: Double {
    let written = logByteCount + flushByteCount + compactionByteCount + manifestByteCount
    return batchByteCount == 0 ? 0 : Double(written) / Double(batchByteCount)
  }
}
