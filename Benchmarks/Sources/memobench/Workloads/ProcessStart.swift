/// From the start of a program to the last of 200 printed lines.
enum ProcessStart: Workload {
  static let name = "process"
  static let summary = "whole process: kvinspect latest against the sqlite3 shell, in turn"

  static let shell = "/usr/bin/sqlite3"
  static let query = """
    SELECT strftime('%Y-%m-%dT%H:%M:%SZ', time / 1000000, 'unixepoch'),
      replace(body, char(10), '\\n') FROM memos ORDER BY time DESC, place DESC LIMIT 200;
    """

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    var row = Row(
      name: name, summary: "exec to the last of 200 lines, \(bench.options.count) memos",
      subject: "memohistory", goals: [.times(0.5, of: "sqlite"), .atMost(300e6)])
    var programs: [(engine: String, path: String, arguments: [String], lines: Int)] = [
      ("nothing", "/bin/true", [], 0)
    ]
    for engine in bench.engines {
      if engine is MemoHistoryEngine, let inspector = bench.inspector {
        let folder = try bench.fixture(engine, bench.options.count).folder
        programs.append((engine.name, inspector, ["latest", folder + "/store", "200"], 200))
      } else if engine is SQLiteEngine, Files.exists(shell) {
        let folder = try bench.fixture(engine, bench.options.count).folder
        programs.append((engine.name, shell, [folder + "/memos.db", query], 200))
      }
    }
    var samples = [Samples](repeating: Samples(), count: programs.count)
    for round in 0..<bench.samples(200) + 2 {
      for (place, program) in programs.enumerated() {
        let outcome = try ChildProcess.run(program.path, program.arguments, isSilent: true)
        let lines = outcome.output.count { $0 == 10 }
        try check(lines == program.lines, "\(lines) lines of \(program.path)")
        // The first two warm up.
        if round > 1 { samples[place].add(outcome.duration) }
      }
    }
    row.cells = zip(programs, samples).map { Cell($0.engine, $1, note: $0.path) }
    return [row]
  }
}
