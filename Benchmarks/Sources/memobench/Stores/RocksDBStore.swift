import CRocksDB

/// RocksDB: keys in the order of time, newest first, and keys of ids.
struct RocksDBEngine: Engine {
  var name: String { "rocksdb" }

  var settings: String {
    "RocksDB 7.8; LZ4, bloom of 10 bits, cache of 64 MiB, write buffer of 64 MiB, two background "
      + "threads; loads: batches of 1000, the last one synced"
  }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    SortedTableStore(try RocksDBTable(folder))
  }
}

/// An open database.
private final class RocksDBTable: SortedTable {
  private let database: OpaquePointer
  private let options = rocksdb_options_create()
  private let cache = rocksdb_cache_create_lru(64 << 20)
  private let table = rocksdb_block_based_options_create()
  private let reading = rocksdb_readoptions_create()
  private let writing = rocksdb_writeoptions_create()

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

  func write(
    isDurable: Bool, _ fill: (OpaquePointer?) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    try fill(batch)
    rocksdb_writeoptions_set_sync(writing, isDurable ? 1 : 0)
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_write(database, writing, batch, &error)
    try Self.check(error)
  }

  static func put(_ batch: OpaquePointer?, _ key: [UInt8], _ value: [UInt8]) {
    key.withCharacters { key in
      value.withCharacters {
        rocksdb_writebatch_put(batch, key.baseAddress, key.count, $0.baseAddress, $0.count)
      }
    }
  }

  static func delete(_ batch: OpaquePointer?, _ key: [UInt8]) {
    key.withCharacters { rocksdb_writebatch_delete(batch, $0.baseAddress, $0.count) }
  }

  func value(_ key: [UInt8]) throws(BenchmarkError) -> [UInt8]? {
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

  func walk(
    from key: [UInt8], isForward: Bool,
    _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(BenchmarkError) {
    let iterator = rocksdb_create_iterator(database, reading)
    defer { rocksdb_iter_destroy(iterator) }
    key.withCharacters { rocksdb_iter_seek(iterator, $0.baseAddress, $0.count) }
    if !isForward { rocksdb_iter_prev(iterator) }
    while rocksdb_iter_valid(iterator) != 0 {
      var keyCount = 0
      var valueCount = 0
      let key = rocksdb_iter_key(iterator, &keyCount)
      let value = rocksdb_iter_value(iterator, &valueCount)
      guard
        visit(
          UnsafeRawBufferPointer(start: key, count: keyCount),
          UnsafeRawBufferPointer(start: value, count: valueCount))
      else { break }
      if isForward { rocksdb_iter_next(iterator) } else { rocksdb_iter_prev(iterator) }
    }
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_iter_get_error(iterator, &error)
    try Self.check(error)
  }

  func compact() {
    rocksdb_compact_range(database, nil, 0, nil, 0)
  }

  func close() {
    rocksdb_close(database)
    rocksdb_options_destroy(options)
    rocksdb_block_based_options_destroy(table)
    rocksdb_cache_destroy(cache)
    rocksdb_readoptions_destroy(reading)
    rocksdb_writeoptions_destroy(writing)
  }
}
