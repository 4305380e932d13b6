import CSQLite
import Dispatch

/// SQLite: a table with a unique id and an index on the time.
struct SQLiteEngine: Engine {
  var name: String { "sqlite" }

  var settings: String {
    "SQLite \(String(cString: sqlite3_libversion())); WAL, synchronous=FULL, mmap of 1 GiB, "
      + "cache of 64 MiB, prepared statements; loads: transactions of 100,000"
  }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    try SQLiteStore(folder + "/memos.db")
  }
}

/// An open connection with its statements.
private final class SQLiteStore: Store {
  private var connection: OpaquePointer?
  private let lock = DispatchSemaphore(value: 1)
  private var statements: [String: OpaquePointer] = [:]

  init(_ path: String) throws(BenchmarkError) {
    try check(sqlite3_open(path, &connection))
    try run("PRAGMA journal_mode=WAL")
    try run("PRAGMA synchronous=FULL")
    try run("PRAGMA mmap_size=1073741824")
    try run("PRAGMA cache_size=-65536")
    if (try? statement("SELECT 1 FROM memos")) == nil {
      try run(
        """
        CREATE TABLE memos(place INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,
          time INTEGER NOT NULL, zone INTEGER NOT NULL, body TEXT NOT NULL);
        CREATE INDEX byTime ON memos(time);
        """)
    }
  }

