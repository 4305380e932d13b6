/// The newest memos are deleted, and the newest 200 are wanted.
enum DeleteNewest: Workload {
  static let name = "delete-newest"
  static let summary = "newest 200 after the newest 100,000 were deleted, and after a relaunch"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = bench.options.count
    let deleted = min(100_000, count / 2)
    let kept = count - deleted
    var usual = Row(name: "latest", summary: "newest 200 of \(count), decoded, repeated")
    var after = Row(
      name: "latest after delete", summary: "the same after the newest \(deleted) were deleted")
    var relaunch = Row(
      name: "relaunch after delete", summary: "first open of the next process + newest 200",
      goals: [.atMost(25e6)])
    var deletion = Row(name: "delete", summary: "\(deleted) memos by id, batches of 10,000")
    for engine in bench.originals {
      _ = try bench.cells(of: [engine]) { engine throws(BenchmarkError) in
        let folder = try bench.copy(engine, count, named: "delete")
        let store = try engine.open(folder)
        let before = try latest(bench, store, count)
        let start = now()
        let usage = Usage.start
        for first in stride(from: kept, to: count, by: 10_000) {
          try store.delete((first..<min(first + 10_000, count)).map(Identity.init(_:)))
        }
        var cell = Cell(engine.name, Double(now() - start))
        cell.usage = Usage.current - usage
        deletion.cells.append(cell)
        usual.cells.append(Cell(engine.name, before))
        after.cells.append(Cell(engine.name, try latest(bench, store, kept)))
        try store.close()
        let numbers = try ChildProcess.again(["launch", engine.name, folder]).numbers
        try check(
          numbers.dropFirst().first == Launch.expectedDigest(bench, kept), "relaunch after delete")
        relaunch.cells.append(Cell(engine.name, Double(numbers[0])))
        try Files.remove(folder)
        return cell
      }
    }
    if let ours = usual.cell("memokv") { after.goals = [.atMost(2 * ours.headline)] }
    return [deletion, usual, after, relaunch]
  }

  /// Reads again and again; every answer is checked.
  private static func latest(
    _ bench: Bench, _ store: any Store, _ count: Int
  ) throws(BenchmarkError) -> Samples {
    let expected = (0..<count).suffix(200).reversed().map(bench.corpus.expected)
    var samples = Samples()
    for _ in 0..<bench.samples(100) {
      let memos = try samples.time { () throws(BenchmarkError) in try store.latest(200) }
      try check(memos == expected, "newest 200")
    }
    return samples
  }
}
