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
  /// Entries of unique indexes.
  package static let uniqueKeys = Space(code: 3)
  package static let trash = Space(code: 4)
  /// What became of memos, where somebody follows that.
  package static let feed = Space(code: 5)
  /// What is known of the store itself: names of fields, the schema's version, its indexes,
  /// its recording of changes.
  package static let meta = Space(code: 6)
  /// Entries of ordered indexes.
  package static let orderedKeys = Space(code: 7)
  package static let collections = Space(code: 8)

  /// What flush and compaction have to know of them.
  package static func policy(code: UInt8) -> SpacePolicy {
    switch code {
    case ids.code: SpacePolicy(filter: .prefix(IDKey.prefixByteCount))
    case uniqueKeys.code, collections.code: SpacePolicy(filter: .wholeKey)
    default: .standard(code: code)
    }
  }
}

/// All memos of a store, newest first: by the instant of createdAt, and among equal instants the
/// one that arrived later first.
///
/// Every call is synchronous; those that write wait for the medium. Safe to call from any thread.
package final class MemoTimeline: Sendable {
  package let database: Database
  /// What is known and who is told.
  ///
  /// In one lock, because each kind of lock is made known to the runtime at a launch, which takes
  /// longer than what is in it.
  struct State {
    /// The names of fields, once somebody has asked for them.
    var names: MemoNames?
    /// Why the last write failed for a reason of the place, until one succeeds.
    var lastFailure: DatabaseError?
    /// Says by which keys memos are found, once a store with indexes has come.
    var indexer: (any MemoIndexer)?
    fileprivate var observer: (@Sendable (MemoChange, _ origin: String?) -> Void)?
    fileprivate var collectionObserver: (@Sendable (_ keys: [[UInt8]]) -> Void)?

    fileprivate init() {}
  }

  let state = Lock(State())

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
  package func setObserver(
    _ observer: @escaping @Sendable (MemoChange, _ origin: String?) -> Void
  ) {
    state.withLock { $0.observer = observer }
  }

  func note(_ change: MemoChange, _ origin: String?) {
    state.withLock { $0.observer }?(change, origin)
  }

  /// Says who hears of each commit that changes values of collections, and of their keys; called
  /// like the observer of memos.
  package func setCollectionObserver(_ observer: @escaping @Sendable (_ keys: [[UInt8]]) -> Void) {
    state.withLock { $0.collectionObserver = observer }
  }

  func note(collectionKeys keys: [[UInt8]]) {
    state.withLock { $0.collectionObserver }?(keys)
  }

  /// Why the last write failed; `nil` when it succeeded or only its conditions did not hold.
  package var lastFailure: DatabaseError? { state.withLock { $0.lastFailure } }

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

  /// Gives up the lock and what must not be held in the background: see `Database.suspend`.
  package func suspend() throws(MemoError) {
    try Self.engine { () throws(DatabaseError) in try database.suspend() }
  }

  /// Ends a suspension.
  package func resume() throws(MemoError) {
    try Self.engine { () throws(DatabaseError) in try database.resume() }
  }

  /// Gives back memory that can be read again.
  package func releaseMemory() throws(MemoError) {
    try Self.engine { () throws(DatabaseError) in try database.releaseMemory() }
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
      var cursor = try snapshot.memos()
      return try cursor.next(atMost: count)
    }
  }

  /// How many memos there are from the newest one to a position, but no more than `limit`.
  ///
  /// - Complexity: O(`limit`).
  package func count(to position: MemoKey, atMost limit: Int) throws(MemoError) -> Int {
    try briefly { snapshot throws(MemoError) in
      try snapshot.memoCount(to: position, atMost: limit)
    }
  }

  /// The oldest memo, `nil` if there is none.
  package func oldest() throws(MemoError) -> Memo? {
    try briefly { snapshot throws(MemoError) in
      var cursor = try snapshot.memos()
      return try cursor.previous()?.memo
    }
  }

  /// The memos that follow a position, newest first: see `Snapshot.page`.
  package func page(after position: MemoKey?, count: Int) throws(MemoError) -> MemoPage {
    try briefly { snapshot throws(MemoError) in
      try snapshot.page(after: position, count: count)
    }
  }

  /// All memos behind a position, as they are now.
  package func cursor(after position: MemoKey? = nil) throws(MemoError) -> MemoCursor {
    try snapshot().memos(after: position)
  }

  /// The memo with an id, `nil` if there is none.
  ///
  /// - Complexity: O(log *n*); one block read of each segment whose filter admits the id, and one
  ///   for the memo.
  package func memo(for id: MemoID) throws(MemoError) -> Memo? {
    try briefly { snapshot throws(MemoError) in try snapshot.find(id)?.memo }
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

  /// The memos as they are now.
  package func snapshot() throws(MemoError) -> Snapshot {
    try Self.engine { () throws(DatabaseError) in try database.snapshot() }
  }
}
