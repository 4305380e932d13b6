/// Whether a memo is there, without its text.
enum Exists: Workload {
  static let name = "exists"
  static let summary = "whether a random id is there, for ids that are and that are not"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    [try row(bench, isPresent: true), try row(bench, isPresent: false)]
  }

  private static func row(_ bench: Bench, isPresent: Bool) throws(BenchmarkError) -> Row {
    let count = bench.samples(20_000)
    let cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let store = try bench.warm(engine, bench.options.count)
      var random = Mixer(seed: 19)
      var samples = Samples(capacity: count)
      let usage = Usage.start
      for _ in 0..<count {
        let number = Int.random(in: 0..<bench.options.count, using: &random)
        let id = Identity(isPresent ? number : number + 1 << 40)
        let isFound = try samples.time { () throws(BenchmarkError) in try store.contains(id) }
        try check(isFound == isPresent, "existence in \(engine.name)")
      }
      var cell = Cell(engine.name, samples)
      cell.usage = Usage.current - usage
      try store.close()
      return cell
    }
    return Row(
      name: isPresent ? "exists" : "exists not",
      summary: "among \(bench.options.count) memos, text not read", cells: cells)
  }
}
