import KVEngine

/// MemoKV's engine through its public interface, set up like the other stores of keys and values:
/// a space in the order of time, newest first, and a space of ids.
struct MemoKVEngine: Engine {
  /// Mebibytes of block cache; `nil` is the default.
  var cacheMebibytes: Int?

  var name: String { cacheMebibytes.map { "memokv-\($0)m" } ?? "memokv" }

  var original: String? { cacheMebibytes.map { _ in "memokv" } }

  var settings: String {
    "Database of KVEngine, \(cacheMebibytes ?? 4) MiB of cache, log of 256 KiB; loads: batches of "
      + "100,000 memos"
  }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    var options = DatabaseOptions()
    if let cacheMebibytes { options.cacheByteCount = cacheMebibytes << 20 }
    return try measured { try MemoKVStore(Database(at: folder + "/store", options: options)) }
  }
}

/// An open database.
private final class MemoKVStore: Store {
  private let database: Database
  private let memos = Space.standard
  private let ids: Space

  init(_ database: Database) throws {
    self.database = database
    // The first open makes the name; later ones find it.
    ids = try database.space("ids")
  }

  private func add(_ memo: NewMemo, to batch: inout WriteBatch) {
    let key = Record.key(memo.microseconds, memo.arrival, isInverted: true)
    batch.put(Record.value(memo), forKey: key, in: memos)
    batch.put(key, forKey: Record.key(of: memo.id), in: ids)
  }

  func load(_ memos: [NewMemo], isOrdered: Bool) throws(BenchmarkError) {
    for start in stride(from: 0, to: memos.count, by: 100_000) {
      var batch = WriteBatch()
      for memo in memos[start..<min(start + 100_000, memos.count)] { add(memo, to: &batch) }
      try measured { try database.write(batch) }
    }
  }

  func finishLoading() throws(BenchmarkError) {
    try measured { try database.flush() }
  }

  func insert(_ memo: NewMemo) throws(BenchmarkError) {
    var batch = WriteBatch()
    batch.require(absent: Record.key(of: memo.id), in: ids)
    add(memo, to: &batch)
    try measured { try database.write(batch) }
  }

  func update(_ changed: [NewMemo]) throws(BenchmarkError) {
    var batch = WriteBatch()
    for memo in changed {
      let key = Record.key(memo.microseconds, memo.arrival, isInverted: true)
      batch.put(Record.value(memo), forKey: key, in: memos)
    }
    try measured { try database.write(batch) }
  }

  func delete(_ identities: [Identity]) throws(BenchmarkError) {
    try measured {
      var batch = WriteBatch()
      for id in identities.map(Record.key(of:)) {
        guard let key = try database.value(forKey: id, in: ids) else { continue }
        batch.delete(key, in: memos)
        batch.delete(id, in: ids)
      }
      try database.write(batch)
    }
  }

  func contains(_ id: Identity) throws(BenchmarkError) -> Bool {
    try measured { try database.value(forKey: Record.key(of: id), in: ids) != nil }
  }

  func memo(for id: Identity) throws(BenchmarkError) -> SampleMemo? {
    try measured {
      guard let key = try database.value(forKey: Record.key(of: id), in: ids),
        let value = try database.value(forKey: key, in: memos)
      else { return nil }
      return key.withUnsafeBytes { key in
        value.withUnsafeBytes { Record.decode(key: key, value: $0, isInverted: true) }
      }
    }
  }

  func latest(_ count: Int) throws(BenchmarkError) -> [SampleMemo] {
    try measured {
      var result: [SampleMemo] = []
      result.reserveCapacity(count)
      var cursor = try database.cursor(space: memos)
      while result.count < count, try cursor.moveForward() {
        let memo = cursor.key.withUnsafeBytes { key in
          cursor.value.withUnsafeBytes { Record.decode(key: key, value: $0, isInverted: true) }
        }
        result.append(memo)
      }
      return result
    }
  }

  func tally(
    _ direction: Direction, notAfter microseconds: Int64?, limit: Int
  ) throws(BenchmarkError) -> Tally {
    try measured {
      let range = microseconds.map { KeyRange.from(Record.boundary($0, isInverted: true)) }
      var cursor = try database.cursor(in: range ?? .all, space: memos)
      var tally = Tally()
      let isForward = direction == .newestFirst
      while tally.count < limit,
        try isForward ? cursor.moveForward() : cursor.moveBackward()
      {
        cursor.key.withUnsafeBytes { key in
          cursor.value.withUnsafeBytes {
            Record.tally(key: key, value: $0, isInverted: true, into: &tally)
          }
        }
      }
      return tally
    }
  }

  func settle() throws(BenchmarkError) {
    try measured { try database.compact() }
  }

  /// Segments and log: what was replaced stays for ten minutes, for copies of the folder.
  var liveByteCount: Int? {
    try? database.statistics().segmentByteCount + 256 << 10
  }

  var writtenByCause: [String: Int] {
    guard let statistics = try? database.statistics() else { return [:] }
    return [
      "log": statistics.logByteCount, "flush": statistics.flushByteCount,
      "compaction": statistics.compactionByteCount, "manifest": statistics.manifestByteCount,
    ]
  }

  func close() throws(BenchmarkError) {
    try measured { try database.close() }
  }
}
