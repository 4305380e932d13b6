/// What db_bench of LevelDB and RocksDB has beside the other rows.
enum DatabaseBench: Workload {
  static let name = "db_bench"
  static let summary = "overwrite, readhot, seekrandom (the README says which rows are the others)"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    [try overwrite(bench), try readHot(bench), try seekRandom(bench)]
  }

  private static func overwrite(_ bench: Bench) throws(BenchmarkError) -> Row {
    let size = min(bench.options.count, 100_000)
    var row = Row(
      name: "overwrite", summary: "\(size) memos get other texts, random order, batches of 1,000")
    row.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let folder = try bench.copy(engine, size, named: "overwrite")
      let store = try engine.open(folder)
      var random = Mixer(seed: 31)
      let order = (0..<size).shuffled(using: &random)
      var texts = Texts()
      order.forEach { texts.change($0) }
      let usage = Usage.start
      let start = now()
      for first in stride(from: 0, to: size, by: 1000) {
        let batch = order[first..<min(first + 1000, size)]
        try store.update(batch.map { bench.corpus.memo($0, text: texts.text($0)) })
      }
      var cell = Cell(engine.name, Double(now() - start))
      cell.usage = Usage.current - usage
      let tally = try store.tally(.newestFirst, notAfter: nil, limit: .max)
      try check(tally == bench.corpus.tally((0..<size).reversed(), texts), "overwrite")
      try store.close()
      try Files.remove(folder)
      return cell
    }
    return row
  }

  private static func readHot(_ bench: Bench) throws(BenchmarkError) -> Row {
    let hot = bench.options.count / 100
    let count = bench.samples(20_000)
    var row = Row(name: "readhot", summary: "memo by id, random among one in a hundred, decoded")
    row.cells = try bench.cells(of: bench.engines) { engine throws(BenchmarkError) in
      let store = try bench.warm(engine, bench.options.count)
      var random = Mixer(seed: 37)
      var samples = Samples(capacity: count)
      for _ in 0..<count {
        let number = Int.random(in: 0..<hot, using: &random)
        let memo = try samples.time { () throws(BenchmarkError) in
          try store.memo(for: Identity(number))
        }
        try check(memo?.id == Identity(number), "readhot of \(engine.name)")
      }
      try store.close()
      return Cell(engine.name, samples)
    }
    return row
  }

  private static func seekRandom(_ bench: Bench) throws(BenchmarkError) -> Row {
    let count = bench.samples(5000)
    var row = Row(name: "seekrandom", summary: "the newest memo that is not after a random time")
    row.cells = try bench.cells(of: bench.engines) { engine throws(BenchmarkError) in
      let store = try bench.warm(engine, bench.options.count)
      var random = Mixer(seed: 41)
      var samples = Samples(capacity: count)
      for _ in 0..<count {
        let time = bench.corpus.time(Int.random(in: 0..<bench.options.count, using: &random))
        let tally = try samples.time { () throws(BenchmarkError) in
          try store.tally(.newestFirst, notAfter: time, limit: 1)
        }
        let newest = bench.corpus.newest(notAfter: time, of: bench.options.count)
        try check(tally == bench.corpus.tally([newest]), "seek of \(engine.name)")
      }
      try store.close()
      return Cell(engine.name, samples)
    }
    return row
  }
}
