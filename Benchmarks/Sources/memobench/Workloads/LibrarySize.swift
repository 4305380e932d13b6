/// What the library adds to a program of its users.
enum LibrarySize: Workload {
  static let name = "size"
  static let summary =
    "bytes that MemoHistory adds to a stripped program with a static Swift library"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    var row = Row(
      name: name, summary: summary, unit: .bytes, subject: "memohistory", goals: [.atMost(2e6)])
    row.cells = try bench.cells(of: bench.engines.filter { $0 is MemoHistoryEngine }) {
      engine throws(BenchmarkError) in
      let alone = try strippedByteCount("program-alone", bench)
      let with = try strippedByteCount("program-with-memohistory", bench)
      let note = "\(Format.bytes(Double(with))), alone \(Format.bytes(Double(alone)))"
      return Cell(engine.name, Double(with - alone), note: note)
    }
    return [row]
  }

  /// Size of a program that was built beside this one, without its symbols.
  private static func strippedByteCount(
    _ name: String, _ bench: Bench
  ) throws(BenchmarkError) -> Int {
    let folder = try Files.resolved("/proc/self/exe").dropLast("memobench".count)
    let stripped = bench.folder + "/" + name
    try ChildProcess.run("/usr/bin/strip", ["-o", stripped, folder + name])
    let count = try Files.byteCount(of: stripped)
    try Files.remove(stripped)
    return count
  }
}
