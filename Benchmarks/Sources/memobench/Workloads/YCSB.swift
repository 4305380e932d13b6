/// The core mixes of the Yahoo! Cloud Serving Benchmark, with durable writes, on one thread.
enum YCSB: Workload {
  static let name = "ycsb"
  static let summary = "mixes A to F: Zipf (0.99) over ids, D over the newest; mean time for each"

  /// Shares of operations in percent; what is left are reads.
  private struct Mix {
    let letter: String
    let words: String
    var updates = 0
    var inserts = 0
    var scans = 0
    /// Updates that read the memo before.
    var modifies = 0
    var prefersNewest = false
  }

  /// In the order that the benchmark asks for, because D and E add memos.
  private static let mixes = [
    Mix(letter: "A", words: "50 % reads, 50 % updates", updates: 50),
    Mix(letter: "B", words: "95 % reads, 5 % updates", updates: 5),
    Mix(letter: "C", words: "reads"),
    Mix(letter: "F", words: "50 % reads, 50 % read, change, write", modifies: 50),
    Mix(
      letter: "D", words: "95 % reads of new memos, 5 % inserts", inserts: 5, prefersNewest: true),
    Mix(letter: "E", words: "95 % scans of 1 to 100 memos, 5 % inserts", inserts: 5, scans: 95),
  ]

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = min(bench.options.count, 100_000)
    var rows = mixes.map { Row(name: "ycsb \($0.letter)", summary: $0.words + ", ratio of means") }
    var clients: [Client] = []
    for engine in try bench.loaded(size) {
      let folder = try bench.copy(engine, size, named: "ycsb")
      clients.append(Client(bench.corpus, engine.name, folder, try engine.open(folder), size))
    }
    for (place, mix) in mixes.enumerated() {
      rows[place].cells = try cells(bench, mix, &clients)
    }
    for client in clients { try client.close() }
    return rows.sorted { $0.name < $1.name }
  }

  /// Twenty rounds in turn, so that a busy device meets all engines.
  private static func cells(
    _ bench: Bench, _ mix: Mix, _ clients: inout [Client]
  ) throws(BenchmarkError) -> [Cell] {
    var results = clients.map { _ in (samples: Samples(), usage: Usage()) }
    var lacking: Set<Int> = []
    for _ in 0..<20 {
      for place in clients.indices where !lacking.contains(place) {
        do throws(BenchmarkError) {
          let usage = Usage.start
          results[place].samples.add(try clients[place].run(mix, bench.samples(2000) / 20))
          results[place].usage = results[place].usage + (Usage.current - usage)
        } catch {
          if !error.isUnsupported { throw error }
          lacking.insert(place)
        }
      }
    }
    return clients.indices.filter { !lacking.contains($0) }.map { place in
      var cell = Cell(clients[place].engine, results[place].samples)
      cell.headline = results[place].samples.mean
      cell.usage = results[place].usage
      return cell
    }
  }

  /// A store, and what it has to hold.
  private struct Client {
    let engine: String
    private let corpus: Corpus
    private let folder: String
    private let store: any Store
    private var random = Mixer(seed: 43)
    private var next: Int
    private var texts = Texts()
    private let zipf: Zipf
    private var samples = Samples()

    init(_ corpus: Corpus, _ engine: String, _ folder: String, _ store: any Store, _ count: Int) {
      self.engine = engine
      self.corpus = corpus
      self.folder = folder
      self.store = store
      next = count
      zipf = Zipf(count)
    }

    func close() throws(BenchmarkError) {
      try store.close()
      try Files.remove(folder)
    }

    /// Does some operations of a mix.
    mutating func run(_ mix: Mix, _ count: Int) throws(BenchmarkError) -> Samples {
      samples = Samples(capacity: count)
      for _ in 0..<count {
        let choice = Int.random(in: 0..<100, using: &random)
        switch choice {
        case ..<mix.updates: try update(someNumber(mix), isReading: false)
        case ..<(mix.updates + mix.modifies): try update(someNumber(mix), isReading: true)
        case ..<(mix.updates + mix.modifies + mix.inserts): try insert()
        case ..<(mix.updates + mix.modifies + mix.inserts + mix.scans): try scan(someNumber(mix))
        default: try read(someNumber(mix))
        }
      }
      return samples
    }

    private mutating func someNumber(_ mix: Mix) -> Int {
      let rank = zipf.next(&random)
      if mix.prefersNewest { return max(next - 1 - rank, 0) }
      // Popular memos are spread over all times.
      return Int((Mixer.mixed(UInt64(rank)) >> 1) % UInt64(next))
    }

    private mutating func read(_ number: Int) throws(BenchmarkError) {
      let memo = try samples.time { () throws(BenchmarkError) in
        try store.memo(for: Identity(number))
      }
      try check(memo == corpus.expected(number, text: texts.text(number)), "a read of YCSB")
    }

    private mutating func update(_ number: Int, isReading: Bool) throws(BenchmarkError) {
      let before = corpus.expected(number, text: texts.text(number))
      texts.change(number)
      let memo = corpus.memo(number, text: texts.text(number))
      let found = try samples.time { () throws(BenchmarkError) in
        let found = isReading ? try store.memo(for: memo.id) : nil
        try store.update([memo])
        return found
      }
      try check(!isReading || found == before, "a read before a write of YCSB")
    }

    private mutating func insert() throws(BenchmarkError) {
      let memo = corpus.memo(next)
      try samples.time { () throws(BenchmarkError) in try store.insert(memo) }
      next += 1
    }

    private mutating func scan(_ number: Int) throws(BenchmarkError) {
      let limit = Int.random(in: 1...100, using: &random)
      let time = corpus.time(number)
      let tally = try samples.time { () throws(BenchmarkError) in
        try store.tally(.newestFirst, notAfter: time, limit: limit)
      }
      let newest = corpus.newest(notAfter: time, of: next)
      let expected = corpus.tally((0...newest).suffix(limit).reversed(), texts)
      try check(tally == expected, "a scan of YCSB")
    }
  }
}
