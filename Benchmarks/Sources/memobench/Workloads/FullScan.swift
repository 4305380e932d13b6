/// Every memo once, in both directions.
enum FullScan: Workload {
  static let name = "scan"
  static let summary = "all memos in both directions, read in place (readseq, readreverse)"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    [try row(bench, .newestFirst), try row(bench, .oldestFirst)]
  }

  private static func row(_ bench: Bench, _ direction: Direction) throws(BenchmarkError) -> Row {
    let all = 0..<bench.options.count
    let expected =
      direction == .newestFirst ? bench.newestFirst(bench.options.count) : bench.corpus.tally(all)
    let cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let store = try bench.warm(engine, bench.options.count)
      defer { try? store.close() }
      var samples = Samples()
      let usage = Usage.start
      for _ in 0..<bench.samples(7) {
        let tally = try samples.time { () throws(BenchmarkError) in
          try store.tally(direction, notAfter: nil, limit: .max)
        }
        try check(tally == expected, "scan of \(engine.name)")
      }
      var cell = Cell(engine.name, samples)
      cell.usage = Usage.current - usage
      return cell
    }
    return Row(
      name: "scan \(direction.rawValue)", summary: "all \(bench.options.count) memos in place",
      goals: [.times(2, of: "lmdb")]
        + ["sqlite", "leveldb", "rocksdb"].map { .times(0.25, of: $0) },
      cells: cells)
  }
}
