import CRocksDB

/// RocksDB: keys in the order of time, newest first, and keys of ids.
struct RocksDBEngine: Engine {
  var name: String { "rocksdb" }

  var settings: String {
    "RocksDB 7.8; LZ4, bloom of 10 bits, cache of 64 MiB, write buffer of 64 MiB, two background "
      + "threads; loads: batches of 1000, the last one synced"
  }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    try RocksDBStore(folder)
  }
}

/// An open database.
///
/// The first byte of a key tells memos from ids.
private final class RocksDBStore: Store {
  private let database: OpaquePointer
  private let options = rocksdb_options_create()
  private let cache = rocksdb_cache_create_lru(64 << 20)
  private let table = rocksdb_block_based_options_create()
  private let reading = rocksdb_readoptions_create()
  private let writing = rocksdb_writeoptions_create()
  private static let memoSpace: UInt8 = 1
  private static let idSpace: UInt8 = 2

  init(_ folder: String) throws(BenchmarkError) {
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
    rocksdb_options_increase_parallelism(options, 2)
    // The table owns its filter.
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10))
    rocksdb_block_based_options_set_block_cache(table, cache)
    rocksdb_options_set_block_based_table_factory(options, table)
    var error: UnsafeMutablePointer<CChar>?
    let opened = rocksdb_open(options, folder, &error)
    try Self.check(error)
    guard let opened else { throw BenchmarkError("rocksdb_open failed") }
    database = opened
  }

  private static func check(_ error: UnsafeMutablePointer<CChar>?) throws(BenchmarkError) {
    guard let error else { return }
    defer { rocksdb_free(error) }
    throw BenchmarkError("RocksDB: \(String(cString: error))")
  }

  private static func key(_ memo: NewMemo) -> [UInt8] {
    [memoSpace] + Record.key(memo.microseconds, memo.arrival, isInverted: true)
  }

  private static func key(of id: Identity) -> [UInt8] {
    [idSpace] + Record.key(of: id)
  }

  /// Fills a batch and writes it.
  private func write(
    isDurable: Bool, _ body: (OpaquePointer?) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    try body(batch)
    rocksdb_writeoptions_set_sync(writing, isDurable ? 1 : 0)
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_write(database, writing, batch, &error)
    try Self.check(error)
  }

  private static func add(_ memo: NewMemo, to batch: OpaquePointer?) {
    let key = key(memo)
    put(batch, key, Record.value(memo))
    put(batch, Self.key(of: memo.id), key)
  }

  private static func put(_ batch: OpaquePointer?, _ key: [UInt8], _ value: [UInt8]) {
    key.withCharacters { key in
      value.withCharacters {
        rocksdb_writebatch_put(batch, key.baseAddress, key.count, $0.baseAddress, $0.count)
      }
    }
  }

  func load(_ memos: [NewMemo]) throws(BenchmarkError) {
    for start in stride(from: 0, to: memos.count, by: 1000) {
      try write(isDurable: false) { batch throws(BenchmarkError) in
        for memo in memos[start..<min(start + 1000, memos.count)] { Self.add(memo, to: batch) }
      }
    }
  }

  /// A synced write makes everything before it durable.
  func finishLoading() throws(BenchmarkError) {
    try write(isDurable: true) { batch throws(BenchmarkError) in Self.put(batch, [3], []) }
  }

  func insert(_ memo: NewMemo) throws(BenchmarkError) {
    if try value(Self.key(of: memo.id)) != nil { throw BenchmarkError("the id is there") }
    try write(isDurable: true) { batch throws(BenchmarkError) in Self.add(memo, to: batch) }
  }

  func delete(_ ids: [Identity]) throws(BenchmarkError) {
    try write(isDurable: true) { batch throws(BenchmarkError) in
      for id in ids.map(Self.key(of:)) {
        guard let key = try value(id) else { continue }
        for key in [id, key] {
          key.withCharacters { rocksdb_writebatch_delete(batch, $0.baseAddress, $0.count) }
        }
      }
    }
  }

  private func value(_ key: [UInt8]) throws(BenchmarkError) -> [UInt8]? {
    var count = 0
    var error: UnsafeMutablePointer<CChar>?
    let found = key.withCharacters {
      rocksdb_get(database, reading, $0.baseAddress, $0.count, &count, &error)
    }
    try Self.check(error)
    guard let found else { return nil }
    defer { rocksdb_free(found) }
    return [UInt8](UnsafeRawBufferPointer(start: found, count: count))
  }

  func memo(for id: Identity) throws(BenchmarkError) -> SampleMemo? {
    guard let key = try value(Self.key(of: id)), let value = try value(key) else { return nil }
    return key.withUnsafeBytes { key in
      value.withUnsafeBytes {
        Record.decode(
          key: UnsafeRawBufferPointer(rebasing: key.dropFirst()), value: $0, isInverted: true)
      }
    }
  }

  /// Goes over memos until `visit` says that it is enough.
  private func scan(
    _ direction: Direction, notAfter microseconds: Int64?,
    _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(BenchmarkError) {
    let iterator = rocksdb_create_iterator(database, reading)
    defer { rocksdb_iter_destroy(iterator) }
    let isForward = direction == .newestFirst
    let first = microseconds.map { Record.boundary($0, isInverted: true) } ?? []
    ([isForward ? Self.memoSpace : Self.idSpace] + first).withCharacters {
      rocksdb_iter_seek(iterator, $0.baseAddress, $0.count)
    }
    if !isForward { rocksdb_iter_prev(iterator) }
    while rocksdb_iter_valid(iterator) != 0 {
      var keyCount = 0
      var valueCount = 0
      let key = rocksdb_iter_key(iterator, &keyCount)
      let value = rocksdb_iter_value(iterator, &valueCount)
      let bytes = UnsafeRawBufferPointer(start: key, count: keyCount)
      guard bytes.first == Self.memoSpace,
        visit(
          UnsafeRawBufferPointer(rebasing: bytes.dropFirst()),
          UnsafeRawBufferPointer(start: value, count: valueCount))
      else { break }
      if isForward { rocksdb_iter_next(iterator) } else { rocksdb_iter_prev(iterator) }
    }
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_iter_get_error(iterator, &error)
    try Self.check(error)
  }

  func latest(_ count: Int) throws(BenchmarkError) -> [SampleMemo] {
    var result: [SampleMemo] = []
    result.reserveCapacity(count)
    try scan(.newestFirst, notAfter: nil) { key, value in
      result.append(Record.decode(key: key, value: value, isInverted: true))
      return result.count < count
    }
    return result
  }

  func tally(
    _ direction: Direction, notAfter microseconds: Int64?, limit: Int
  ) throws(BenchmarkError) -> Tally {
    var tally = Tally()
    try scan(direction, notAfter: microseconds) { key, value in
      Record.tally(key: key, value: value, isInverted: true, into: &tally)
      return tally.count < limit
    }
    return tally
  }

  func settle() throws(BenchmarkError) {
    rocksdb_compact_range(database, nil, 0, nil, 0)
  }

  func close() throws(BenchmarkError) {
    rocksdb_close(database)
    rocksdb_options_destroy(options)
    rocksdb_block_based_options_destroy(table)
    rocksdb_cache_destroy(cache)
    rocksdb_readoptions_destroy(reading)
    rocksdb_writeoptions_destroy(writing)
  }
}
