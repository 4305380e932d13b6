/// What the command line asks for.
struct Options {
  var count = 1_000_000
  var filter: String?
  var engines: [String]?
  var isJSON = false
  var isList = false
  var task = Task.measure
  var isQuick = false
  /// Where the result goes as a page.
  var page: String?
  /// Where the goals and what became of them go as a table in Markdown.
  var goalTable: String?
  /// An earlier result to compare with.
  var oldResult: String?
  /// No workload begins later than this; what is left out is said.
  var minutes: Int?
  /// Where stores are made; removed at the end.
  var folder = "build"

  /// What the program does.
  enum Task {
    case measure
    /// The gates of CI.
    case gates
    /// Writes the table of instructions anew.
    case bounds
  }

  static let usage = """
    Usage: memobench [--count N] [--filter NAME] [--engines a,b] [--quick] [--json] [--list]
                     [--html FILE] [--goals FILE] [--compare OLD.json] [--folder PATH]
                     [--minutes N]
           memobench --gates | --write-bounds

      --count N       memos in the stores (default 1,000,000)
      --filter NAME   only workloads whose name contains NAME
      --engines a,b   only these engines
      --quick         fewer samples
      --json          print JSON; the table goes to standard error
      --html FILE     write a page with plots that needs no other file
      --goals FILE    write the rows with a goal as a table in Markdown
      --compare OLD   put the numbers beside those of an earlier --json, mark changes over 10 %
      --list          print workloads and engines
      --folder PATH   make the stores below PATH (default: build)
      --minutes N     begin no workload after N minutes, say what is left out
      --gates         what CI checks: answers, start, ratios, instructions; fails when one is missed
      --write-bounds  count the instructions and write the table that --gates reads
    """

  init(_ arguments: [String]) throws(BenchmarkError) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--json": isJSON = true
      case "--list": isList = true
      case "--gates": task = .gates
      case "--write-bounds": task = .bounds
      case "--quick": isQuick = true
      case "--count":
        guard let number = rest.popFirst().flatMap({ Int($0) }), number >= 1000 else {
          throw BenchmarkError("--count wants a number of at least 1000")
        }
        count = number
      case "--minutes": minutes = rest.popFirst().flatMap { Int($0) }
      case "--filter": filter = rest.popFirst()
      case "--engines":
        engines = rest.popFirst()?.split(separator: ",").map(String.init)
        let unknown = engines?.first { name in !EngineCatalog.all.contains { $0.name == name } }
        if let unknown { throw BenchmarkError("no engine is called \(unknown)") }
      case "--compare": oldResult = rest.popFirst()
      case "--html": page = rest.popFirst()
      case "--goals": goalTable = rest.popFirst()
      case "--folder": folder = rest.popFirst() ?? folder
      default: throw BenchmarkError("unknown argument \(word)\n\(Self.usage)")
      }
    }
  }
}
