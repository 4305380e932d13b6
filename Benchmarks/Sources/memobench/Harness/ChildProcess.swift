import Glibc

/// Programs that are started, read and waited for.
enum ChildProcess {
  /// What came of a program.
  struct Outcome {
    let output: [UInt8]
    let duration: Int
    let cpu: Int

    var text: String { String(decoding: output, as: UTF8.self) }

    /// The numbers that the program printed.
    var numbers: [Int] {
      text.split(whereSeparator: { $0 == " " || $0 == "\n" }).compactMap { Int($0) }
    }
  }

  /// Runs a program to its end and reads what it prints.
  ///
  /// - Parameters:
  ///   - program: Its path.
  ///   - arguments: What follows the program's name.
  ///   - isSilent: Whether its standard error goes nowhere.
  ///   - mayBeKilled: Whether an end by a signal is what the caller wants.
  /// - Returns: Its output and what it used.
  /// - Throws: When it could not be started, or failed.
  @discardableResult
  static func run(
    _ program: String, _ arguments: [String], isSilent: Bool = false, mayBeKilled: Bool = false
  ) throws(BenchmarkError) -> Outcome {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchmarkError("cannot make a pipe") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    if isSilent { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
    posix_spawn_file_actions_addclose(&actions, ends[0])
    posix_spawn_file_actions_addclose(&actions, ends[1])
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { words.forEach { free($0) } }

    var process = pid_t()
    let start = now()
    let result = posix_spawn(&process, program, &actions, nil, words, environ)
    close(ends[1])
    guard result == 0, let file = fdopen(ends[0], "r") else {
      close(ends[0])
      throw BenchmarkError("cannot start \(program): error \(result)")
    }
    let output = Files.read(file)
    fclose(file)
    var status: Int32 = 0
    var usage = rusage()
    wait4(process, &status, 0, &usage)
    let duration = now() - start
    let outcome = Outcome(
      output: output, duration: duration,
      cpu: Usage.nanoseconds(usage.ru_utime) + Usage.nanoseconds(usage.ru_stime))
    if status != 0, !(mayBeKilled && status & 0x7F == SIGKILL) {
      throw BenchmarkError("\(program) \(arguments.joined(separator: " ")) failed: \(status)")
    }
    return outcome
  }

  /// Runs this program again for a part that needs a process of its own.
  @discardableResult
  static func again(
    _ arguments: [String], mayBeKilled: Bool = false
  ) throws(BenchmarkError) -> Outcome {
    try run("/proc/self/exe", ["--child"] + arguments, mayBeKilled: mayBeKilled)
  }
}
