/// The start of an app: open the store, the newest 200 memos as values.
enum Launch: Workload {
  static let name = "launch"
  static let summary = "open + newest 200 decoded: in a new process, again in one, after a kill"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let sizes = Set([10_000, 100_000, 1_000_000, bench.options.count])
      .filter { $0 <= bench.options.count }.sorted()
    var rows: [Row] = []
    for size in sizes {
      rows.append(try first(bench, size))
      rows.append(try again(bench, size))
    }
    return rows + (try AfterKill.rows(bench))
  }

  /// What every engine has to read from the first `count` memos.
  static func expectedDigest(_ bench: Bench, _ count: Int) -> Int {
    bench.corpus.tally((0..<count).suffix(ChildWork.launchCount).reversed()).digest
  }

  /// The first open of a new process, all engines in turn; the page cache is warm.
  static func first(_ bench: Bench, _ size: Int) throws(BenchmarkError) -> Row {
    let expected = expectedDigest(bench, size)
    let engines = try bench.loaded(size)
    var samples: [String: Samples] = [:]
    for round in 0..<bench.samples(60) {
      for engine in engines {
        let folder = try bench.fixture(engine, size).folder
        let numbers = try ChildProcess.again(["launch", engine.name, folder]).numbers
        try check(numbers.dropFirst().first == expected, "newest 200 of \(engine.name)")
        // The first round warms up.
        if round > 0 { samples[engine.name, default: Samples()].add(numbers[0]) }
      }
    }
    var row = Row(
      name: "launch \(size)", summary: "first open of a process + newest 200 decoded",
      goals: [.times(1, of: "lmdb")])
    row.cells = engines.compactMap { engine in
      samples[engine.name].map { Cell(engine.name, $0) }
    }
    return row
  }

  /// Open, read, close, many times in one process.
  private static func again(_ bench: Bench, _ size: Int) throws(BenchmarkError) -> Row {
    let count = bench.samples(200)
    var row = Row(
      name: "reopen \(size)", summary: "the same, repeated in one process",
      goals: [.times(1, of: "lmdb")])
    row.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let folder = try bench.fixture(engine, size).folder
      let numbers = try ChildProcess.again(["reopen", engine.name, folder, "\(count)"]).numbers
      return Cell(engine.name, Samples(numbers))
    }
    return row
  }
}

/// The first open after the process before was killed with much in its log.
enum AfterKill {
  /// Bytes that are in the log then: somewhat less than the bound of ours.
  private static let byteCount = 200 << 10

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = min(bench.options.count, 100_000)
    var row = Row(
      name: "launch after kill", summary: "\(size) memos and \(byteCount >> 10) KiB in the log",
      goals: [.atMost(1e6)])
    row.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let store = try bench.copy(engine, size, named: "killed")
      let filled = try ChildProcess.again(
        ["fill", engine.name, store, "\(size)", "\(byteCount)"], mayBeKilled: true)
      let expected = Launch.expectedDigest(bench, filled.numbers.first ?? 0)
      var samples = Samples()
      for _ in 0..<bench.samples(20) {
        // Each open gets the store as the kill left it: some engines rewrite their log.
        let copy = store + "-copy"
        try Files.copy(store, to: copy)
        let numbers = try ChildProcess.again(["launch", engine.name, copy]).numbers
        try check(numbers.dropFirst().first == expected, "newest 200 after a kill")
        samples.add(numbers[0])
      }
      return Cell(engine.name, samples)
    }
    return [row]
  }
}
