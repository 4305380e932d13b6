package import TextSearch

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

/// What `search` looks for.
package struct SearchRequest: Equatable, Sendable {
  /// The search as it was typed.
  package let text: String
  /// At most so many memos; `nil` for all.
  package var limit: Int?
  package var folding = TextFolding.standard
  package var isInTrash = false

  package init(text: String) {
    self.text = text
  }
}

/// What the command line asks for.
package enum Command: Equatable, Sendable {
  /// Takes memos from lines of JSON; refused lines go to the file `rejected` as they are.
  case importMemos(store: String, source: LineSource, rejected: String?, output: OutputFormat)
  case latest(store: String, count: Int, output: OutputFormat)
  /// The id as it was typed; `MemoID.readings(of:)` says what it can mean.
  case get(store: String, id: String, output: OutputFormat)
  case scan(store: String, output: OutputFormat)
  case search(store: String, SearchRequest, output: OutputFormat)
  case summary(store: String, output: OutputFormat)
  case verify(store: String, output: OutputFormat)
  case segments(store: String, output: OutputFormat)
  /// One segment by the path of its file.
  case segment(file: String, showsBytes: Bool, output: OutputFormat)
  case log(store: String, output: OutputFormat)
  case manifest(store: String, output: OutputFormat)
  /// The key as it was typed; without a space it may be a memo's id.
  case find(store: String, key: String, space: String?, output: OutputFormat)
  case space(store: String, output: OutputFormat)
  case compact(store: String, output: OutputFormat)
  case checkpoint(store: String, target: String, output: OutputFormat)
  /// Rebuilds what can be read of a store in the folder `target`.
  case salvage(store: String, target: String, output: OutputFormat)
  /// A command that will do with an earlier state of its store when the newest one is damaged.
  indirect case earlierState(Command)
  /// Help about a command, or about all of them.
  case help(CommandName?)
  case version

  /// The store of a command for which an earlier state of it will do; `nil` for other commands.
  var storeAtEarlierState: String? {
    switch self {
    case .latest(let store, _, _), .get(let store, _, _), .scan(let store, _),
      .search(let store, _, _), .summary(let store, _), .checkpoint(let store, _, _):
      store
    default: nil
    }
  }
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

/// The commands with a store, by the word on the command line, in the order of the help.
package enum CommandName: String, CaseIterable, Sendable {
  case importMemos = "import"
  case latest, get, scan, search, summary, verify
  case find, segments, segment, log, manifest, space
  case compact, checkpoint, salvage

  /// What stands behind the command, in its order.
  package var operands: [Operand] {
    switch self {
    case .importMemos: [Operand("STORE"), Operand("FILE.jsonl")]
    case .latest: [Operand("STORE"), Operand("N", isOptional: true)]
    case .get: [Operand("STORE"), Operand("ID")]
    case .find: [Operand("STORE"), Operand("KEY")]
    case .search: [Operand("STORE"), Operand("QUERY")]
    case .segment: [Operand("FILE")]
    case .checkpoint, .salvage: [Operand("STORE"), Operand("TARGET")]
    case .scan, .summary, .verify, .segments, .log, .manifest, .space, .compact:
      [Operand("STORE")]
    }
  }

  /// The options that only this command has.
  package var options: [Option] {
    switch self {
    case .importMemos: [Option(name: "--rejected", value: "FILE")]
    case .find: [Option(name: "--space", value: "NAME")]
    case .search:
      [
        Option(name: "--limit", value: "N"), Option(name: "--folding", value: "HOW"),
        Option(name: "--trash", value: nil), .earlierState,
      ]
    case .segment: [Option(name: "--hex", value: nil)]
    case .latest, .get, .scan, .summary, .checkpoint: [.earlierState]
    default: []
    }
  }

  /// How the command is written.
  package var synopsis: String {
    let operands = operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
    let options = options.map { "[\($0.text)]" } + ["[--json]"]
    return (["kvinspect", rawValue] + operands + options).joined(separator: " ")
  }

  /// A word that begins with hyphens.
  package struct Option: Sendable {
    package let name: String
    /// What stands behind it; `nil` for nothing.
    package let value: String?

    /// Looks at the newest complete state when the newest one of all is damaged.
    static let earlierState = Option(name: "--earlier-state", value: nil)

    /// The option with its value.
    package var text: String { value.map { "\(name) \($0)" } ?? name }
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
