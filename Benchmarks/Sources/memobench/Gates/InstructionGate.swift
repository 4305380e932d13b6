/// Counts the instructions of the hot paths and holds them against the table.
struct InstructionGate {
  let bench: Bench
  let repository: String
  /// Where the profiles stay, for `callgrind_annotate`.
  let profiles: String

  /// Counts all works.
  ///
  /// Loads and deletions that come before a work run outside of callgrind.
  func counts() throws(BenchmarkError) -> [(work: String, count: Int)] {
    try Files.makeFolder(profiles)
    let engine = MemoKVEngine()
    let history = MemoHistoryEngine()
    let settled = try bench.fixture(engine, CountedWork.memoCount).folder
    let imported = try bench.fixture(history, CountedWork.memoCount).folder
    var counts = [
      try process(imported + "/store"), try launch(engine, settled), try launch(history, imported),
    ]
    for work in CountedWork.allCases {
      let folder = try store(for: work, engine)
      let (count, _) = try Callgrind.run(
        [try Self.program, "--child", "count", engine.name, folder, work.rawValue],
        profile: profile(work.rawValue), isWhole: false)
      counts.append((work.rawValue, count / work.operationCount))
    }
    return counts
  }

  /// One line for each work.
  ///
  /// - Returns: The lines of all works, and those of the works that need too much.
  func verdict(
    _ counts: [(work: String, count: Int)], _ table: InstructionTable
  ) -> (lines: [String], failures: [String]) {
    var lines: [String] = []
    var failures: [String] = []
    for (work, count) in counts {
      let known = table.count(of: work)
      let allowed = table.allowed(work) ?? 0
      let share = known.map { Format.decimal(Double(count) / Double($0), digits: 2) } ?? "?"
      lines.append(
        "  \(Format.left(work, 20))\(Format.right("\(count)", 12))  \(share) of the table")
      if count > allowed {
        failures.append(
          "instructions of \(work): \(count) each, allowed \(allowed) (the table says "
            + "\(known ?? 0), and 10 % more pass). Where they go: callgrind_annotate "
            + "\(profile(work)). If they are worth it: make bench-bounds writes the table anew.")
      }
    }
    return (lines, failures)
  }

  private static var program: String {
    get throws(BenchmarkError) { try Files.resolved("/proc/self/exe") }
  }

  private func profile(_ work: String) -> String { "\(profiles)/\(work).callgrind" }

  /// The whole of the tool, from the first instruction of the process to the last.
  private func process(_ store: String) throws(BenchmarkError) -> (work: String, count: Int) {
    guard let inspector = bench.inspector else {
      throw BenchmarkError("kvinspect is not there: make kvinspect builds it")
    }
    let (count, outcome) = try Callgrind.run(
      [inspector, "latest", store, "200"], profile: profile("process"), isWhole: true)
    try check(outcome.output.count { $0 == 10 } == 200, "lines of kvinspect")
    return ("process", count)
  }

  private func launch(
    _ engine: any Engine, _ folder: String
  ) throws(BenchmarkError) -> (work: String, count: Int) {
    let work = "launch-\(engine.name)"
    let (count, outcome) = try Callgrind.run(
      [try Self.program, "--child", "launch", engine.name, folder], profile: profile(work),
      isWhole: false)
    let expected = Launch.expectedDigest(bench, CountedWork.memoCount)
    try check(outcome.numbers.dropFirst().first == expected, "newest 200 of \(engine.name)")
    return (work, count)
  }

  private func store(
    for work: CountedWork, _ engine: any Engine
  ) throws(BenchmarkError) -> String {
    let folder = bench.folder + "/counted-" + work.rawValue
    switch work.beginning {
    case .settled: return try bench.fixture(engine, CountedWork.memoCount).folder
    case .copy: return try bench.copy(engine, CountedWork.memoCount, named: work.rawValue)
    case .empty: try Files.makeFolder(folder)
    case .halfDeleted:
      try Files.makeFolder(folder)
      let store = try engine.open(folder, isLoading: true)
      try store.load((0..<CountedWork.memoCount).map(bench.corpus.memo))
      try store.delete(stride(from: 0, to: CountedWork.memoCount, by: 2).map(Identity.init(_:)))
      try store.finishLoading()
      try store.close()
    }
    return folder
  }
}
