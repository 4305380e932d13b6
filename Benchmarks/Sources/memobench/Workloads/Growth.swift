/// The same small works among ever more memos.
enum Growth: Workload {
  static let name = "growth"
  static let summary = "open, get, durable insert and disk from 1,000 memos to --count"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    var rows: [Row] = []
    let sizes = [1000, 10_000, 100_000, 1_000_000].filter { $0 < bench.options.count }
    for size in sizes + [bench.options.count] {
      rows += [
        try row(bench, size, "open + newest 200", open), try row(bench, size, "get by id", get),
        try inserts(bench, size), try row(bench, size, "disk settled", disk),
      ]
    }
    return rows
  }

  private static func row(
    _ bench: Bench, _ size: Int, _ work: String,
    _ measure: (Bench, any Engine, Int) throws(BenchmarkError) -> Cell
  ) throws(BenchmarkError) -> Row {
    var row = Row(name: "growth \(size): \(work)", summary: "among \(size) memos")
    row.growth = (work, size)
    if work == "disk settled" { row.unit = .bytes }
    row.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      try measure(bench, engine, size)
    }
    return row
  }

  private static func open(
    _ bench: Bench, _ engine: any Engine, _ size: Int
  ) throws(BenchmarkError) -> Cell {
    let folder = try bench.fixture(engine, size).folder
    let expected = Launch.expectedDigest(bench, size)
    var samples = Samples()
    for _ in 0..<bench.samples(30) {
      let numbers = try ChildProcess.again(["launch", engine.name, folder]).numbers
      try check(numbers.dropFirst().first == expected, "newest 200 of \(engine.name)")
      samples.add(numbers[0])
    }
    return Cell(engine.name, samples)
  }

  private static func get(
    _ bench: Bench, _ engine: any Engine, _ size: Int
  ) throws(BenchmarkError) -> Cell {
    let store = try bench.warm(engine, size)
    var random = Mixer(seed: 13)
    var samples = Samples()
    for _ in 0..<bench.samples(3000) {
      let number = Int.random(in: 0..<size, using: &random)
      let memo = try samples.time { () throws(BenchmarkError) in
        try store.memo(for: Identity(number))
      }
      try check(memo == bench.corpus.expected(number), "get of \(engine.name)")
    }
    try store.close()
    return Cell(engine.name, samples)
  }

  /// In turn, so that a busy device meets all engines.
  private static func inserts(_ bench: Bench, _ size: Int) throws(BenchmarkError) -> Row {
    var row = Row(name: "growth \(size): durable insert", summary: "among \(size) memos")
    row.growth = ("durable insert", size)
    var stores: [(name: String, store: any Store, folder: String, samples: Samples)] = []
    for engine in try bench.loaded(size) {
      let folder = try bench.copy(engine, size, named: "growth")
      let store = try engine.open(folder)
      // The first write of a process makes files and threads.
      try store.insert(bench.corpus.memo(size))
      stores.append((engine.name, store, folder, Samples()))
    }
    for number in size + 1...size + bench.samples(200) {
      let memo = bench.corpus.memo(number)
      for (place, entry) in stores.enumerated() {
        try stores[place].samples.time { () throws(BenchmarkError) in
          try entry.store.insert(memo)
        }
        let newest = try entry.store.latest(1)
        try check(newest == [bench.corpus.expected(number)], "newest of \(entry.name)")
      }
    }
    for (name, store, folder, samples) in stores {
      try store.close()
      try Files.remove(folder)
      row.cells.append(Cell(name, samples))
    }
    return row
  }

  private static func disk(
    _ bench: Bench, _ engine: any Engine, _ size: Int
  ) throws(BenchmarkError) -> Cell {
    guard let settling = try bench.fixture(engine, size).settling else {
      throw .unsupported("compact()")
    }
    return Cell(engine.name, Double(settling.liveByteCount ?? settling.byteCount))
  }
}
