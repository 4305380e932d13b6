import CValgrind
import Glibc

/// Counts the instructions of a program, which a busy machine does not change.
enum Callgrind {
  static let path = "/usr/bin/valgrind"

  /// Counts what the closure makes all threads do, when this process runs under callgrind; costs
  /// nothing elsewhere.
  static func counting<Result>(
    _ body: () throws(BenchmarkError) -> Result
  ) throws(BenchmarkError) -> Result {
    memobench_start_counting()
    defer { memobench_stop_counting() }
    return try body()
  }

  /// Runs a program under callgrind.
  ///
  /// - Parameters:
  ///   - words: The program's path and its arguments.
  ///   - profile: The file that `callgrind_annotate` reads afterwards.
  ///   - isWhole: Whether all of the program counts, or what it hands to ``counting(_:)``.
  /// - Returns: The number of instructions, and what came of the program.
  /// - Throws: When it failed, or nothing was counted.
  static func run(
    _ words: [String], profile: String, isWhole: Bool
  ) throws(BenchmarkError) -> (count: Int, outcome: ChildProcess.Outcome) {
    let settings = [
      // Its own remarks, on debug information of another compiler; errors of the program stay.
      "--log-file=/dev/null", "--tool=callgrind", "--callgrind-out-file=\(profile)",
      "--instr-atstart=\(isWhole ? "yes" : "no")",
    ]
    let outcome = try ChildProcess.run(path, settings + words, isSilent: isWhole)
    let total = try Files.text(of: profile).split(separator: "\n")
      .first { $0.hasPrefix("totals: ") }
      .flatMap { Int($0.dropFirst("totals: ".count)) }
    guard let total, total > 0 else { throw BenchmarkError("callgrind counted nothing") }
    return (total, outcome)
  }
}
