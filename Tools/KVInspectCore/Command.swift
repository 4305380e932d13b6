/// How a command prints.
package enum OutputFormat: Equatable, Sendable {
  /// Text for people.
  case text
  /// JSON for programs, one value a line.
  case json
}

/// Where lines come from.
package enum LineSource: Equatable, Sendable {
  case standardInput
  case file(String)
}

/// What the command line asks for.
package enum Command: Equatable, Sendable {
  /// Takes memos from lines of JSON; refused lines go to the file `rejected` as they are.
  case importMemos(store: String, source: LineSource, rejected: String?, output: OutputFormat)
  case latest(store: String, count: Int, output: OutputFormat)
  /// The id as it was typed; `MemoID.readings(of:)` says what it can mean.
  case get(store: String, id: String, output: OutputFormat)
  case scan(store: String, output: OutputFormat)
  case summary(store: String, output: OutputFormat)
  case verify(store: String, output: OutputFormat)
  /// Help about a command, or about all of them.
  case help(CommandName?)
  case version
}

/// A command line that makes no sense.
package struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The exit code of a process that was called wrongly.
  package static let exitCode: Int32 = 2

  /// What is wrong, in one line that a terminal may show.
  package let message: String
  /// What to do instead, in one line.
  package let hint: String

  /// Two lines: the message and the hint.
  package var description: String { "kvinspect: \(message)\n\(hint)" }
}

/// The commands with a store, by the word on the command line.
package enum CommandName: String, CaseIterable, Sendable {
  case importMemos = "import"
  case latest, get, scan, summary, verify

  /// What stands behind the command, in its order.
  package var operands: [Operand] {
    switch self {
    case .importMemos: [Operand("STORE"), Operand("FILE.jsonl")]
    case .latest: [Operand("STORE"), Operand("N", isOptional: true)]
    case .get: [Operand("STORE"), Operand("ID")]
    case .scan, .summary, .verify: [Operand("STORE")]
    }
  }

  /// The options that only this command has, with their values.
  package var options: [(name: String, value: String)] {
    self == .importMemos ? [("--rejected", "FILE")] : []
  }

  /// How the command is written.
  package var synopsis: String {
    let operands = operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
    let options = options.map { "[\($0.name) \($0.value)]" } + ["[--json]"]
    return (["kvinspect", rawValue] + operands + options).joined(separator: " ")
  }

  /// A word of the command line that is no option.
  package struct Operand: Sendable {
    package let name: String
    package let isOptional: Bool

    init(_ name: String, isOptional: Bool = false) {
      self.name = name
      self.isOptional = isOptional
    }
  }
}
