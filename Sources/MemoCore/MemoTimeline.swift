package import KVEngine

// Memos as records of the engine. Two spaces are kept in step by one batch: a memo's own entry, in
// the order of the history, and its id's entry, which says where the memo is.
//
// A write reads first, at a snapshot, and commits under the condition that nothing was written
// about the id since; when the condition fails it reads again. So the closure-free core never holds
// a lock while it decides, and two handles can never insert one id twice.

/// The spaces of the memo layer.
///
/// Never renumber (FORMAT.md 13).
package enum MemoSpace {
  package static let memos = Space(code: 1)
  package static let ids = Space(code: 2)
  package static let trash = Space(code: 4)
  /// What is known of the store itself: names of fields, the schema's version.
  package static let meta = Space(code: 6)

  /// What flush and compaction have to know of them.
  package static func policy(code: UInt8) -> SpacePolicy {
    code == ids.code
      ? SpacePolicy(filter: .prefix(IDKey.prefixByteCount)) : .standard(code: code)
  }
}

/// All memos of a store, newest first: by the instant of createdAt, and among equal instants the
/// one that arrived later first.
///
/// Every call is synchronous; those that write wait for the medium. Safe to call from any thread.
package final class MemoTimeline: Sendable {
  package let database: Database
  /// The names of fields, once somebody has asked for them.
  let knownNames = Lock<MemoNames?>(nil)
  private let observer = Lock<(@Sendable (MemoChange) -> Void)?>(nil)

  /// Opens the store in a folder; nothing is created before the first write.
  ///
  /// - Complexity: O(bytes of the log); independent of the number of memos.
  package convenience init(
    at path: String, options: DatabaseOptions = standardOptions
  ) throws(MemoError) {
    self.init(
      try Self.engine { () throws(DatabaseError) in
        try Database(at: path, options: Self.prepared(options))
      })
  }

  /// Opens the store in a folder of any file system.
  package convenience init(
    at path: String, in files: any FileSystem, options: DatabaseOptions = standardOptions
  ) throws(MemoError) {
    self.init(
      try Self.engine { () throws(DatabaseError) in
        try Database(at: path, in: files, options: Self.prepared(options))
      })
  }

  /// Opens an empty store that lives in memory.
  package static func inMemory() -> MemoTimeline {
    MemoTimeline(Database.inMemory(options: prepared(DatabaseOptions())))
  }

  private init(_ database: Database) {
    self.database = database
  }

  /// How memos are opened unless the caller says otherwise: rather at an earlier state than not at
  /// all.
  package static var standardOptions: DatabaseOptions {
    var options = DatabaseOptions()
    options.onDamage = .openEarlierState
    return options
  }

  /// Says who hears of each commit that changes memos, on the thread that wrote, once readers see
  /// it.
  package func setObserver(_ observer: @escaping @Sendable (MemoChange) -> Void) {
    self.observer.withLock { $0 = observer }
  }

  func note(_ change: MemoChange) {
    observer.withLock { $0 }?(change)
  }

  /// What is known of an earlier state that is open in place of a newer one; `nil` for the newest.
  package var earlierState: EarlierState? { database.earlierState }

  static func prepared(_ options: DatabaseOptions) -> DatabaseOptions {
    var options = options
    options.policy = MemoSpace.policy
    return options
  }

  /// Makes lazy commits durable and gives up the lock.
  package func close() throws(MemoError) {
    try Self.engine { () throws(DatabaseError) in try database.close() }
  }

  /// Writes what is in the memtable as a segment, so that the next open reads no log.
  package func flush() throws(MemoError) {
    try Self.engine { () throws(DatabaseError) in try database.flush() }
  }

  /// Runs a call of the engine; its error becomes ours.
  static func engine<Result: ~Copyable>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(MemoError) -> Result {
    do {
      return try body()
    } catch {
      throw .database(error)
    }
  }

  // MARK: - Reading

  /// The newest memos, at most `count` of them; 0 or less is none.
  ///
  /// - Complexity: O(`count`), independent of the number of memos.
  package func latest(_ count: Int) throws(MemoError) -> [Memo] {
    try newest(count).memos
  }

  /// The newest memos and the position of the last of them, `nil` when there is none.
  package func newest(_ count: Int) throws(MemoError) -> (memos: [Memo], last: MemoKey?) {
    try briefly { snapshot throws(MemoError) in
      var cursor = try Self.cursor(in: snapshot)
      return try cursor.next(atMost: count)
    }
  }

  /// How many memos there are from the newest one to a position, but no more than `limit`.
  ///
  /// - Complexity: O(`limit`).
  package func count(to position: MemoKey, atMost limit: Int) throws(MemoError) -> Int {
    try briefly { snapshot throws(MemoError) in
      let range = KeyRange.upTo(position.encode() + [0])
      var cursor = MemoCursor(
        try Self.engine { () throws(DatabaseError) in
          try snapshot.cursor(in: range, space: MemoSpace.memos)
        })
      var count = 0
      while count < limit, try cursor.moveForward() { count += 1 }
      return count
    }
  }

  /// The oldest memo, `nil` if there is none.
  package func oldest() throws(MemoError) -> Memo? {
    try briefly { snapshot throws(MemoError) in
      var cursor = try Self.cursor(in: snapshot)
      return try cursor.previous()?.memo
    }
  }

  /// One page of the history and where the next begins.
  package struct Page: Sendable {
    package let memos: [Memo]
    /// The position of the last memo; `nil` when no memo is behind it.
    package let next: MemoKey?
  }

  /// The memos that follow a position, the last one of the page before, newest first; `nil` begins
  /// with the newest.
  ///
  /// Positions are those of memos, not counts: memos that come or go meanwhile make no other memo
  /// show up twice or get lost.
  package func page(after position: MemoKey?, count: Int) throws(MemoError) -> Page {
    try briefly { snapshot throws(MemoError) in
      var cursor = try Self.cursor(in: snapshot, after: position)
      let (memos, last) = try cursor.next(atMost: count)
      return Page(memos: memos, next: memos.count == count && cursor.hasNext() ? last : nil)
    }
  }

  /// All memos behind a position, as they are now.
  package func cursor(after position: MemoKey? = nil) throws(MemoError) -> MemoCursor {
    try Self.cursor(in: snapshot(), after: position)
  }

  private static func cursor(
    in snapshot: Snapshot, after position: MemoKey? = nil
  ) throws(MemoError) -> MemoCursor {
    let range = position.map { KeyRange.from($0.encode() + [0]) } ?? .all
    return MemoCursor(
      try engine { () throws(DatabaseError) in
        try snapshot.cursor(in: range, space: MemoSpace.memos)
      })
  }

  /// The memo with an id, `nil` if there is none.
  ///
  /// - Complexity: O(log *n*); one block read of each segment whose filter admits the id, and one
  ///   for the memo.
  package func memo(for id: MemoID) throws(MemoError) -> Memo? {
    try briefly { snapshot throws(MemoError) in try find(id, in: snapshot)?.memo }
  }

  /// Number of memos.
  ///
  /// - Complexity: O(1): a sum over segments and memtable that is kept up to date.
  package func count() throws(MemoError) -> Int {
    try Self.engine { () throws(DatabaseError) in try database.count(in: MemoSpace.memos) }
  }

  /// A read that is over when it returns: see `Database.briefly`.
  func briefly<Value>(
    _ body: (Snapshot) throws(MemoError) -> Value
  ) throws(MemoError) -> Value {
    var value: Value?
    var refusal: MemoError?
    try Self.engine { () throws(DatabaseError) in
      try database.briefly { snapshot throws(DatabaseError) in
        do throws(MemoError) {
          value = try body(snapshot)
        } catch {
          // What the engine reports is the engine's to judge.
          if case .database(let cause) = error { throw cause }
          refusal = error
        }
      }
    }
    guard let value else { throw refusal ?? .database(.failed) }
    return value
  }

  func snapshot() throws(MemoError) -> Snapshot {
    try Self.engine { () throws(DatabaseError) in try database.snapshot() }
  }

  /// A memo and where it is.
  struct Found {
    let memo: Memo
    let key: MemoKey
    let idKey: IDKey
  }

  /// Looks an id up: the id space knows where memos with the id's hash are, and the memo itself
  /// says whether it is the one.
  func find(_ id: MemoID, in snapshot: Snapshot) throws(MemoError) -> Found? {
    var cursor = try Self.engine { () throws(DatabaseError) in
      try snapshot.cursor(withPrefix: IDKey.prefix(hash: id.hash64), space: MemoSpace.ids)
    }
    while try cursor.advance() {
      let idKey = try decoding(in: "id key") { () throws(FormatError) in
        try IDKey.decode(cursor.key)
      }
      let value = try Self.engine { () throws(DatabaseError) in
        try snapshot.value(forKey: idKey.memoKey.encode(), in: MemoSpace.memos)
      }
      guard let value else {
        throw .damagedRecord(
          Corruption(
            fileName: "memo space", offset: 0, structure: "memo",
            reason: "is missing though its id is there"))
      }
      let memo = try decoding(in: "memo") { () throws(FormatError) in
        try MemoRecord.decode(value.rawBytes, key: idKey.memoKey)
      }
      if memo.id == id { return Found(memo: memo, key: idKey.memoKey, idKey: idKey) }
    }
    return nil
  }

  func decoding<Value>(
    in structure: String, _ body: () throws(FormatError) -> Value
  ) throws(MemoError) -> Value {
    do {
      return try body()
    } catch {
      throw .damagedRecord(Corruption(error, fileName: structure))
    }
  }
}

