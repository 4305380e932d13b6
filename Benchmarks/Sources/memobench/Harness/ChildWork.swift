import Glibc
import MemoHistory

/// Parts of workloads that need a process of their own.
///
/// The first open of a process, its memory, a process that is killed. Prints numbers for the
/// parent.
enum ChildWork {
  /// Number of memos that a launch reads.
  static let launchCount = 200

  static func run(_ arguments: [String]) throws(BenchmarkError) {
    guard let work = arguments.first else { throw BenchmarkError("no work") }
    if work == "idle" {
      print(Usage.peakMemory)
      return
    }
    guard arguments.count >= 3,
      let engine = EngineCatalog.engine(arguments[1])
    else { throw BenchmarkError("\(work) wants an engine and a folder") }
    let numbers = arguments.dropFirst(3).compactMap { Int($0) }
    switch work {
    case "launch":
      let bytesRead = Usage.bytesRead
      let (duration, digest) = try launch(engine, arguments[2])
      print(duration, digest, Usage.peakMemory, Usage.bytesRead - bytesRead)
    case "reopen":
      _ = try launch(engine, arguments[2])
      for _ in 0..<(numbers.first ?? 1) { print(try launch(engine, arguments[2]).duration) }
    case "fill":
      try fill(engine, arguments[2], first: numbers.first ?? 0, byteCount: numbers.last ?? 0)
    case "turn":
      try Turns.takeTurn(
        engine, arguments[2], first: numbers.first ?? 0, time: numbers.last ?? 0)
    case "count":
      guard let counted = arguments.last.flatMap(CountedWork.init(rawValue:)) else {
        throw BenchmarkError("unknown work \(arguments)")
      }
      try counted.run(engine, arguments[2])
    default: throw BenchmarkError("unknown work \(work)")
    }
  }

  /// Opens a store and reads the newest memos into values.
  private static func launch(
    _ engine: any Engine, _ folder: String
  ) throws(BenchmarkError) -> (duration: Int, digest: Int) {
    let start = now()
    var duration = 0
    var tally = Tally()
    // The store of memos gives its own values, which are what an app wants; those of the harness
    // would be made of them.
    let (store, memos, own) = try Callgrind.counting { () throws(BenchmarkError) in
      let store = try engine.open(folder)
      let history = store as? MemoHistoryStore
      let own = try history?.latestMemos(launchCount)
      let memos = history == nil ? try store.latest(launchCount) : []
      duration = now() - start
      return (store, memos, own)
    }
    for memo in try own?.map(MemoHistoryStore.sample) ?? memos { tally.add(memo) }
    try store.close()
    return (duration, tally.digest)
  }

  /// Inserts memos until so many bytes are written, then dies without a word.
  private static func fill(
    _ engine: any Engine, _ folder: String, first: Int, byteCount: Int
  ) throws(BenchmarkError) {
    let store = try engine.open(folder)
    let corpus = Corpus.standard(besides: repository)
    var number = first
    var written = 0
    while written < byteCount {
      let memo = corpus.memo(number)
      try store.insert(memo)
      number += 1
      written += memo.body.count + 100
    }
    Console.out("\(number)\n")
    kill(getpid(), SIGKILL)
  }
}
