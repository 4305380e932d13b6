import Dispatch

/// Whether the engine's own work in the background makes an insert wait.
enum InsertWhileCompacting: Workload {
  static let name = "compacting"
  static let summary = "p99.9 of durable inserts while a compaction runs, against idle"

  /// The engines whose pass runs beside writes.
  static let concurrent = ["memokv", "leveldb", "rocksdb"]

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = min(bench.options.count, 300_000)
    var idle = Row(name: "compacting: idle", summary: "p99.9 of inserts, nothing beside them")
    var busy = Row(name: "compacting: busy", summary: "p99.9 of inserts beside one pass")
    for engine in bench.originals where concurrent.contains(engine.name) {
      let folder = bench.folder + "/compacting-" + engine.name
      try Files.makeFolder(folder)
      let store = try engine.open(folder, isLoading: true)
      try store.load((0..<size).map(bench.corpus.memo))
      try store.finishLoading()
      // Every other memo goes, so that the pass has all of it to write again.
      for first in stride(from: 0, to: size, by: 20_000) {
        let gone = stride(from: first, to: min(first + 20_000, size), by: 2)
        try store.delete(gone.map(Identity.init(_:)))
      }
      try store.finishLoading()
      try store.close()
      Files.settleDevice()
      let samples = try measure(try engine.open(folder), bench, size)
      idle.cells.append(Cell(engine.name, samples.idle, share: 0.999))
      let note = "\(samples.busy.values.count) inserts beside the pass"
      busy.cells.append(Cell(engine.name, samples.busy, share: 0.999, note: note))
      try Files.remove(folder)
    }
    if let ours = idle.cell("memokv") { busy.goals = [.atMost(3 * ours.headline)] }
    return [idle, busy].filter { !$0.cells.isEmpty }
  }

  private static func measure(
    _ store: any Store, _ bench: Bench, _ size: Int
  ) throws(BenchmarkError) -> (idle: Samples, busy: Samples) {
    var number = size
    let pass = BackgroundPass(store)
    var busy = Samples()
    while !pass.isFinished {
      let memo = bench.corpus.memo(number)
      try busy.time { () throws(BenchmarkError) in try store.insert(memo) }
      number += 1
    }
    try pass.finish()
    var idle = Samples()
    for _ in 0..<bench.samples(5000) {
      let memo = bench.corpus.memo(number)
      try idle.time { () throws(BenchmarkError) in try store.insert(memo) }
      number += 1
    }
    try check(try store.latest(1) == [bench.corpus.expected(number - 1)], "newest after a pass")
    try store.close()
    return (idle, busy)
  }
}

/// The engine's pass on a thread of its own.
final class BackgroundPass: Sendable {
  private let group = DispatchGroup()
  nonisolated(unsafe) private var failure: BenchmarkError?

  init(_ store: any Store) {
    nonisolated(unsafe) let store = store
    DispatchQueue.global().async(group: group) {
      do throws(BenchmarkError) { try store.settle() } catch { self.failure = error }
    }
  }

  var isFinished: Bool { group.wait(timeout: .now()) == .success }

  /// Waits for its end.
  func finish() throws(BenchmarkError) {
    group.wait()
    if let failure { throw failure }
  }
}
