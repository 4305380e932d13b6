/// Something that happened in an open database, for the host's log or for tests.
///
/// Events are delivered one at a time and in order, on a thread that caused one of them, when no
/// lock is held: a handler may call the database. What it causes by that is delivered after it
/// returned.
@nonexhaustive
public enum DatabaseEvent: Sendable, Equatable {
  /// A memtable became a segment of so many bytes.
  case flushed(byteCount: Int)
  /// So many segments were merged into others of so many bytes.
  case compacted(inputCount: Int, outputCount: Int, byteCount: Int)
  /// The ballast was given up: the disk is full, only deletions are taken.
  case diskFull
  /// There is room again, everything is taken.
  case diskAvailable
  /// The newest state cannot be read, an earlier one is open.
  case openedEarlierState(EarlierState)
  /// A write failed for good: this handle takes no more.
  case failed(DatabaseError)
  /// Work in the background failed; it is tried again.
  case backgroundFailure(DatabaseError)
}
