/// Memos by their ids, present and absent.
enum GetByID: Workload {
  static let name = "get"
  static let summary = "memo by random id, decoded, present and absent (readrandom, readmissing)"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = bench.samples(50_000)
    var present = Row(
      name: "get present", summary: "memo by random id among \(bench.options.count), decoded",
      goals: [.times(1.6, of: "lmdb")])
    var wide = Row(
      name: "get present, 64 MiB", summary: "the same with as much cache as LevelDB and RocksDB",
      subject: "memokv-64m", goals: [.times(1.2, of: "lmdb")])
    var absent = Row(
      name: "get absent", summary: "random ids that are not there", goals: [.times(1.6, of: "lmdb")]
    )
    for engine in bench.engines {
      let found = try bench.cells(of: [engine]) { engine throws(BenchmarkError) in
        let store = try bench.warm(engine, bench.options.count)
        let cells = [
          try get(bench, engine, store, count, isPresent: true),
          try get(bench, engine, store, count, isPresent: false),
        ]
        try store.close()
        absent.cells.append(cells[1])
        return cells[0]
      }
      present.cells += found
    }
    wide.cells = present.cells.filter { ["memokv-64m", "lmdb"].contains($0.engine) }
    return wide.cells.count == 2 ? [present, wide, absent] : [present, absent]
  }

  private static func get(
    _ bench: Bench, _ engine: any Engine, _ store: any Store, _ count: Int, isPresent: Bool
  ) throws(BenchmarkError) -> Cell {
    var random = Mixer(seed: 7)
    var samples = Samples(capacity: count)
    let usage = Usage.start
    for round in 0..<count + count / 10 {
      let number = Int.random(in: 0..<bench.options.count, using: &random)
      let id = Identity(isPresent ? number : number + 1 << 40)
      let start = now()
      let memo = try store.memo(for: id)
      let duration = now() - start
      // A tenth more warms up, and is compared in full.
      if round < count / 10 {
        try check(
          memo == (isPresent ? bench.corpus.expected(number) : nil), "get of \(engine.name)")
      } else {
        samples.add(duration)
      }
    }
    var cell = Cell(engine.name, samples)
    cell.usage = Usage.current - usage
    return cell
  }
}
