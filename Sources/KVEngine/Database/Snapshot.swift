/// One moment of a database: every read through it sees the same state.
///
/// Holding it keeps what it sees in memory and on disk, so let go of it when the work is done. Safe
/// to use from any thread.
public struct Snapshot: Sendable {
  let view: ReadView
  let database: Database
  private let token: SnapshotRegistry.Token

  init(_ database: Database, view: ReadView, token: SnapshotRegistry.Token) {
    self.token = token
    self.database = database
    self.view = view
  }

  /// The newest write that the snapshot sees, a number that grows with every write.
  public var sequence: UInt64 { view.sequence }

  /// Returns the value a key had at the snapshot's moment, or `nil` if it had none.
  ///
  /// - Parameters:
  ///   - key: 1 to 65,535 bytes; any other key has no value.
  ///   - space: Where the key lives.
  /// - Returns: A copy of the value; `nil` if the key was not there.
  /// - Throws: As ``Database/value(forKey:in:)``.
  /// - Complexity: As ``Database/value(forKey:in:)``.
  public func value(
    forKey key: [UInt8], in space: Space = .standard
  ) throws(DatabaseError) -> [UInt8]? {
    try database.check()
    return try view.value(forKey: key, in: space)
  }

  /// A cursor over the keys of a range at the snapshot's moment.
  ///
  /// - Parameters:
  ///   - range: Which keys exist for the cursor.
  ///   - space: Where the keys live.
  /// - Returns: A cursor that stands outside of the range.
  /// - Throws: ``DatabaseError/closed``, ``DatabaseError/usedAfterFork``. What has to be read is
  ///   read when the cursor moves.
  public func cursor(
    in range: KeyRange = .all, space: Space = .standard
  ) throws(DatabaseError) -> Cursor {
    try database.check()
    let (lower, upper) = range.bounds(in: space)
    let cursor = view.cursor(
      space: space.code, lower: lower, upper: upper)
    return Cursor(cursor, database: database)
  }

  /// A cursor over the keys with a prefix, without the segments whose filter knows that they have
  /// none.
  ///
  /// Only a prefix at least as long as the one that the space's filter holds rules segments out.
  package func cursor(
    withPrefix prefix: [UInt8], space: Space
  ) throws(DatabaseError) -> Cursor {
    try database.check()
    let (lower, upper) = KeyRange.prefix(prefix).bounds(in: space)
    let cursor = try view.cursor(withPrefix: lower, upper: upper)
    return Cursor(cursor, database: database)
  }

  /// Live keys of a space whose writers say what each write does to the count.
  package func count(in space: Space) -> Int { view.counts[space.code] }
}

extension ReadView {
  /// The value of a key, `nil` when it has none.
  func value(forKey key: [UInt8], in space: Space) throws(DatabaseError) -> [UInt8]? {
    guard !key.isEmpty, key.count <= Limits.Key.maximumByteCount else { return nil }
    let found = try newestEntry(of: [space.code] + key)
    guard let found, found.tag.kind.isPut else { return nil }
    return found.value
  }

  /// A cursor over a range of a space.
  func cursor(in range: KeyRange, space: Space, of database: Database) -> Cursor {
    let (lower, upper) = range.bounds(in: space)
    return Cursor(cursor(space: space.code, lower: lower, upper: upper), database: database)
  }
}
