/// A position among the keys of a range, at one moment.
///
/// A new cursor stands outside: ``next()`` goes to the first key, ``previous()`` to the last. Both
/// directions are mirror images, and both stop outside of the range, from where the other direction
/// comes back in. After an error every later move throws the same error.
///
/// Used by one thread at a time. Writes, flushes and deletions meanwhile change nothing of what it
/// shows.
public struct Cursor: ~Copyable {
  private var cursor: VisibleCursor
  private let database: Database

  init(_ cursor: consuming VisibleCursor, database: Database) {
    self.cursor = cursor
    self.database = database
  }

  /// A key and its value, copied.
  public struct Entry: Sendable, Hashable {
    /// The key.
    public let key: [UInt8]
    /// The value.
    public let value: [UInt8]
  }

  /// Whether the cursor is at a key.
  public var isValid: Bool { cursor.isValid }

  /// The key at the position, without a copy; valid until the cursor moves.
  ///
  /// - Precondition: ``isValid``.
  public var key: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      precondition(cursor.isValid, "the cursor is not at a key")
      return unsafe _overrideLifetime(cursor.key.extracting(droppingFirst: 1), borrowing: self)
    }
  }

  /// The value at the position, without a copy; valid until the cursor moves.
  ///
  /// - Precondition: ``isValid``.
  public var value: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      precondition(cursor.isValid, "the cursor is not at a key")
      return unsafe _overrideLifetime(cursor.value, borrowing: self)
    }
  }

  /// The number of the write that the entry came from; 0 when compaction dropped it.
  package var sequence: SequenceNumber { cursor.tag.sequence }

  /// Copies of key and value at the position, `nil` outside of the range.
  public var entry: Entry? {
    guard isValid else { return nil }
    return Entry(key: [UInt8](copying: key), value: [UInt8](copying: value))
  }

  /// Goes to the following key and returns copies of it and its value.
  ///
  /// - Returns: `nil` behind the last key.
  /// - Throws: ``DatabaseError/damaged(_:)``, ``DatabaseError/io(_:)``, ``DatabaseError/closed``,
  ///   ``DatabaseError/usedAfterFork``.
  /// - Complexity: O(log *s*) comparisons for *s* sources, for each entry stepped over.
  public mutating func next() throws(DatabaseError) -> Entry? {
    try moveForward() ? entry : nil
  }

  /// Goes to the key before and returns copies of it and its value.
  ///
  /// - Returns: `nil` before the first key.
  /// - Throws: As ``next()``.
  public mutating func previous() throws(DatabaseError) -> Entry? {
    try moveBackward() ? entry : nil
  }

  /// Goes to the following key; then ``key`` and ``value`` borrow it.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: As ``next()``.
  public mutating func moveForward() throws(DatabaseError) -> Bool {
    try database.check()
    try cursor.next()
    return cursor.isValid
  }

  /// Goes to the key before; then ``key`` and ``value`` borrow it.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: As ``next()``.
  public mutating func moveBackward() throws(DatabaseError) -> Bool {
    try database.check()
    try cursor.previous()
    return cursor.isValid
  }

  /// Goes to the first key of the range that is not smaller than a key.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: As ``next()``.
  public mutating func seek(toFirstKeyAtOrAfter key: [UInt8]) throws(DatabaseError) -> Bool {
    try database.check()
    try cursor.seek(toFirstAtOrAfter: [spaceCode] + key)
    return cursor.isValid
  }

  /// Goes to the last key of the range that is not larger than a key.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: As ``next()``.
  public mutating func seek(toLastKeyAtOrBefore key: [UInt8]) throws(DatabaseError) -> Bool {
    try database.check()
    try cursor.seek(toLastAtOrBefore: [spaceCode] + key)
    return cursor.isValid
  }

  private var spaceCode: UInt8 { cursor.spaceCode }
}
