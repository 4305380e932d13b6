/// What the memos take on the device after a load, and after the engine's own pass over it.
enum DiskSize: Workload {
  static let name = "disk"
  static let summary = "bytes on disk, fresh and settled; time of the pass"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = bench.options.count
    let scale = Double(count) / 1_000_000
    var fresh = Row(
      name: "disk fresh", summary: "bytes of \(count) memos after the load", unit: .bytes,
      goals: [.atMost(140e6 * scale)])
    var settled = Row(
      name: "disk settled", summary: "bytes in use after one pass of the engine", unit: .bytes,
      goals: [.atMost(115e6 * scale)])
    var pass = Row(
      name: "settle", summary: "time of that pass (compact, VACUUM, compact copy)",
      goals: [.atMost(12e9 * scale)])
    for engine in try bench.loaded(count) {
      let fixture = try bench.fixture(engine, count)
      fresh.cells.append(cell(engine, fixture.freshLiveByteCount, fixture.freshByteCount))
      guard let settling = fixture.settling else { continue }
      settled.cells.append(cell(engine, settling.liveByteCount, settling.byteCount))
      pass.cells.append(Cell(engine.name, Double(settling.duration)))
    }
    return [fresh, settled, pass]
  }

  /// What is in use counts; what only waits for its deletion is a note.
  private static func cell(_ engine: any Engine, _ live: Int?, _ folder: Int) -> Cell {
    let note = live.map { _ in "folder \(Format.bytes(Double(folder)))" } ?? ""
    return Cell(engine.name, Double(live ?? folder), note: note)
  }
}
