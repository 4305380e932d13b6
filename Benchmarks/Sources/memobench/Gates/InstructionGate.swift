/// Counts the instructions of the hot paths and holds them against the table.
struct InstructionGate {
  let bench: Bench
  let repository: String
  /// Where the profiles stay, for `callgrind_annotate`.
  let profiles: String

  /// Counts all works.
  ///
  /// Loads and deletions that come before a work run outside of callgrind. A busy machine can only
  /// add instructions, when a second passes in the middle of a work and the engine uses it: what is
  /// above its bound is counted again, and the lowest of three numbers stays.
  ///
  /// - Parameter table: The bounds; `nil` counts each work once.
  /// - Returns: Instructions per operation.
  /// - Throws: When something cannot be counted, or an answer is wrong.
  func counts(
    above table: InstructionTable? = nil
  ) throws(BenchmarkError) -> [(work: String, count: Int)] {
    try Files.makeFolder(profiles)
    // With its symbols, for the profiles, but without what debuggers read: valgrind reads that as
    // well, and gives up when it does not understand all of it.
    let program = bench.folder + "/counted"
    try ChildProcess.run(
      "/usr/bin/strip", ["--strip-debug", "-o", program, Files.resolved("/proc/self/exe")])
    let engine = MemoKVEngine()
    let history = MemoHistoryEngine()
    let names = ["process", "launch-memokv", "launch-memohistory"]
    var counts: [(work: String, count: Int)] = []
    for work in names + CountedWork.allCases.map(\.rawValue) {
      var least = Int.max
      for _ in 0..<3 {
        let count =
          switch work {
          case "process": try process()
          case "launch-memokv": try launch(program, engine)
          case "launch-memohistory": try launch(program, history)
          default: try counted(program, engine, work)
          }
        least = min(least, count)
        if least <= table?.allowed(work) ?? .max { break }
      }
      counts.append((work, least))
    }
    return counts
  }

  private func counted(
    _ program: String, _ engine: any Engine, _ name: String
  ) throws(BenchmarkError) -> Int {
    guard let work = CountedWork(rawValue: name) else { throw BenchmarkError("no work \(name)") }
    let folder = try store(for: work, engine)
    let (count, _) = try Callgrind.run(
      [program, "--child", "count", engine.name, folder, name], profile: profile(name),
      isWhole: false)
    return count / work.operationCount
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

  private func profile(_ work: String) -> String { "\(profiles)/\(work).callgrind" }

  /// The whole of the tool, from the first instruction of the process to the last.
  private func process() throws(BenchmarkError) -> Int {
    guard let inspector = bench.inspector else {
      throw BenchmarkError("kvinspect is not there: make kvinspect builds it")
    }
    let store = try bench.fixture(MemoHistoryEngine(), CountedWork.memoCount).folder + "/store"
    let (count, outcome) = try Callgrind.run(
      [inspector, "latest", store, "200"], profile: profile("process"), isWhole: true)
    try check(outcome.output.count { $0 == 10 } == 200, "lines of kvinspect")
    return count
  }

  private func launch(_ program: String, _ engine: any Engine) throws(BenchmarkError) -> Int {
    let folder = try bench.fixture(engine, CountedWork.memoCount).folder
    let (count, outcome) = try Callgrind.run(
      [program, "--child", "launch", engine.name, folder],
      profile: profile("launch-\(engine.name)"), isWhole: false)
    let expected = Launch.expectedDigest(bench, CountedWork.memoCount)
    try check(outcome.numbers.dropFirst().first == expected, "newest 200 of \(engine.name)")
    return count
  }

  private func store(
    for work: CountedWork, _ engine: any Engine
  ) throws(BenchmarkError) -> String {
    let folder = bench.folder + "/counted-" + work.rawValue
    try Files.remove(folder)
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
