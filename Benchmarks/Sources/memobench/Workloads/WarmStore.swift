extension Bench {
  /// Opens a settled store and reads all of it once, so that every engine begins warm.
  func warm(_ engine: any Engine, _ count: Int) throws(BenchmarkError) -> any Store {
    let store = try engine.open(try fixture(engine, count).folder)
    let all: Tally
    do throws(BenchmarkError) {
      all = try store.tally(.newestFirst, notAfter: nil, limit: .max)
    } catch  where error.isUnsupported {
      _ = try store.latest(count)
      return store
    }
    try check(all == newestFirst(count), "a full scan of \(engine.name)")
    return store
  }

  /// What a full scan has to see.
  func newestFirst(_ count: Int) -> Tally { corpus.tally((0..<count).reversed()) }
}
