internal import KVEngine
internal import MemoCore

/// Runs one command from its words to its exit code.
package struct Inspector {
  /// The version that `--version` prints.
  package static let version = "0.1.0"

  let output: Output
  let errors: Output
  /// Whether an earlier state will do.
  private var onDamage = DamagePolicy.report

  /// - Parameters:
  ///   - output: For what the command was asked for.
  ///   - errors: For everything else.
  package init(output: Output, errors: Output) {
    self.output = output
    self.errors = errors
  }

  /// Runs the command that the words behind the program's name ask for.
  package func run(_ words: [String]) -> ExitCode {
    let code: ExitCode
    do throws(UsageError) {
      code = run(try Arguments.parse(words))
    } catch {
      errors.line("\(error)")
      code = .usage
    }
    do throws(SystemError) {
      try output.finish()
      try errors.finish()
    } catch {
      errors.line("kvinspect: \(error.failure)")
      errors.flush()
      return .system
    }
    return code
  }

  private func run(_ command: Command) -> ExitCode {
    do throws(MemoError) {
      switch command {
      case .importMemos(let store, let source, let rejected, let format):
        return try importMemos(to: store, from: source, rejected: rejected, format)
      case .latest(let store, let count, let format):
        return try latest(in: store, count: count, format)
      case .get(let store, let id, let format): return try get(id, in: store, format)
      case .scan(let store, let format): return try scan(store, format)
      case .search(let store, let request, let format):
        return try search(store, for: request, format)
      case .summary(let store, let format): return try summary(of: store, format)
      case .verify(let store, let format): return try verify(store, format)
      case .segments(let store, let format): return try segments(of: store, format)
      case .segment(let file, let showsBytes, let format):
        return try segment(at: file, showsBytes: showsBytes, format)
      case .log(let store, let format): return try log(of: store, format)
      case .manifest(let store, let format): return try manifest(of: store, format)
      case .find(let store, let key, let space, let format):
        return try find(key, in: store, space: space, format)
      case .space(let store, let format): return try space(of: store, format)
      case .compact(let store, let format): return try compact(store, format)
      case .checkpoint(let store, let target, let format):
        return try checkpoint(of: store, to: target, format)
      case .salvage(let store, let target, let format):
        return try salvage(store, to: target, format)
      case .earlierState(let command):
        return try runAtEarlierState(command)
      case .help(let name):
        output.buffer.append(contentsOf: HelpText.text(about: name).utf8)
        return .fine
      case .version:
        output.line("kvinspect \(Self.version), format \(FormatVersion.current)")
        return .fine
      }
    } catch {
      let hint = earlierStateHint(error, command)
      errors.line("kvinspect: " + TerminalText.visible("\(error)\(hint)"))
      return Self.exitCode(of: error)
    }
  }

  /// Runs a command on the newest complete state; that it is not the newest one stays damage.
  private func runAtEarlierState(_ command: Command) throws(MemoError) -> ExitCode {
    var inspector = self
    inspector.onDamage = .openEarlierState
    guard let store = command.storeAtEarlierState,
      let report = try inspector.open(store).earlierState
    else { return run(command) }
    errors.line("kvinspect: an earlier state: " + TerminalText.visible("\(report)"))
    let code = inspector.run(command)
    return code == .fine ? .damage : code
  }

  /// What can be done about a damaged store with an option of the command; empty for nothing.
  private func earlierStateHint(_ error: MemoError, _ command: Command) -> String {
    guard case .database(.damaged) = error, onDamage == .report,
      let store = command.storeAtEarlierState
    else { return "" }
    var inspector = self
    inspector.onDamage = .openEarlierState
    guard let report = (try? inspector.open(store))?.earlierState else { return "" }
    return "; \(CommandName.Option.earlierState.name) opens generation \(report.generation)"
  }

  /// Damage is something that a repair could concern; the rest is in the way for now, as is a
  /// store of a newer program.
  static func exitCode(of error: MemoError) -> ExitCode {
    switch error {
    case .damagedRecord, .database(.damaged): .damage
    case .database(.invalidArgument), .invalidSearch: .usage
    default: .system
    }
  }

  /// Opens a store to look at it: no lock, no change, and a missing one is an error.
  func open(_ store: String) throws(MemoError) -> MemoTimeline {
    var options = DatabaseOptions()
    options.createIfMissing = false
    options.isReadOnly = true
    options.onDamage = onDamage
    return try MemoTimeline(at: store, options: options)
  }

  // MARK: - Memos

  /// Shows a memo on one line: for people its local time and its text, cut to the terminal.
  func show(
    _ memo: Memo, of timeline: MemoTimeline, _ format: OutputFormat, columnCount: Int?
  ) throws(MemoError) {
    switch format {
    case .json:
      let names = memo.payload.isEmpty ? MemoNames() : try timeline.names()
      JSONWriter.append(MemoLine.value(of: memo, names: names), to: &output.buffer)
    case .text:
      let time = memo.createdAt.description
      output.buffer.append(contentsOf: time.utf8)
      output.buffer.append(contentsOf: "  ".utf8)
      let limit = columnCount.map { max($0 - time.utf8.count - 2, 10) }
      TerminalText.append(memo.body, limit: limit, to: &output.buffer)
    }
    output.endLine()
  }

  private func latest(
    in store: String, count: Int, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    let start = MonotonicClock.nanoseconds()
    let timeline = try open(store)
    let opened = MonotonicClock.nanoseconds()
    let memos = try timeline.latest(count)
    let end = MonotonicClock.nanoseconds()
    let columnCount = output.columnCount
    for memo in memos { try show(memo, of: timeline, format, columnCount: columnCount) }
    output.flush()
    // Whoever went away does not want to know how long it took.
    if output.isClosed { return .fine }
    let openTime = (opened - start) / 1000
    let readTime = (end - opened) / 1000
    switch format {
    // Not among the memos, which import reads.
    case .json:
      errors.json([
        JSONMember("count", .integer(Int64(memos.count))),
        JSONMember("openMicroseconds", .integer(Int64(openTime))),
        JSONMember("readMicroseconds", .integer(Int64(readTime))),
      ])
    case .text:
      errors.line(
        counted(memos.count, "memo") + "; opened in \(Self.milliseconds(openTime)),"
          + " read in \(Self.milliseconds(readTime))")
    }
    return .fine
  }

  /// Microseconds as milliseconds with two digits behind the point.
  private static func milliseconds(_ microseconds: UInt64) -> String {
    let hundredths = (microseconds + 5) / 10
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) ms"
  }

  private func get(
    _ text: String, in store: String, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    let timeline = try open(store)
    var isFound = false
    // A text that can mean several ids may name a memo with each of them.
    for id in MemoID.readings(of: text) {
      guard let memo = try timeline.memo(for: id) else { continue }
      switch format {
      case .json: try show(memo, of: timeline, .json, columnCount: nil)
      case .text:
        if isFound { output.line("") }
        try printWhole(memo, of: timeline)
      }
      isFound = true
    }
    if isFound { return .fine }
    errors.line("kvinspect: there is no memo with this id")
    return .damage
  }

  /// Prints a memo with its lines; nothing else that a terminal would obey gets through.
  private func printWhole(_ memo: Memo, of timeline: MemoTimeline) throws(MemoError) {
    output.line("id         " + TerminalText.visible("\(memo.id)"))
    output.line("createdAt  \(memo.createdAt)")
    if let changedAt = memo.changedAt { output.line("changedAt  \(changedAt)") }
    if let payload = try? MemoPayload(encoded: memo.payload.rawBytes) {
      let names = try timeline.names()
      let fields = payload.record.fields.map { names[$0.number] ?? "\($0.number)" }
      output.line("fields     " + TerminalText.visible(fields.joined(separator: ", ")))
    }
    output.line("")
    for line in memo.body.utf8.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    {
      output.line(TerminalText.visible(String(decoding: line, as: UTF8.self)))
    }
  }

  private func scan(_ store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    let timeline = try open(store)
    var cursor = try timeline.cursor()
    let columnCount = output.columnCount
    while let (_, memo) = try cursor.next() {
      try show(memo, of: timeline, format, columnCount: columnCount)
      if output.isClosed { break }
    }
    return .fine
  }
}
