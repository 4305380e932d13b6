/// One side of a gate: does a fixed, checked work once and gives nanoseconds or bytes.
typealias GateSide = () throws(BenchmarkError) -> Double

/// A ratio between MemoKV and a peer or the raw device, within one run.
struct RatioGate {
  /// What is done, by which of our engines, and what it is held against.
  let work: String
  let ours: String
  let other: String
  /// The ratio on a quiet machine when the gate was set.
  let quiet: Double
  /// What noise and another processor may add.
  var room = 1.5
  let rounds: Int
  /// Why the number is what it is.
  let reason: String
  /// Makes both sides ready.
  let sides: @Sendable (Bench) throws(BenchmarkError) -> (ours: GateSide, other: GateSide)

  var allowed: Double { quiet * room }

  /// The median of the ratios of neighbours in time; which one begins changes with every pair.
  func ratio(_ bench: Bench) throws(BenchmarkError) -> Double {
    let (ours, other) = try sides(bench)
    _ = try (ours(), other())
    var ratios: [Double] = []
    for round in 0..<rounds {
      if round.isMultiple(of: 2) {
        let mine = try ours()
        ratios.append(mine / (try other()))
      } else {
        let theirs = try other()
        ratios.append(try ours() / theirs)
      }
    }
    return ratios.sorted()[ratios.count / 2]
  }
}

/// All gates that are ratios, in one place.
enum RatioGates {
  /// Memos in the stores.
  static let memoCount = 100_000

  static let all = [
    RatioGate(
      work: "process", ours: "kvinspect", other: "sqlite3", quiet: 0.75, rounds: 41,
      reason: "both begin with the same exec; a start that reads more shows here"
    ) { bench throws(BenchmarkError) in
      (try GateWork.inspector(bench), try GateWork.shell(bench))
    },
    RatioGate(
      work: "launch", ours: "memokv", other: "lmdb", quiet: 3.0, rounds: 41,
      reason: "LMDB maps its file and decodes nothing"
    ) { bench throws(BenchmarkError) in
      (try GateWork.launch(bench, "memokv"), try GateWork.launch(bench, "lmdb"))
    },
    RatioGate(
      work: "launch", ours: "memohistory", other: "lmdb", quiet: 4.4, rounds: 41,
      reason: "the same with Memo values"
    ) { bench throws(BenchmarkError) in
      (try GateWork.launch(bench, "memohistory"), try GateWork.launch(bench, "lmdb"))
    },
    RatioGate(
      work: "insert", ours: "memokv", other: "raw", quiet: 1.15, room: 1.4, rounds: 401,
      reason: "the device is the same for both; a second sync would double it"
    ) { bench throws(BenchmarkError) in
      (try GateWork.insert(bench, "memokv"), try GateWork.rawWrite(bench))
    },
    RatioGate(
      work: "get", ours: "memokv", other: "lmdb", quiet: 7, rounds: 101,
      reason: "most blocks are not in 4 MiB of cache: read, checked, decompressed"
    ) { bench throws(BenchmarkError) in
      (try GateWork.get(bench, "memokv", true), try GateWork.get(bench, "lmdb", true))
    },
    RatioGate(
      work: "get absent", ours: "memokv", other: "lmdb", quiet: 2.1, rounds: 101,
      reason: "the filter answers; no block is read"
    ) { bench throws(BenchmarkError) in
      (try GateWork.get(bench, "memokv", false), try GateWork.get(bench, "lmdb", false))
    },
    RatioGate(
      work: "page", ours: "memokv", other: "lmdb", quiet: 8, rounds: 101,
      reason: "every page decompresses its blocks"
    ) { bench throws(BenchmarkError) in
      (try GateWork.page(bench, "memokv"), try GateWork.page(bench, "lmdb"))
    },
    RatioGate(
      work: "scan", ours: "memokv", other: "leveldb", quiet: 1.8, rounds: 15,
      reason: "both decompress; LevelDB has larger blocks without a dictionary"
    ) { bench throws(BenchmarkError) in
      (try GateWork.scan(bench, "memokv"), try GateWork.scan(bench, "leveldb"))
    },
    RatioGate(
      work: "load", ours: "memokv", other: "leveldb", quiet: 1.6, rounds: 5,
      reason: "one thread builds and compresses; LevelDB leaves half to its background thread"
    ) { bench throws(BenchmarkError) in
      (try GateWork.load(bench, "memokv"), try GateWork.load(bench, "leveldb"))
    },
    RatioGate(
      work: "disk settled", ours: "memokv", other: "leveldb", quiet: 0.72, room: 1.05, rounds: 1,
      reason: "bytes do not depend on the machine; texts are the generated ones"
    ) { bench throws(BenchmarkError) in
      (try GateWork.disk(bench, "memokv"), try GateWork.disk(bench, "leveldb"))
    },
  ]
}
