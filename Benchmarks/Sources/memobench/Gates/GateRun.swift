/// What has to hold before a change lands: answers, the start of a process, ratios, instructions.
struct GateRun {
  private let bench: Bench
  private let repository: String
  private let instructions: InstructionGate
  /// From exec to the last of 200 printed memos; a start must never take longer.
  private static let startLimit = 300e6

  init(_ options: Options, repository: String) throws(BenchmarkError) {
    // Generated memos, so that a machine with the real ones has the same gates.
    bench = try Bench(
      options, repository: repository, corpus: Corpus.generated(count: 100_000, seed: 1))
    self.repository = repository
    instructions = InstructionGate(
      bench: bench, repository: repository, profiles: options.folder + "/instructions")
  }

  /// Runs all gates and prints what they say.
  ///
  /// - Returns: Whether all hold.
  /// - Throws: When something could not be measured.
  func run() throws(BenchmarkError) -> Bool {
    defer { bench.removeFolder() }
    Console.out("machine: \(Machine.description(of: bench.folder))\n")
    var missed: [String] = []
    missed += try checkingAnswers { () throws(BenchmarkError) in try instructionFailures() }
    missed += try checkingAnswers { () throws(BenchmarkError) in try startFailures() }
    Console.out("ratios: median of pairs, allowed\n")
    for gate in RatioGates.all {
      missed += try checkingAnswers { () throws(BenchmarkError) in try ratioFailures(gate) }
    }
    for gate in missed { Console.out("FAILED \(gate)\n") }
    if missed.isEmpty { Console.out("all gates hold\n") }
    return missed.isEmpty
  }

  /// Counts again and writes the table.
  func writeTable() throws(BenchmarkError) {
    defer { bench.removeFolder() }
    let path = InstructionTable.path(below: repository)
    try InstructionTable(instructions.counts()).write(to: path)
    Console.out("wrote \(path)\n")
  }

  /// A wrong answer is a failed gate, and the other gates are still of interest.
  private func checkingAnswers(
    _ body: () throws(BenchmarkError) -> [String]
  ) throws(BenchmarkError) -> [String] {
    do throws(BenchmarkError) {
      return try body()
    } catch {
      return ["\(error)"]
    }
  }

  private func instructionFailures() throws(BenchmarkError) -> [String] {
    let path = InstructionTable.path(below: repository)
    guard Files.exists(path) else {
      Console.out("instructions: skipped, \(path) is not there; make bench-bounds makes it\n")
      return []
    }
    let table = try InstructionTable(at: path)
    let (lines, failures) = instructions.verdict(try instructions.counts(above: table), table)
    Console.out("instructions per operation\n" + lines.joined(separator: "\n") + "\n")
    return failures
  }

  private func startFailures() throws(BenchmarkError) -> [String] {
    let start = try GateWork.inspector(bench)
    var samples = Samples()
    for _ in 0..<50 { samples.add(Int(try start())) }
    // Nine of ten: one start in fifty may meet a machine that stands still.
    let slow = Double(samples.percentile(0.9))
    let words =
      "kvinspect latest, exec to the last of 200 lines: p90 "
      + "\(Format.duration(slow)), allowed \(Format.duration(Self.startLimit))"
    Console.out(words + "\n")
    return slow > Self.startLimit ? [words] : []
  }

  private func ratioFailures(_ gate: RatioGate) throws(BenchmarkError) -> [String] {
    let ratio = try gate.ratio(bench)
    let name = "\(gate.work): \(gate.ours) / \(gate.other)"
    let numbers = [ratio, gate.allowed].map { Format.decimal($0, digits: 2) }
    Console.out(
      "  \(Format.left(name, 32))\(Format.right(numbers[0], 6))\(Format.right(numbers[1], 8))\n")
    if ratio <= gate.allowed { return [] }
    return [
      "\(name): \(numbers[0]), allowed \(numbers[1]) "
        + "(\(Format.decimal(gate.quiet, digits: 2)) when quiet; \(gate.reason))"
    ]
  }
}
