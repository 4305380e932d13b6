/// Memory of an app's process after its start.
enum Memory: Workload {
  static let name = "memory"
  static let summary = "peak memory of a process after open + newest 200"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    func median(_ body: () throws(BenchmarkError) -> Int?) throws(BenchmarkError) -> Double {
      var samples = Samples()
      for _ in 0..<5 { samples.add(try body() ?? 0) }
      return Double(samples.median)
    }
    // All engines are linked into every process; what an engine adds is what it costs.
    let idle = try median { () throws(BenchmarkError) in
      try ChildProcess.again(["idle"]).numbers.first
    }
    var row = Row(
      name: name,
      summary: "\(summary), above one that does nothing (\(Format.bytes(idle)) with all engines)",
      unit: .bytes, goals: [.atMost(5e6)])
    row.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let folder = try bench.fixture(engine, bench.options.count).folder
      let peak = try median { () throws(BenchmarkError) in
        try ChildProcess.again(["launch", engine.name, folder]).numbers.dropFirst(2).first
      }
      return Cell(engine.name, peak - idle)
    }
    return [row]
  }
}
