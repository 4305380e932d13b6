/// One memo after the other, each durable before the next, all engines and the raw device in turn.
enum DurableInsert: Workload {
  static let name = "insert"
  static let summary = "durable single insert against raw overwrite + fdatasync (fillsync)"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = min(bench.options.count, 100_000)
    let count = bench.samples(3000)
    var stores: [(name: String, store: any Store, samples: Samples, syncs: Int)] = []
    for engine in bench.originals where !(engine is MemoHistoryEngine) {
      let store = try engine.open(try bench.copy(engine, size, named: "insert"))
      // The first write of a process makes files and threads; it is no insert like the others.
      try store.insert(bench.corpus.memo(size))
      stores.append((engine.name, store, Samples(capacity: count), 0))
    }
    let overwriting = try RawDevice(bench.folder + "/raw-overwrite", overwriting: 256 << 10)
    let growing = try RawDevice(bench.folder + "/raw-append", overwriting: 0)
    var raw = Samples(capacity: count)
    var append = Samples(capacity: count)
    for number in size + 1..<size + 1 + count {
      let memo = bench.corpus.memo(number)
      let bytes = RawDevice.bytes(of: memo)
      try raw.time { () throws(BenchmarkError) in try overwriting.write(bytes) }
      try append.time { () throws(BenchmarkError) in try growing.write(bytes) }
      for place in stores.indices {
        let store = stores[place].store
        let syncs = Usage.syncCount
        try stores[place].samples.time { () throws(BenchmarkError) in try store.insert(memo) }
        stores[place].syncs += Usage.syncCount - syncs
      }
    }
    var cells = [Cell("raw", raw, note: "overwrite"), Cell("raw-append", append)]
    for (name, store, samples, syncs) in stores {
      let newest = (1...3).map { bench.corpus.expected(size + 1 + count - $0) }
      try check(try store.latest(3) == newest, "newest after inserts into \(name)")
      var cell = Cell(name, samples)
      cell.syncs = Double(syncs) / Double(count)
      cells.append(cell)
      try store.close()
    }
    return try [Row(name: name, summary: summary, goals: [.times(1.1, of: "raw")], cells: cells)]
      + awaited(bench, size, count / 3)
  }

  /// The awaited call of the store of memos, beside the raw device.
  private static func awaited(
    _ bench: Bench, _ size: Int, _ count: Int
  ) throws(BenchmarkError) -> [Row] {
    let ours = bench.engines.filter { $0 is MemoHistoryEngine }
    let cells = try bench.cells(of: ours) { engine throws(BenchmarkError) in
      let store = try engine.open(try bench.copy(engine, size, named: "awaited"))
      try store.insert(bench.corpus.memo(size))
      let memos = (size + 1..<size + 1 + count).map(bench.corpus.memo)
      guard let own = store as? MemoHistoryStore else { throw .unsupported("awaited call") }
      let samples = try own.insertAwaiting(memos)
      try check(
        try store.latest(1) == [bench.corpus.expected(size + count)], "newest after awaiting")
      try store.close()
      return Cell(engine.name, samples, note: "awaited, not in turn with the others")
    }
    if cells.isEmpty { return [] }
    return [Row(name: "insert awaited", summary: "MemoStore.insert in a task", cells: cells)]
  }
}