  private func check(_ code: Int32) throws(BenchmarkError) {
    if code != SQLITE_OK, code != SQLITE_ROW, code != SQLITE_DONE {
      throw BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(connection)))")
    }
  }

  private func run(_ sql: String) throws(BenchmarkError) {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  /// The prepared statement for a text, made once.
  private func statement(_ sql: String) throws(BenchmarkError) -> OpaquePointer {
    if let known = statements[sql] {
      sqlite3_reset(known)
      return known
    }
    var made: OpaquePointer?
    try check(
      sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil))
    guard let made else { throw BenchmarkError("no statement") }
    statements[sql] = made
    return made
  }

  /// Steps to the next row; at the end makes the statement ready again.
  private func step(_ statement: OpaquePointer) throws(BenchmarkError) -> Bool {
    let code = sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    if code != SQLITE_DONE { try check(code) }
    sqlite3_reset(statement)
    return false
  }

  /// Binds a text that lives until the statement was stepped.
  private func bind(
    _ text: UnsafeRawBufferPointer, to statement: OpaquePointer, _ place: Int32
  ) {
    sqlite3_bind_text(
      statement, place, text.baseAddress?.assumingMemoryBound(to: CChar.self),
      Int32(text.count), nil)
  }

  private func add(_ memo: NewMemo) throws(BenchmarkError) {
    let insert = try statement("INSERT INTO memos(place, id, time, zone, body) VALUES(?,?,?,?,?)")
    let id = Record.key(of: memo.id)
    // Bound bytes live until the statement was stepped.
    let code = id.withUnsafeBytes { id in
      sqlite3_bind_int64(insert, 1, Int64(memo.arrival))
      sqlite3_bind_blob(insert, 2, id.baseAddress, 16, nil)
      sqlite3_bind_int64(insert, 3, memo.microseconds)
      sqlite3_bind_int(insert, 4, memo.zoneSeconds)
      bind(memo.body, to: insert, 5)
      return sqlite3_step(insert)
    }
    sqlite3_reset(insert)
    try check(code)
  }

  func load(_ memos: [NewMemo], isOrdered: Bool) throws(BenchmarkError) {
    for start in stride(from: 0, to: memos.count, by: 100_000) {
      try run("BEGIN")
      for memo in memos[start..<min(start + 100_000, memos.count)] { try add(memo) }
      try run("COMMIT")
    }
  }

  /// One connection, used by one thread at a time.
  func insert(_ memo: NewMemo) throws(BenchmarkError) {
    lock.wait()
    defer { lock.signal() }
    try add(memo)
  }

  func update(_ memos: [NewMemo]) throws(BenchmarkError) {
    try run("BEGIN")
    let update = try statement("UPDATE memos SET body = ? WHERE id = ?")
    for memo in memos {
      let code = Record.key(of: memo.id).withUnsafeBytes { id in
        bind(memo.body, to: update, 1)
        sqlite3_bind_blob(update, 2, id.baseAddress, 16, nil)
        return sqlite3_step(update)
      }
      sqlite3_reset(update)
      try check(code)
    }
    try run("COMMIT")
  }

  func delete(_ ids: [Identity]) throws(BenchmarkError) {
    try run("BEGIN")
    let delete = try statement("DELETE FROM memos WHERE id = ?")
    for id in ids {
      let code = Record.key(of: id).withUnsafeBytes { id in
        sqlite3_bind_blob(delete, 1, id.baseAddress, 16, nil)
        return sqlite3_step(delete)
      }
      sqlite3_reset(delete)
      try check(code)
    }
    try run("COMMIT")
  }

  /// The row under a statement whose columns are time, id, zone and body.
  private func decode(_ row: OpaquePointer) -> SampleMemo {
    let id = UnsafeRawBufferPointer(start: sqlite3_column_blob(row, 1), count: 16)
    return SampleMemo(
      id: Identity(
        high: UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: id.loadUnaligned(fromByteOffset: 8, as: UInt64.self))),
      microseconds: sqlite3_column_int64(row, 0), zoneSeconds: sqlite3_column_int(row, 2),
      body: String(decoding: body(row), as: UTF8.self))
  }

  private func body(_ row: OpaquePointer) -> UnsafeRawBufferPointer {
    let text = sqlite3_column_text(row, 3)
    return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(row, 3)))
  }

  func contains(_ id: Identity) throws(BenchmarkError) -> Bool {
    let select = try statement("SELECT 1 FROM memos WHERE id = ?")
    let isFound = try measured {
      try Record.key(of: id).withUnsafeBytes { id in
        sqlite3_bind_blob(select, 1, id.baseAddress, 16, nil)
        return try step(select)
      }
    }
    sqlite3_reset(select)
    return isFound
  }

  func memo(for id: Identity) throws(BenchmarkError) -> SampleMemo? {
    let select = try statement("SELECT time, id, zone, body FROM memos WHERE id = ?")
    let found = try measured {
      try Record.key(of: id).withUnsafeBytes { id in
        sqlite3_bind_blob(select, 1, id.baseAddress, 16, nil)
        return try step(select) ? decode(select) : nil
      }
    }
    sqlite3_reset(select)
    return found
  }

  func latest(_ count: Int) throws(BenchmarkError) -> [SampleMemo] {
    let select = try statement(
      "SELECT time, id, zone, body FROM memos ORDER BY time DESC, place DESC LIMIT ?")
    sqlite3_bind_int64(select, 1, Int64(count))
    var result: [SampleMemo] = []
    result.reserveCapacity(count)
    while try step(select) { result.append(decode(select)) }
    return result
  }

  func tally(
    _ direction: Direction, notAfter microseconds: Int64?, limit: Int
  ) throws(BenchmarkError) -> Tally {
    let order = direction == .newestFirst ? "DESC" : "ASC"
    let select = try statement(
      """
      SELECT time, id, zone, body FROM memos WHERE time <= ?
      ORDER BY time \(order), place \(order) LIMIT ?
      """)
    sqlite3_bind_int64(select, 1, microseconds ?? .max)
    sqlite3_bind_int64(select, 2, Int64(limit))
    var tally = Tally()
    while try step(select) {
      let id = UnsafeRawBufferPointer(start: sqlite3_column_blob(select, 1), count: 16)
      tally.add(
        microseconds: sqlite3_column_int64(select, 0),
        idHead: UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)), body: body(select))
    }
    return tally
  }

  func settle() throws(BenchmarkError) {
    try run("VACUUM")
    try run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func close() throws(BenchmarkError) {
    for statement in statements.values { sqlite3_finalize(statement) }
    try check(sqlite3_close(connection))
  }
}
