import Testing
import TextSearch

@testable import KVInspectCore

@Suite struct ArgumentsTests {
  @Test(
    arguments: [
      (["latest", "S"], .latest(store: "S", count: 200, output: .text)),
      (["latest", "S", "20"], .latest(store: "S", count: 20, output: .text)),
      (["latest", "--json", "S", "1"], .latest(store: "S", count: 1, output: .json)),
      (["--json", "latest", "S"], .latest(store: "S", count: 200, output: .json)),
      (["get", "S", "a7"], .get(store: "S", id: "a7", output: .text)),
      (["get", "--json", "--", "S", "--json"], .get(store: "S", id: "--json", output: .json)),
      (["get", "S", "--", "-rf"], .get(store: "S", id: "-rf", output: .text)),
      (["--", "get", "-S", "-h"], .get(store: "-S", id: "-h", output: .text)),
      (["get", "S", "-"], .get(store: "S", id: "-", output: .text)),
      (["scan", "S"], .scan(store: "S", output: .text)),
      (["search", "S", "a b"], .search(store: "S", SearchRequest(text: "a b"), output: .text)),
      (
        ["search", "S", "--limit", "7", "--json", "--folding=marks", "--trash", "--", "-x"],
        .search(store: "S", .marksInTrash, output: .json)
      ),
      (["summary", "S", "--json"], .summary(store: "S", output: .json)),
      (["verify", "S", "--json", "--json"], .verify(store: "S", output: .json)),
      (
        ["import", "S", "memos.jsonl"],
        .importMemos(store: "S", source: .file("memos.jsonl"), rejected: nil, output: .text)
      ),
      (
        ["import", "S", "-", "--rejected", "r"],
        .importMemos(store: "S", source: .standardInput, rejected: "r", output: .text)
      ),
      (
        ["import", "--rejected=a=b", "S", "-", "--json"],
        .importMemos(store: "S", source: .standardInput, rejected: "a=b", output: .json)
      ),
      (
        ["import", "--rejected", "--", "S", "f"],
        .importMemos(store: "S", source: .file("f"), rejected: "--", output: .text)
      ),
      (["help"], .help(nil)), (["--help"], .help(nil)), (["-h"], .help(nil)),
      (["help", "help"], .help(nil)), (["help", "--help"], .help(nil)),
      (["help", "import"], .help(.importMemos)), (["import", "-h"], .help(.importMemos)),
      (["--help", "get", "S"], .help(.get)), (["latest", "S", "x", "--help"], .help(.latest)),
      (["--version"], .version), (["latest", "--version"], .version),
    ] as [([String], Command)])
  func readsCommandLines(words: [String], command: Command) throws {
    #expect(try Arguments.parse(words) == command)
  }

  private static let general = "Try: kvinspect help"
  private static let option = "Try: kvinspect help. An ID that begins with - goes behind --."

