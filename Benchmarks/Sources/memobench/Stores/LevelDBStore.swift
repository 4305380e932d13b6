import CLevelDB

/// LevelDB: keys in the order of time, newest first, and keys of ids.
struct LevelDBEngine: Engine {
  var name: String { "leveldb" }

  var settings: String {
    "LevelDB \(leveldb_major_version()).\(leveldb_minor_version()); snappy, bloom of 10 bits, "
      + "cache of 64 MiB, write buffer of 16 MiB; loads: batches of 1000, the last one synced"
  }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    try LevelDBStore(folder)
  }
}

/// An open database.
///
/// The first byte of a key tells memos from ids.
private final class LevelDBStore: Store {
  private let database: OpaquePointer
  private let options = leveldb_options_create()
  private let cache = leveldb_cache_create_lru(64 << 20)
  private let filter = leveldb_filterpolicy_create_bloom(10)
  private let reading = leveldb_readoptions_create()
  private let writing = leveldb_writeoptions_create()
  private static let memoSpace: UInt8 = 1
  private static let idSpace: UInt8 = 2

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
    let batch = leveldb_writebatch_create()
    defer { leveldb_writebatch_destroy(batch) }
    try body(batch)
    leveldb_writeoptions_set_sync(writing, isDurable ? 1 : 0)
    var error: UnsafeMutablePointer<CChar>?
    leveldb_write(database, writing, batch, &error)
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
        leveldb_writebatch_put(batch, key.baseAddress, key.count, $0.baseAddress, $0.count)
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
          key.withCharacters { leveldb_writebatch_delete(batch, $0.baseAddress, $0.count) }
        }
      }
    }
  }

  private func value(_ key: [UInt8]) throws(BenchmarkError) -> [UInt8]? {
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
    let iterator = leveldb_create_iterator(database, reading)
    defer { leveldb_iter_destroy(iterator) }
    let isForward = direction == .newestFirst
    let first = microseconds.map { Record.boundary($0, isInverted: true) } ?? []
    ([isForward ? Self.memoSpace : Self.idSpace] + first).withCharacters {
      leveldb_iter_seek(iterator, $0.baseAddress, $0.count)
    }
    if !isForward { leveldb_iter_prev(iterator) }
    while leveldb_iter_valid(iterator) != 0 {
      var keyCount = 0
      var valueCount = 0
      let key = leveldb_iter_key(iterator, &keyCount)
      let value = leveldb_iter_value(iterator, &valueCount)
      let bytes = UnsafeRawBufferPointer(start: key, count: keyCount)
      guard bytes.first == Self.memoSpace,
        visit(
          UnsafeRawBufferPointer(rebasing: bytes.dropFirst()),
          UnsafeRawBufferPointer(start: value, count: valueCount))
      else { break }
      if isForward { leveldb_iter_next(iterator) } else { leveldb_iter_prev(iterator) }
    }
    var error: UnsafeMutablePointer<CChar>?
    leveldb_iter_get_error(iterator, &error)
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
    leveldb_compact_range(database, nil, 0, nil, 0)
  }

  func close() throws(BenchmarkError) {
    leveldb_close(database)
    leveldb_options_destroy(options)
    leveldb_filterpolicy_destroy(filter)
    leveldb_cache_destroy(cache)
    leveldb_readoptions_destroy(reading)
    leveldb_writeoptions_destroy(writing)
  }
}
