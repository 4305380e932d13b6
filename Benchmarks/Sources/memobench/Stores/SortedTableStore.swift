/// The calls that LevelDB and RocksDB have in common, under other names.
protocol SortedTable: AnyObject, SendableMetatype {
  /// Fills a batch and writes it.
  func write(
    isDurable: Bool, _ fill: (OpaquePointer?) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError)
  static func put(_ batch: OpaquePointer?, _ key: [UInt8], _ value: [UInt8])
  static func delete(_ batch: OpaquePointer?, _ key: [UInt8])
  func value(_ key: [UInt8]) throws(BenchmarkError) -> [UInt8]?
  /// Goes over entries from the first key that is not before `key`, or from the one before that
  /// backward, until `visit` says that it is enough.
  func walk(
    from key: [UInt8], isForward: Bool,
    _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(BenchmarkError)
  func compact()
  func close()
}

/// Memos in one sorted table: keys in the order of time, newest first, and keys of ids.
///
/// The first byte of a key tells memos from ids.
final class SortedTableStore<Table: SortedTable>: ScanningStore {
  private let table: Table

  init(_ table: Table) {
    self.table = table
  }

  static var isInverted: Bool { true }
  private static var memoSpace: UInt8 { 1 }
  private static var idSpace: UInt8 { 2 }

  private static func key(_ memo: NewMemo) -> [UInt8] {
    [memoSpace] + Record.key(memo.microseconds, memo.arrival, isInverted: true)
  }

  private static func key(of id: Identity) -> [UInt8] {
    [idSpace] + Record.key(of: id)
  }

  private static func add(_ memo: NewMemo, to batch: OpaquePointer?) {
    let key = key(memo)
    Table.put(batch, key, Record.value(memo))
    Table.put(batch, Self.key(of: memo.id), key)
  }

  func load(_ memos: [NewMemo], isOrdered: Bool) throws(BenchmarkError) {
    for start in stride(from: 0, to: memos.count, by: 1000) {
      try table.write(isDurable: false) { batch throws(BenchmarkError) in
        for memo in memos[start..<min(start + 1000, memos.count)] { Self.add(memo, to: batch) }
      }
    }
  }

  /// A synced write makes everything before it durable.
  func finishLoading() throws(BenchmarkError) {
    try table.write(isDurable: true) { batch throws(BenchmarkError) in Table.put(batch, [3], []) }
  }

  func insert(_ memo: NewMemo) throws(BenchmarkError) {
    if try contains(memo.id) { throw BenchmarkError("the id is there") }
    try table.write(isDurable: true) { batch throws(BenchmarkError) in
      Self.add(memo, to: batch)
    }
  }

  func update(_ memos: [NewMemo]) throws(BenchmarkError) {
    try table.write(isDurable: true) { batch throws(BenchmarkError) in
      for memo in memos { Table.put(batch, Self.key(memo), Record.value(memo)) }
    }
  }

  func delete(_ ids: [Identity]) throws(BenchmarkError) {
    try table.write(isDurable: true) { batch throws(BenchmarkError) in
      for id in ids.map(Self.key(of:)) {
        guard let key = try table.value(id) else { continue }
        for key in [id, key] { Table.delete(batch, key) }
      }
    }
  }

  func contains(_ id: Identity) throws(BenchmarkError) -> Bool {
    try table.value(Self.key(of: id)) != nil
  }

  func memo(for id: Identity) throws(BenchmarkError) -> SampleMemo? {
    guard let key = try table.value(Self.key(of: id)), let value = try table.value(key) else {
      return nil
    }
    return key.withUnsafeBytes { key in
      value.withUnsafeBytes {
        Record.decode(
          key: UnsafeRawBufferPointer(rebasing: key.dropFirst()), value: $0, isInverted: true)
      }
    }
  }

  func scan(
    _ direction: Direction, notAfter microseconds: Int64?,
    _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(BenchmarkError) {
    let isForward = direction == .newestFirst
    let first = microseconds.map { Record.boundary($0, isInverted: true) } ?? []
    try table.walk(
      from: [isForward ? Self.memoSpace : Self.idSpace] + first, isForward: isForward
    ) { key, value in
      key.first == Self.memoSpace
        && visit(UnsafeRawBufferPointer(rebasing: key.dropFirst()), value)
    }
  }

  func settle() throws(BenchmarkError) {
    table.compact()
  }

  func close() throws(BenchmarkError) {
    table.close()
  }
}
