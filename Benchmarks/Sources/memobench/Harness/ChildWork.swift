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
      let engine = EngineCatalog.all.first(where: { $0.name == arguments[1] })
    else { throw BenchmarkError("\(work) wants an engine and a folder") }
    let numbers = arguments.dropFirst(3).compactMap { Int($0) }
    switch work {
    case "launch":
      let (duration, digest) = try launch(engine, arguments[2])
      print(duration, digest, Usage.peakMemory)
    case "reopen":
      _ = try launch(engine, arguments[2])
      for _ in 0..<(numbers.first ?? 1) { print(try launch(engine, arguments[2]).duration) }
    case "fill":
      try fill(engine, arguments[2], first: numbers.first ?? 0, byteCount: numbers.last ?? 0)
    default: throw BenchmarkError("unknown work \(work)")
    }
  }

  /// Opens a store and reads the newest memos into values.
  private static func launch(
    _ engine: any Engine, _ folder: String
  ) throws(BenchmarkError) -> (duration: Int, digest: Int) {
    let start = now()
    let store = try engine.open(folder)
    var duration = 0
    var tally = Tally()
    if let own = store as? MemoHistoryStore {
      // Its own values are what an app wants; ours would be made of them.
      let memos = try own.latestMemos(launchCount)
      duration = now() - start
      for memo in try memos.map(MemoHistoryStore.sample) { tally.add(memo) }
    } else {
      let memos = try store.latest(launchCount)
      duration = now() - start
      for memo in memos { tally.add(memo) }
    }
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
