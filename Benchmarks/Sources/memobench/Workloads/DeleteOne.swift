/// One memo after the other is deleted, each durably, all engines in turn.
enum DeleteOne: Workload {
  static let name = "delete-one"
  static let summary = "durable deletion of single memos by random id (deleterandom)"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = min(bench.options.count, 100_000)
    var random = Mixer(seed: 23)
    let gone = Array((0..<size).shuffled(using: &random).prefix(bench.samples(1000)))
    var open: [(name: String, store: any Store, folder: String, samples: Samples)] = []
    for engine in try bench.loaded(size) {
      let folder = try bench.copy(engine, size, named: "delete-one")
      let store = try engine.open(folder)
      // The first write of a process makes files and threads.
      try store.insert(bench.corpus.memo(size))
      open.append((engine.name, store, folder, Samples(capacity: gone.count)))
    }
    for number in gone {
      for place in open.indices {
        let store = open[place].store
        try open[place].samples.time { () throws(BenchmarkError) in
          try store.delete([Identity(number)])
        }
      }
    }
    var row = Row(name: name, summary: summary)
    for (name, store, folder, samples) in open {
      for number in gone {
        try check(try !store.contains(Identity(number)), "deleted memo \(number) of \(name)")
      }
      try check(try store.latest(size + 1).count == size + 1 - gone.count, "rest of \(name)")
      row.cells.append(Cell(name, samples))
      try store.close()
      try Files.remove(folder)
    }
    return [row]
  }
}
