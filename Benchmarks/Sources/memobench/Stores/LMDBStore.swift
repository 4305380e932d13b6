import CLMDB

/// LMDB: a table in the order of time and a table of ids.
struct LMDBEngine: Engine {
  var name: String { "lmdb" }

  var settings: String {
    "\(String(cString: mdb_version(nil, nil, nil))); map of 16 GiB, syncs on (never MDB_NOSYNC), "
      + "MDB_NOTLS and one reader renewed; loads: MDB_APPEND, transactions of 100,000"
  }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    try LMDBStore(folder)
  }
}

/// An open environment with its two tables.
private final class LMDBStore: ScanningStore {
  static var isInverted: Bool { false }

  private let folder: String
  private var environment: OpaquePointer?
  private var memos = MDB_dbi()
  private var ids = MDB_dbi()
  private var reader: OpaquePointer?

  private static func check(_ code: Int32, _ call: String) throws(BenchmarkError) {
    if code != 0 { throw BenchmarkError("\(call): \(String(cString: mdb_strerror(code)))") }
  }

  init(_ folder: String) throws(BenchmarkError) {
    self.folder = folder
    try openEnvironment()
  }

  private func openEnvironment() throws(BenchmarkError) {
    try Self.check(mdb_env_create(&environment), "mdb_env_create")
    mdb_env_set_mapsize(environment, 16 << 30)
    mdb_env_set_maxdbs(environment, 2)
    try Self.check(mdb_env_open(environment, folder, UInt32(MDB_NOTLS), 0o644), "mdb_env_open")
    if try !openTables(UInt32(MDB_RDONLY), 0) { _ = try openTables(0, UInt32(MDB_CREATE)) }
    try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader), "mdb_txn_begin")
    mdb_txn_reset(reader)
  }

  /// Opens the tables; false when they are not there.
  private func openTables(_ mode: UInt32, _ flags: UInt32) throws(BenchmarkError) -> Bool {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, mode, &transaction), "mdb_txn_begin")
    let code = mdb_dbi_open(transaction, "memos", flags, &memos)
    if code == MDB_NOTFOUND {
      mdb_txn_abort(transaction)
      return false
    }
    try Self.check(code, "mdb_dbi_open")
    try Self.check(mdb_dbi_open(transaction, "ids", flags, &ids), "mdb_dbi_open")
    try Self.check(mdb_txn_commit(transaction), "mdb_txn_commit")
    return true
  }

  /// Runs calls in a write transaction and commits.
  private func writing(
    _ body: (OpaquePointer?) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
    do throws(BenchmarkError) {
      try body(transaction)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try Self.check(mdb_txn_commit(transaction), "mdb_txn_commit")
  }

  private func put(
    _ memo: NewMemo, at key: [UInt8], _ transaction: OpaquePointer?, flags: Int32
  ) throws(BenchmarkError) {
    try measured {
      try key.withValue { place in
        var value = MDB_val(mv_size: Record.valueByteCount(memo), mv_data: nil)
        let code = mdb_put(transaction, memos, &place, &value, UInt32(flags | MDB_RESERVE))
        try Self.check(code, "mdb_put")
        Record.store(
          memo, in: UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
      }
    }
  }

  private func add(
    _ memo: NewMemo, _ transaction: OpaquePointer?, appending: Bool
  ) throws(BenchmarkError) {
    let key = Record.key(memo.microseconds, memo.arrival, isInverted: false)
    try measured {
      try Record.key(of: memo.id).withValue { id in
        try key.withValue { place in
          try Self.check(
            mdb_put(transaction, ids, &id, &place, UInt32(MDB_NOOVERWRITE)), "mdb_put")
        }
      }
    }
    try put(memo, at: key, transaction, flags: appending ? MDB_APPEND : 0)
  }

  func load(_ memos: [NewMemo], isOrdered: Bool) throws(BenchmarkError) {
    for start in stride(from: 0, to: memos.count, by: 100_000) {
      try writing { transaction throws(BenchmarkError) in
        for memo in memos[start..<min(start + 100_000, memos.count)] {
          try add(memo, transaction, appending: isOrdered)
        }
      }
    }
  }

  func insert(_ memo: NewMemo) throws(BenchmarkError) {
    try writing { transaction throws(BenchmarkError) in
      try add(memo, transaction, appending: false)
    }
  }

  func update(_ memos: [NewMemo]) throws(BenchmarkError) {
    try writing { transaction throws(BenchmarkError) in
      for memo in memos {
        let key = Record.key(memo.microseconds, memo.arrival, isInverted: false)
        try put(memo, at: key, transaction, flags: 0)
      }
    }
  }

  func delete(_ identities: [Identity]) throws(BenchmarkError) {
    try writing { transaction throws(BenchmarkError) in
      try measured {
        for identity in identities {
          try Record.key(of: identity).withValue { id in
            var place = MDB_val()
            if mdb_get(transaction, ids, &id, &place) == MDB_NOTFOUND { return }
            try Self.check(mdb_del(transaction, memos, &place, nil), "mdb_del")
            try Self.check(mdb_del(transaction, ids, &id, nil), "mdb_del")
          }
        }
      }
    }
  }

  /// Runs reads at the newest state.
  private func reading<Result>(
    _ body: () throws(BenchmarkError) -> Result
  ) throws(BenchmarkError) -> Result {
    try Self.check(mdb_txn_renew(reader), "mdb_txn_renew")
    defer { mdb_txn_reset(reader) }
    return try body()
  }

  func contains(_ id: Identity) throws(BenchmarkError) -> Bool {
    try reading { () throws(BenchmarkError) in
      try measured {
        try Record.key(of: id).withValue { id in
          var place = MDB_val()
          let code = mdb_get(reader, ids, &id, &place)
          if code != MDB_NOTFOUND { try Self.check(code, "mdb_get") }
          return code == 0
        }
      }
    }
  }

  func memo(for id: Identity) throws(BenchmarkError) -> SampleMemo? {
    try reading { () throws(BenchmarkError) in
      try measured {
        try Record.key(of: id).withValue { id in
          var place = MDB_val()
          var value = MDB_val()
          let code = mdb_get(reader, ids, &id, &place)
          if code == MDB_NOTFOUND { return nil }
          try Self.check(code, "mdb_get")
          try Self.check(mdb_get(reader, memos, &place, &value), "mdb_get")
          return Record.decode(key: place.bytes, value: value.bytes, isInverted: false)
        }
      }
    }
  }

  func scan(
    _ direction: Direction, notAfter microseconds: Int64?,
    _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(BenchmarkError) {
    try reading { () throws(BenchmarkError) in
      var cursor: OpaquePointer?
      try Self.check(mdb_cursor_open(reader, memos, &cursor), "mdb_cursor_open")
      defer { mdb_cursor_close(cursor) }
      var key = MDB_val()
      var value = MDB_val()
      let step = direction == .newestFirst ? MDB_PREV : MDB_NEXT
      // Steps from nowhere begin at the end that they come from.
      var code: Int32
      if let microseconds {
        code = Record.boundary(microseconds, isInverted: false).withValue { boundary in
          let found = mdb_cursor_get(cursor, &boundary, &value, MDB_SET_RANGE)
          return mdb_cursor_get(cursor, &key, &value, found == 0 ? MDB_PREV : MDB_LAST)
        }
      } else {
        code = mdb_cursor_get(cursor, &key, &value, step)
      }
      while code == 0, visit(key.bytes, value.bytes) {
        code = mdb_cursor_get(cursor, &key, &value, step)
      }
      if code != MDB_NOTFOUND { try Self.check(code, "mdb_cursor_get") }
    }
  }

  /// LMDB never shrinks; its own way is a compact copy that takes the file's place.
  func settle() throws(BenchmarkError) {
    let copy = folder + ".copy"
    try Files.remove(copy)
    try Files.makeFolder(copy)
    try Self.check(mdb_env_copy2(environment, copy, UInt32(MDB_CP_COMPACT)), "mdb_env_copy2")
    try close()
    try ChildProcess.run("/bin/mv", [copy + "/data.mdb", folder + "/data.mdb"])
    try Files.remove(copy)
    try openEnvironment()
  }

  func close() throws(BenchmarkError) {
    mdb_txn_abort(reader)
    mdb_env_close(environment)
  }
}

extension MDB_val {
  fileprivate var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: mv_data, count: mv_size)
  }
}

extension [UInt8] {
  /// Lends the bytes to a call of LMDB, which changes none of them.
  fileprivate func withValue<Result>(_ body: (inout MDB_val) throws -> Result) rethrows -> Result {
    try withUnsafeBytes { bytes in
      var value = MDB_val(
        mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return try body(&value)
    }
  }
}
