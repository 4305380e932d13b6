/// A jump to a random time and 200 memos from there.
enum PageRead: Workload {
  static let name = "page"
  static let summary = "200 memos from a random time on, newest first, read in place"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = bench.samples(5000)
    let cells = try bench.cells(of: bench.engines) { engine throws(BenchmarkError) in
      let store = try bench.warm(engine, bench.options.count)
      defer { try? store.close() }
      return try pages(bench, engine, store, count)
    }
    return [Row(name: name, summary: summary, goals: [.times(1.3, of: "lmdb")], cells: cells)]
  }

  private static func pages(
    _ bench: Bench, _ engine: any Engine, _ store: any Store, _ count: Int
  ) throws(BenchmarkError) -> Cell {
    let pageCount = 200
    var random = Mixer(seed: 11)
    var samples = Samples(capacity: count)
    let usage = Usage.start
    for round in 0..<count + count / 10 {
      let number = Int.random(in: 0..<bench.options.count, using: &random)
      let time = bench.corpus.time(number)
      let start = now()
      let tally = try store.tally(.newestFirst, notAfter: time, limit: pageCount)
      let duration = now() - start
      if round < count / 10 {
        let newest = bench.corpus.newest(notAfter: time, of: bench.options.count)
        let expected = bench.corpus.tally((0...newest).suffix(pageCount).reversed())
        try check(tally == expected, "page of \(engine.name)")
      } else {
        samples.add(duration)
      }
    }
    var cell = Cell(engine.name, samples)
    cell.usage = Usage.current - usage
    return cell
  }
}
