/// Nine of ten memos are deleted, then the engine has its pass: what is left on the device.
enum DeleteMost: Workload {
  static let name = "shrink"
  static let summary = "90 % deleted and one pass: bytes on disk for each byte that is left"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = min(bench.options.count, 300_000)
    let kept = (0..<count).filter { $0 % 10 == 0 }
    // Id, time and text of the memos that are left.
    let left = kept.reduce(0) { $0 + bench.corpus.memo($1).body.count + 24 }
    var row = Row(name: name, summary: "\(summary) (\(count) memos)", unit: .ratio)
    var pass = Row(name: "shrink: pass", summary: "time of that pass")
    for engine in bench.originals {
      row.cells += try bench.cells(of: [engine]) { engine throws(BenchmarkError) in
        let folder = try bench.copy(engine, count, named: "shrink")
        let store = try engine.open(folder)
        for first in stride(from: 0, to: count, by: 10_000) {
          let gone = (first..<min(first + 10_000, count)).filter { $0 % 10 != 0 }
          try store.delete(gone.map(Identity.init(_:)))
        }
        let start = now()
        let usage = Usage.start
        try store.settle()
        var time = Cell(engine.name, Double(now() - start))
        time.usage = Usage.current - usage
        pass.cells.append(time)
        try check(
          try store.tally(.newestFirst, notAfter: nil, limit: .max)
            == bench.corpus.tally(kept.reversed()), "what is left")
        let live = store.liveByteCount
        try store.close()
        let whole = Files.allocatedByteCount(of: bench.storeFolder(folder))
        try Files.remove(folder)
        let note = live.map { _ in "folder \(Format.bytes(Double(whole)))" } ?? ""
        return Cell(engine.name, Double(live ?? whole) / Double(left), note: note)
      }
    }
    return [row, pass]
  }
}
