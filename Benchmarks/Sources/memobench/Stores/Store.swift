/// A kind of store, set up as its own users would for speed.
protocol Engine: Sendable {
  /// What `--engines` calls it.
  var name: String { get }
  /// Version and what is set, in one line.
  var settings: String { get }
  /// The engine whose stores this one opens with other settings; `nil` for one with its own.
  ///
  /// Takes part in reads by key only.
  var original: String? { get }
  /// Opens the store in a folder that exists.
  ///
  /// - Parameters:
  ///   - folder: Where it is or will be.
  ///   - isLoading: Whether much will be written at once.
  /// - Returns: The open store.
  /// - Throws: When the engine refuses.
  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store
}

extension Engine {
  var original: String? { nil }

  func open(_ folder: String) throws(BenchmarkError) -> any Store {
    try open(folder, isLoading: false)
  }
}

/// Order of a read.
enum Direction: String {
  case newestFirst = "newest to oldest"
  case oldestFirst = "oldest to newest"
}

/// An open store.
///
/// One kind of memo, in the order of time and by id.
///
/// What a store cannot do throws ``BenchmarkError/unsupported(_:)``.
protocol Store: AnyObject {
  /// Stores many memos; the last call of ``finishLoading()`` makes them durable.
  ///
  /// - Parameters:
  ///   - memos: The memos.
  ///   - isOrdered: Whether they are in the order of their numbers, and later than all before.
  /// - Throws: When the engine refuses.
  func load(_ memos: [NewMemo], isOrdered: Bool) throws(BenchmarkError)
  func finishLoading() throws(BenchmarkError)
  /// Stores one memo; durable when it returns. Refuses an id that is there.
  func insert(_ memo: NewMemo) throws(BenchmarkError)
  /// Gives memos that are there other texts, together; durable when it returns.
  func update(_ memos: [NewMemo]) throws(BenchmarkError)
  /// Deletes memos together; durable when it returns.
  func delete(_ ids: [Identity]) throws(BenchmarkError)
  /// Whether a memo is there, without reading its text.
  func contains(_ id: Identity) throws(BenchmarkError) -> Bool
  func memo(for id: Identity) throws(BenchmarkError) -> SampleMemo?
  /// The newest memos, decoded, newest first.
  func latest(_ count: Int) throws(BenchmarkError) -> [SampleMemo]
  /// Reads memos where they are, without making values of them.
  ///
  /// - Parameters:
  ///   - direction: Order.
  ///   - microseconds: Only those that are not newer; `nil` is all. For newest first only.
  ///   - limit: At most so many.
  /// - Returns: What was read.
  /// - Throws: When the engine refuses.
  func tally(
    _ direction: Direction, notAfter microseconds: Int64?, limit: Int
  ) throws(BenchmarkError) -> Tally
  /// The engine's own pass that makes the store small and quick.
  func settle() throws(BenchmarkError)
  /// Bytes of files that are in use; the rest waits for deletion. `nil` when all are.
  var liveByteCount: Int? { get }
  /// What the engine says of its own writing since it was opened, for a note; empty without.
  var writtenByCause: [String: Int] { get }
  func close() throws(BenchmarkError)
}

extension Store {
  func finishLoading() throws(BenchmarkError) {}
  func load(_ memos: [NewMemo]) throws(BenchmarkError) { try load(memos, isOrdered: true) }
  var liveByteCount: Int? { nil }
  var writtenByCause: [String: Int] { [:] }
}

/// All engines.
enum EngineCatalog {
  static let all: [any Engine] = [
    MemoKVEngine(), MemoKVEngine(cacheMebibytes: 64), MemoHistoryEngine(), LMDBEngine(),
    SQLiteEngine(), LevelDBEngine(), RocksDBEngine(),
  ]
  /// What the raw device is called in rows that have it.
  static let rawDevice = "raw"

  static func engine(_ name: String) -> (any Engine)? {
    all.first { $0.name == name }
  }

  /// Whether a name is that of an engine of others.
  static func isPeer(_ name: String) -> Bool {
    ["lmdb", "sqlite", "leveldb", "rocksdb"].contains(name)
  }

  /// Whether a name is that of an engine of this repository.
  static func isOurs(_ name: String) -> Bool {
    engine(name) != nil && !isPeer(name)
  }
}
