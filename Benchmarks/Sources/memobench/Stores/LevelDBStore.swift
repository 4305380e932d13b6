import CLevelDB

/// LevelDB: keys in the order of time, newest first, and keys of ids.
struct LevelDBEngine: Engine {
  var name: String { "leveldb" }

  var settings: String {
    "LevelDB \(leveldb_major_version()).\(leveldb_minor_version()); snappy, bloom of 10 bits, "
      + "cache of 64 MiB, write buffer of 16 MiB; loads: batches of 1000, the last one synced"
  }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    SortedTableStore(try LevelDBTable(folder))
  }
}

/// An open database.
private final class LevelDBTable: SortedTable {
  private let database: OpaquePointer
  private let options = leveldb_options_create()
  private let cache = leveldb_cache_create_lru(64 << 20)
  private let filter = leveldb_filterpolicy_create_bloom(10)
  private let reading = leveldb_readoptions_create()
  private let writing = leveldb_writeoptions_create()

  init(_ folder: String) throws(BenchmarkError) {
    leveldb_options_set_create_if_missing(options, 1)
    leveldb_options_set_compression(options, Int32(leveldb_snappy_compression))
    leveldb_options_set_filter_policy(options, filter)
    leveldb_options_set_cache(options, cache)
    leveldb_options_set_write_buffer_size(options, 16 << 20)
    var error: UnsafeMutablePointer<CChar>?
    let opened = leveldb_open(options, folder, &error)
    try Self.check(error)
    guard let opened else { throw BenchmarkError("leveldb_open failed") }
    database = opened
  }

  private static func check(_ error: UnsafeMutablePointer<CChar>?) throws(BenchmarkError) {
    guard let error else { return }
    defer { leveldb_free(error) }
    throw BenchmarkError("LevelDB: \(String(cString: error))")
  }

  func write(
    isDurable: Bool, _ fill: (OpaquePointer?) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    let batch = leveldb_writebatch_create()
    defer { leveldb_writebatch_destroy(batch) }
    try fill(batch)
    leveldb_writeoptions_set_sync(writing, isDurable ? 1 : 0)
    var error: UnsafeMutablePointer<CChar>?
    leveldb_write(database, writing, batch, &error)
    try Self.check(error)
  }

  static func put(_ batch: OpaquePointer?, _ key: [UInt8], _ value: [UInt8]) {
    key.withCharacters { key in
      value.withCharacters {
        leveldb_writebatch_put(batch, key.baseAddress, key.count, $0.baseAddress, $0.count)
      }
    }
  }

  static func delete(_ batch: OpaquePointer?, _ key: [UInt8]) {
    key.withCharacters { leveldb_writebatch_delete(batch, $0.baseAddress, $0.count) }
  }

  func value(_ key: [UInt8]) throws(BenchmarkError) -> [UInt8]? {
    var count = 0
    var error: UnsafeMutablePointer<CChar>?
    let found = key.withCharacters {
      leveldb_get(database, reading, $0.baseAddress, $0.count, &count, &error)
    }
    try Self.check(error)
    guard let found else { return nil }
    defer { leveldb_free(found) }
    return [UInt8](UnsafeRawBufferPointer(start: found, count: count))
  }

  func walk(
    from key: [UInt8], isForward: Bool,
    _ visit: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(BenchmarkError) {
    let iterator = leveldb_create_iterator(database, reading)
    defer { leveldb_iter_destroy(iterator) }
    key.withCharacters { leveldb_iter_seek(iterator, $0.baseAddress, $0.count) }
    if !isForward { leveldb_iter_prev(iterator) }
    while leveldb_iter_valid(iterator) != 0 {
      var keyCount = 0
      var valueCount = 0
      let key = leveldb_iter_key(iterator, &keyCount)
      let value = leveldb_iter_value(iterator, &valueCount)
      guard
        visit(
          UnsafeRawBufferPointer(start: key, count: keyCount),
          UnsafeRawBufferPointer(start: value, count: valueCount))
      else { break }
      if isForward { leveldb_iter_next(iterator) } else { leveldb_iter_prev(iterator) }
    }
    var error: UnsafeMutablePointer<CChar>?
    leveldb_iter_get_error(iterator, &error)
    try Self.check(error)
  }

  func compact() {
    leveldb_compact_range(database, nil, 0, nil, 0)
  }

  func close() {
    leveldb_close(database)
    leveldb_options_destroy(options)
    leveldb_filterpolicy_destroy(filter)
    leveldb_cache_destroy(cache)
    leveldb_readoptions_destroy(reading)
    leveldb_writeoptions_destroy(writing)
  }
}
