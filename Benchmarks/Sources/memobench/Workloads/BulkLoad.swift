/// Many memos at once, in the order of their times, until all are durable.
enum BulkLoad: Workload {
  static let name = "load"
  static let summary = "bulk load in the order of time until all is durable (db_bench: fillseq)"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = bench.options.count
    let scale = Double(count) / 1_000_000
    let cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let fixture = try bench.fixture(engine, count)
      let store = try engine.open(fixture.folder)
      try check(
        try store.latest(5) == (1...5).map { bench.corpus.expected(count - $0) }, "newest of load")
      try store.close()
      var cell = Cell(engine.name, Double(fixture.loadTime))
      cell.usage = fixture.loadUsage
      return cell
    }
    return [
      Row(
        name: name, summary: "\(count) memos, \(summary)", goals: [.atMost(2e9 * scale)],
        cells: cells)
    ]
  }
}
