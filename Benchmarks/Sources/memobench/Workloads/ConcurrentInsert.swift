import Dispatch

/// Several threads insert at the same time, each waiting for its own memo to be durable.
enum ConcurrentInsert: Workload {
  static let name = "writers"
  static let summary = "durable inserts by 1, 4 and 16 threads; wall time for each memo"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    var rows: [Row] = []
    for writers in [1, 4, 16] { rows.append(try row(bench, writers)) }
    return rows
  }

  private static func row(_ bench: Bench, _ writers: Int) throws(BenchmarkError) -> Row {
    let size = min(bench.options.count, 100_000)
    let rounds = bench.samples(50)
    let perRound = 32
    var row = Row(
      name: "insert, \(writers) writers",
      summary: "\(rounds * perRound) memos; the ratio is that of the wall time for each memo")
    var stores: [(store: any Store, folder: String)] = []
    for engine in try bench.loaded(size) {
      let folder = try bench.copy(engine, size, named: "writers")
      stores.append((try engine.open(folder), folder))
      // The first write of a process makes files and threads.
      try stores[stores.count - 1].store.insert(bench.corpus.memo(size))
      row.cells.append(Cell(engine.name, Samples()))
    }
    // In turn, so that a busy device meets all engines.
    for round in 0..<rounds {
      let first = size + 1 + round * perRound
      for place in stores.indices {
        let memos = (first..<first + perRound).map(bench.corpus.memo)
        let usage = Usage.start
        let start = now()
        row.cells[place].samples?.add(try insert(memos, into: stores[place].store, writers))
        row.cells[place].headline += Double(now() - start) / Double(rounds * perRound)
        row.cells[place].usage = (row.cells[place].usage ?? Usage()) + (Usage.current - usage)
      }
    }
    for (store, folder) in stores {
      for number in size..<size + 1 + rounds * perRound {
        try check(try store.contains(Identity(number)), "memo \(number) of \(folder)")
      }
      try store.close()
      try Files.remove(folder)
    }
    return row
  }

  /// Every writer takes each so many-th memo.
  private static func insert(
    _ memos: [NewMemo], into store: any Store, _ writers: Int
  ) throws(BenchmarkError) -> Samples {
    let group = DispatchGroup()
    nonisolated(unsafe) let store = store
    nonisolated(unsafe) let memos = memos
    let results = (0..<writers).map { _ in WriterResult() }
    for (writer, result) in results.enumerated() {
      DispatchQueue(label: "writer").async(group: group) {
        do throws(BenchmarkError) {
          for place in stride(from: writer, to: memos.count, by: writers) {
            try result.samples.time { () throws(BenchmarkError) in
              try store.insert(memos[place])
            }
          }
        } catch { result.failure = error }
      }
    }
    group.wait()
    if let failure = results.compactMap(\.failure).first { throw failure }
    return Samples(results.flatMap(\.samples.values))
  }
}

/// What one writer leaves behind; nobody else looks before the writer has ended.
private final class WriterResult: Sendable {
  nonisolated(unsafe) var samples = Samples()
  nonisolated(unsafe) var failure: BenchmarkError?
}
