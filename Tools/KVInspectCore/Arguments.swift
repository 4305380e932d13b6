internal import TextSearch

/// The words of a command line, told apart.
///
/// Options may stand anywhere; `--` ends them, so that an id may begin with a hyphen. A single
/// hyphen is an operand: standard input.
package struct Arguments {
  /// How many memos `latest` shows when the caller does not say.
  package static let standardLatestCount = 200

  private static let generalHint = "Try: kvinspect help"
  private static let optionHint = generalHint + ". An ID that begins with - goes behind --."

  private var operands: [String] = []
  private var output = OutputFormat.text
  /// The options that only some commands have, with their values; one without value has "".
  private var special: [(name: String, value: String)] = []
  private var wantsHelp = false
  private var wantsVersion = false

  /// What a command line asks for.
  ///
  /// - Parameter words: The words behind the program's name.
  /// - Returns: The command; nothing has been opened or looked at.
  /// - Throws: ``UsageError``.
  package static func parse(_ words: [String]) throws(UsageError) -> Command {
    var arguments = Arguments()
    try arguments.sort(words)
    return try arguments.command()
  }

  // MARK: - Words

  private mutating func sort(_ words: [String]) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        return
      }
      guard word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      try option(String(parts[0]), value: parts.count > 1 ? String(parts[1]) : nil, rest: &rest)
    }
  }

  private mutating func option(
    _ name: String, value: String?, rest: inout ArraySlice<String>
  ) throws(UsageError) {
    switch name {
    case "--json": output = .json
    case "--help", "-h": wantsHelp = true
    case "--version": wantsVersion = true
    default:
      let known = CommandName.allCases.flatMap(\.options).first { $0.name == name }
      guard let known else {
        throw failure("unknown option \(quoted(name))", Self.optionHint)
      }
      guard self.value(of: name) == nil else { throw failure("\(name) is given twice") }
      if let wanted = known.value {
        guard let value = value ?? rest.popFirst(), !value.isEmpty else {
          throw failure("\(name) needs a \(wanted)")
        }
        special.append((name, value))
        return
      }
      special.append((name, ""))
    }
    guard value == nil else { throw failure("\(name) takes no value") }
  }

  private func value(of option: String) -> String? {
    special.first { $0.name == option }?.value
  }

  // MARK: - Command

  private func command() throws(UsageError) -> Command {
    if wantsHelp { return .help(try topic(operands.first)) }
    if wantsVersion { return .version }
    guard let word = operands.first else { throw failure("no command given") }
    if word == "help" {
      guard operands.count <= 2 else { throw failure("help takes one command") }
      return .help(try topic(operands.dropFirst().first))
    }
    let command = try command(try name(word), Array(operands.dropFirst()))
    return value(of: CommandName.Option.earlierState.name) == nil
      ? command : .earlierState(command)
  }

  private func topic(_ word: String?) throws(UsageError) -> CommandName? {
    guard let word, word != "help" else { return nil }
    return try name(word)
  }

  private func name(_ word: String) throws(UsageError) -> CommandName {
    guard let name = CommandName(rawValue: word) else {
      throw failure("unknown command \(quoted(word))")
    }
    return name
  }

  private func command(
    _ name: CommandName, _ operands: [String]
  ) throws(UsageError) -> Command {
    try check(operands, of: name)
    let store = operands[0]
    switch name {
    case .importMemos:
      let source: LineSource = operands[1] == "-" ? .standardInput : .file(operands[1])
      return .importMemos(
        store: store, source: source, rejected: value(of: "--rejected"), output: output)
    case .latest:
      let number = operands.count > 1 ? try count(operands[1], "N", about: name) : nil
      return .latest(store: store, count: number ?? Self.standardLatestCount, output: output)
    case .get: return .get(store: store, id: operands[1], output: output)
    case .scan: return .scan(store: store, output: output)
    case .search:
      return .search(store: store, try searchRequest(operands[1]), output: output)
    case .summary: return .summary(store: store, output: output)
    case .verify: return .verify(store: store, output: output)
    case .find:
      return .find(
        store: store, key: operands[1], space: value(of: "--space"), output: output)
    case .segments: return .segments(store: store, output: output)
    case .segment:
      return .segment(file: store, showsBytes: value(of: "--hex") != nil, output: output)
    case .log: return .log(store: store, output: output)
    case .manifest: return .manifest(store: store, output: output)
    case .space: return .space(store: store, output: output)
    case .compact: return .compact(store: store, output: output)
    case .checkpoint: return .checkpoint(store: store, target: operands[1], output: output)
    case .salvage: return .salvage(store: store, target: operands[1], output: output)
    }
  }

  /// How many memos are wanted.
  private func count(
    _ word: String, _ what: String, about name: CommandName
  ) throws(UsageError) -> Int {
    guard let number = Int(word), number > 0 else {
      throw failure("\(what) is a whole number above 0, not \(quoted(word))", about: name)
    }
    return number
  }

  private func searchRequest(_ text: String) throws(UsageError) -> SearchRequest {
    var request = SearchRequest(text: text)
    if let limit = value(of: "--limit") {
      request.limit = try count(limit, "the limit", about: .search)
    }
    request.isInTrash = value(of: "--trash") != nil
    switch value(of: "--folding") {
    case nil, "default": request.folding = .standard
    case "exact": request.folding = .exact
    case "marks": request.folding = .withoutMarks
    case .some(let word):
      throw failure("a folding is exact, default or marks, not \(quoted(word))", about: .search)
    }
    return request
  }

  /// Whether the words fit the command.
  private func check(_ words: [String], of name: CommandName) throws(UsageError) {
    for option in special where !name.options.contains(where: { $0.name == option.name }) {
      throw failure("\(name.rawValue) has no option \(option.name)", about: name)
    }
    let operands = name.operands
    if words.count > operands.count {
      let surplus = quoted(words[operands.count])
      throw failure("\(name.rawValue) does not know what to do with \(surplus)", about: name)
    }
    for (position, operand) in operands.enumerated() {
      guard position < words.count else {
        if operand.isOptional { continue }
        throw failure("\(name.rawValue) needs \(operand.name)", about: name)
      }
      if words[position].isEmpty { throw failure("\(operand.name) is empty", about: name) }
    }
  }

  // MARK: - Errors

  private func failure(_ message: String, about name: CommandName) -> UsageError {
    UsageError(message: message, hint: "Usage: \(name.synopsis)")
  }

  private func failure(
    _ message: String, _ hint: String = generalHint
  ) -> UsageError {
    UsageError(message: message, hint: hint)
  }

  /// A word as it may be shown.
  private func quoted(_ word: String) -> String {
    "'\(TerminalText.visible(word, limit: 40))'"
  }
}