extension Cursor {
  /// Goes to the next entry; the engine's error becomes ours.
  mutating func advance() throws(MemoError) -> Bool {
    do {
      return try moveForward()
    } catch {
      throw .database(error)
    }
  }
}

/// Memos in the order of the history, at one moment.
package struct MemoCursor: ~Copyable {
  private var cursor: Cursor

  init(_ cursor: consuming Cursor) {
    self.cursor = cursor
  }

  /// The next memo and its position; `nil` behind the oldest.
  package mutating func next() throws(MemoError) -> (key: MemoKey, memo: Memo)? {
    try moveForward() ? try current() : nil
  }

  /// The memo before and its position; `nil` before the newest.
  ///
  /// A new cursor begins with the oldest.
  package mutating func previous() throws(MemoError) -> (key: MemoKey, memo: Memo)? {
    do {
      guard try cursor.moveBackward() else { return nil }
    } catch {
      throw .database(error)
    }
    return try current()
  }

  /// The next memos and the position of the last of them.
  ///
  /// Reads nothing behind them: what is damaged there does not concern the caller.
  mutating func next(atMost count: Int) throws(MemoError) -> (memos: [Memo], last: MemoKey?) {
    var memos: [Memo] = []
    memos.reserveCapacity(min(max(count, 0), 1024))
    var last: MemoKey?
    while memos.count < count, let (key, memo) = try next() {
      memos.append(memo)
      last = key
    }
    return (memos, last)
  }

  /// Whether a memo is behind the position; moves there.
  ///
  /// One that cannot be read is there too: reading on throws why.
  mutating func hasNext() -> Bool {
    do throws(MemoError) {
      return try moveForward()
    } catch {
      return true
    }
  }

  /// Goes to the next memo without looking into it.
  mutating func moveForward() throws(MemoError) -> Bool {
    try cursor.advance()
  }

  /// The memo at the position.
  func current() throws(MemoError) -> (key: MemoKey, memo: Memo) {
    do {
      let key = try MemoKey.decode(cursor.key)
      return (key, try MemoRecord.decode(cursor.value, key: key))
    } catch {
      throw .damagedRecord(Corruption(error, fileName: "memo space"))
    }
  }
}