  @Test(
    arguments: [
      ([], "no command given", general), (["--json"], "no command given", general),
      (["lates", "S"], "unknown command 'lates'", general),
      (["help", "lates"], "unknown command 'lates'", general),
      (["lates", "--help"], "unknown command 'lates'", general),
      (["help", "get", "S"], "help takes one command", general),
      (["scan", "S", "--jsn"], "unknown option '--jsn'", option),
      (["get", "S", "-rf"], "unknown option '-rf'", option),
      (["scan", "S", "--json=1"], "--json takes no value", general),
      (["--help="], "--help takes no value", general),
      (["import", "S", "f", "--rejected"], "--rejected needs a FILE", general),
      (["import", "S", "f", "--rejected="], "--rejected needs a FILE", general),
      (["import", "S", "f", "--rejected=a", "--rejected=b"], "--rejected is given twice", general),
      (
        ["scan", "S", "--rejected=a"], "scan has no option --rejected",
        "Usage: kvinspect scan STORE [--earlier-state] [--json]"
      ),
      (["scan"], "scan needs STORE", "Usage: kvinspect scan STORE [--earlier-state] [--json]"),
      (["scan", ""], "STORE is empty", "Usage: kvinspect scan STORE [--earlier-state] [--json]"),
      (["get", "S"], "get needs ID", "Usage: kvinspect get STORE ID [--earlier-state] [--json]"),
      (
        ["get", "S", ""], "ID is empty", "Usage: kvinspect get STORE ID [--earlier-state] [--json]"
      ),
      (
        ["import", "S"], "import needs FILE.jsonl",
        "Usage: kvinspect import STORE FILE.jsonl [--rejected FILE] [--json]"
      ),
      (
        ["verify", "S", "T"], "verify does not know what to do with 'T'",
        "Usage: kvinspect verify STORE [--json]"
      ),
      (
        ["latest", "S", "0"], "N is a whole number above 0, not '0'",
        "Usage: kvinspect latest STORE [N] [--earlier-state] [--json]"
      ),
      (
        ["latest", "S", "1.5"], "N is a whole number above 0, not '1.5'",
        "Usage: kvinspect latest STORE [N] [--earlier-state] [--json]"
      ),
      (
        ["latest", "S", "99999999999999999999"],
        "N is a whole number above 0, not '99999999999999999999'",
        "Usage: kvinspect latest STORE [N] [--earlier-state] [--json]"
      ),
      (["\u{1B}[2J\n"], "unknown command '\\u{1B}[2J\\n'", general),
    ] as [([String], String, String)])
  func refusesWithOneLineAndAHint(words: [String], message: String, hint: String) {
    #expect(throws: UsageError(message: message, hint: hint)) { try Arguments.parse(words) }
  }

  @Test func errorsAreTwoLinesAndExitCodeTwo() {
    #expect("\(UsageError(message: "a", hint: "b"))" == "kvinspect: a\nb")
    #expect(UsageError.exitCode == 2)
  }

  @Test func longWordsAreCut() {
    let word = String(repeating: "x", count: 5000)
    let error = #expect(throws: UsageError.self) { try Arguments.parse([word]) }
    #expect((error?.message.count ?? 0) < 80)
  }

  @Test(arguments: [nil] + CommandName.allCases)
  func helpFitsATerminal(name: CommandName?) {
    let text = HelpText.text(about: name)
    #expect(text.hasSuffix("\n"))
    #expect(!text.hasSuffix("\n\n"))
    for line in text.split(separator: "\n") {
      #expect(line.count <= 100, "\(line)")
      #expect(line.last != " ", "\(line)")
    }
  }

  @Test func helpNamesEveryCommandAndOption() {
    let overview = HelpText.text(about: nil)
    for name in CommandName.allCases {
      #expect(overview.contains("\n  \(name.rawValue) \(name.operands[0].name)"))
      let text = HelpText.text(about: name)
      #expect(text.hasPrefix("Usage: \(name.synopsis)\n"))
      #expect(text.contains("Example"))
      for option in name.options {
        #expect(text.contains("\n  \(option.text)  "))
      }
    }
    for option in ["--json", "-h, --help", "--version", "--  "] {
      #expect(overview.contains("\n  \(option)"))
    }
  }

  /// The examples of the help are command lines that the parser takes.
  @Test(arguments: [nil] + CommandName.allCases)
  func examplesInHelpAreAccepted(name: CommandName?) {
    let lines = HelpText.text(about: name).split(separator: "\n").filter {
      $0.hasPrefix("  ") && $0.contains("kvinspect ")
    }
    #expect(!lines.isEmpty)
    for line in lines {
      let words = line.split(separator: " ").drop { $0 != "kvinspect" }.dropFirst()
        .prefix { $0 != ">" }.map(String.init)
      #expect(throws: Never.self, "\(line)") { try Arguments.parse(words) }
    }
  }
}

extension SearchRequest {
  fileprivate static var marksInTrash: SearchRequest {
    var request = SearchRequest(text: "-x")
    (request.limit, request.folding, request.isInTrash) = (7, .withoutMarks, true)
    return request
  }
}
