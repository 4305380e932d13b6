/// Days of an app: inserts, edits, reads and deletions, while one pass of the engine runs behind.
enum MixedDay: Workload {
  static let name = "day"
  static let summary =
    "30 inserts, 10 edits, 5 deletions, 50 gets, 5 times newest 200, a pass behind"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = min(bench.options.count, 100_000)
    var day = Row(name: "mixed day", summary: summary)
    var writes = Row(name: "mixed day: writes", summary: "its inserts, edits and deletions")
    var reads = Row(name: "mixed day: gets", summary: "its reads by id")
    var lives: [(engine: any Engine, folder: String, life: Days, cell: Cell, days: Samples)] = []
    for engine in try bench.loaded(size) {
      let folder = try bench.copy(engine, size, named: "day")
      var cell = Cell(engine.name, 0)
      if !runsBehind(engine) { cell.note = "no pass behind" }
      lives.append(
        (engine, folder, Days(bench.corpus, try engine.open(folder), size), cell, Samples()))
    }
    // Day by day in turn, so that a busy device meets all engines.
    for _ in 0..<bench.samples(10) {
      for place in lives.indices {
        let pass = runsBehind(lives[place].engine) ? BackgroundPass(lives[place].life.store) : nil
        let usage = Usage.start
        let start = now()
        try lives[place].life.liveDay()
        lives[place].days.add(now() - start)
        try pass?.finish()
        lives[place].cell.usage = (lives[place].cell.usage ?? Usage()) + (Usage.current - usage)
      }
    }
    for (engine, folder, life, used, days) in lives {
      try life.checkAll(engine.name)
      var cell = Cell(engine.name, days, note: used.note)
      cell.usage = used.usage
      day.cells.append(cell)
      writes.cells.append(Cell(engine.name, life.writes))
      reads.cells.append(Cell(engine.name, life.reads))
      try life.store.close()
      try Files.remove(folder)
    }
    return [day, writes, reads]
  }

  private static func runsBehind(_ engine: any Engine) -> Bool {
    InsertWhileCompacting.concurrent.contains(engine.name)
  }
}

/// A store, and what it has to hold.
private struct Days {
  private let corpus: Corpus
  let store: any Store
  private var random = Mixer(seed: 29)
  private var next: Int
  private var texts = Texts()
  private var gone: Set<Int> = []
  var writes = Samples()
  var reads = Samples()

  init(_ corpus: Corpus, _ store: any Store, _ count: Int) {
    self.corpus = corpus
    self.store = store
    next = count
  }

  /// A memo that is there.
  private mutating func someNumber() -> Int {
    while true {
      let number = Int.random(in: 0..<next, using: &random)
      if !gone.contains(number) { return number }
    }
  }

  mutating func liveDay() throws(BenchmarkError) {
    for step in 0..<50 {
      if step % 10 == 0 {
        let newest = try store.latest(200)
        try check(newest.first?.id == Identity(newestNumber), "newest of a day")
      }
      if step < 30 {
        let memo = corpus.memo(next)
        try writes.time { () throws(BenchmarkError) in try store.insert(memo) }
        next += 1
      }
      if step % 5 == 1 {
        let number = someNumber()
        texts.change(number)
        let memo = corpus.memo(number, text: texts.text(number))
        try writes.time { () throws(BenchmarkError) in try store.update([memo]) }
      }
      if step % 10 == 2 {
        let number = someNumber()
        gone.insert(number)
        try writes.time { () throws(BenchmarkError) in try store.delete([Identity(number)]) }
      }
      let number = someNumber()
      let found = try reads.time { () throws(BenchmarkError) in
        try store.memo(for: Identity(number))
      }
      try check(found == corpus.expected(number, text: texts.text(number)), "a memo of a day")
    }
  }

  private var newestNumber: Int {
    var number = next - 1
    while gone.contains(number) { number -= 1 }
    return number
  }

  /// Compares all memos; those of one time may be in the order of their arrival or of their change.
  func checkAll(_ engine: String) throws(BenchmarkError) {
    let expected = (0..<next).filter { !gone.contains($0) }
      .map { corpus.expected($0, text: texts.text($0)) }
    let found = try store.latest(next)
    try check(Set(found) == Set(expected) && found.count == expected.count, "days of \(engine)")
  }
}
