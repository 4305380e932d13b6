/// Small fixed work on generated memos; its instructions are counted in a process of its own.
enum CountedWork: String, CaseIterable {
  case get
  case absent = "get-absent"
  case page
  case scan
  case insert
  case load
  case compact

  /// Memos in the store before the work, or loaded by it.
  static let memoCount = 20_000
  private static let pageCount = 200

  /// The same everywhere, whether real memos are at hand or not.
  static var corpus: Corpus { Corpus.generated(count: memoCount + 1000, seed: 1) }

  /// How many operations the work has.
  var operationCount: Int {
    switch self {
    case .get, .absent: 1000
    case .page: 100
    case .insert: 200
    case .scan, .load, .compact: Self.memoCount
    }
  }

  /// The store that the work begins with; those that write get one of their own.
  enum Beginning {
    case settled, copy, empty, halfDeleted
  }

  var beginning: Beginning {
    switch self {
    case .get, .absent, .page, .scan: .settled
    case .insert: .copy
    case .load: .empty
    case .compact: .halfDeleted
    }
  }

  /// Does the work; only what is measured counts, and every answer is checked.
  func run(_ engine: any Engine, _ folder: String) throws(BenchmarkError) {
    let corpus = Self.corpus
    let store = try engine.open(folder)
    switch self {
    case .get, .absent: try get(store, corpus)
    case .page: try pages(store, corpus)
    case .scan: try scan(store, corpus)
    case .insert: try insert(store, corpus)
    case .load: try load(store, corpus)
    case .compact: try compact(store, corpus)
    }
    try store.close()
  }

  private func get(_ store: any Store, _ corpus: Corpus) throws(BenchmarkError) {
    var random = Mixer(seed: 7)
    let numbers = (0..<operationCount).map { _ in
      Int.random(in: 0..<Self.memoCount, using: &random)
    }
    let ids = numbers.map { Identity(self == .get ? $0 : $0 + 1 << 40) }
    var found: [SampleMemo?] = []
    found.reserveCapacity(operationCount)
    try Callgrind.counting { () throws(BenchmarkError) in
      for id in ids { found.append(try store.memo(for: id)) }
    }
    let expected = numbers.map { self == .get ? corpus.expected($0) : nil }
    try check(found == expected, "get")
  }

  private func pages(_ store: any Store, _ corpus: Corpus) throws(BenchmarkError) {
    var random = Mixer(seed: 11)
    let times = (0..<operationCount).map { _ in
      corpus.time(Int.random(in: 0..<Self.memoCount, using: &random))
    }
    var tallies: [Tally] = []
    tallies.reserveCapacity(operationCount)
    try Callgrind.counting { () throws(BenchmarkError) in
      for time in times {
        tallies.append(try store.tally(.newestFirst, notAfter: time, limit: Self.pageCount))
      }
    }
    let expected = times.map { time in
      let newest = corpus.newest(notAfter: time, of: Self.memoCount)
      return corpus.tally((0...newest).suffix(Self.pageCount).reversed())
    }
    try check(tallies == expected, "page")
  }

  private func scan(_ store: any Store, _ corpus: Corpus) throws(BenchmarkError) {
    let tally = try Callgrind.counting { () throws(BenchmarkError) in
      try store.tally(.newestFirst, notAfter: nil, limit: .max)
    }
    try check(tally == corpus.tally((0..<Self.memoCount).reversed()), "scan")
  }

  private func insert(_ store: any Store, _ corpus: Corpus) throws(BenchmarkError) {
    let numbers = Self.memoCount..<Self.memoCount + operationCount
    let memos = numbers.map(corpus.memo)
    try Callgrind.counting { () throws(BenchmarkError) in
      for memo in memos { try store.insert(memo) }
    }
    try check(
      try store.latest(operationCount) == numbers.reversed().map(corpus.expected), "inserts")
  }

  private func load(_ store: any Store, _ corpus: Corpus) throws(BenchmarkError) {
    let memos = (0..<Self.memoCount).map(corpus.memo)
    try Callgrind.counting { () throws(BenchmarkError) in
      try store.load(memos)
      try store.finishLoading()
    }
    let tally = try store.tally(.newestFirst, notAfter: nil, limit: .max)
    try check(tally == corpus.tally((0..<Self.memoCount).reversed()), "load")
  }

  private func compact(_ store: any Store, _ corpus: Corpus) throws(BenchmarkError) {
    try Callgrind.counting { () throws(BenchmarkError) in try store.settle() }
    let left = stride(from: 1, to: Self.memoCount, by: 2).reversed()
    let tally = try store.tally(.newestFirst, notAfter: nil, limit: .max)
    try check(tally == corpus.tally(left), "compaction")
  }
}
