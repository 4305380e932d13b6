/// Two programs that use one store in turn, as an app and its extension do.
enum Turns: Workload {
  static let name = "turns"
  static let summary = "each turn a process: open, newest 200, five durable inserts, close"
  /// Memos that a process adds in its turn.
  static let memosPerTurn = 5

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = min(bench.options.count, 100_000)
    let turns = bench.samples(60)
    var stores: [(engine: any Engine, folder: String, samples: Samples)] = []
    for engine in try bench.loaded(size) {
      stores.append((engine, try bench.copy(engine, size, named: "turns"), Samples()))
    }
    for turn in 0..<turns {
      let first = size + turn * memosPerTurn
      let time = bench.corpus.time(size) + Int64(turn) * 60_000_000
      for (place, store) in stores.enumerated() {
        let arguments = ["turn", store.engine.name, store.folder, "\(first)", "\(time)"]
        stores[place].samples.add(try ChildProcess.again(arguments).numbers.first ?? 0)
      }
    }
    let added = size..<size + turns * memosPerTurn
    var cells: [Cell] = []
    for (engine, folder, samples) in stores {
      let store = try engine.open(folder)
      let ids = try store.latest(added.count).map(\.id)
      try check(ids == added.reversed().map(Identity.init(_:)), "memos of all turns")
      try store.close()
      try Files.remove(folder)
      cells.append(Cell(engine.name, samples))
    }
    return [Row(name: name, summary: summary, cells: cells)]
  }

  /// One turn; the process before has to have left its last memo.
  static func takeTurn(
    _ engine: any Engine, _ folder: String, first: Int, time: Int
  ) throws(BenchmarkError) {
    let text = Array("milk, bread, and the book that she spoke of on Sunday".utf8)
    let start = now()
    let store = try engine.open(folder)
    let newest = try store.latest(200)
    try check(newest.first?.id == Identity(first - 1), "the memo of the turn before")
    for number in first..<first + memosPerTurn {
      try measured {
        try text.withUnsafeBytes { body in
          try store.insert(
            NewMemo(
              id: Identity(number), arrival: number,
              microseconds: Int64(time + (number - first) * 1_000_000), zoneSeconds: 0,
              body: body))
        }
      }
    }
    try store.close()
    print(now() - start)
  }
}
