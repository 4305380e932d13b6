import Glibc

/// Memos that do not come in the order of their times.
enum UnorderedLoad: Workload {
  static let name = "unordered"
  static let summary = "load with one memo in ten late by days or years, and shuffled (fillrandom)"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = min(bench.options.count, 200_000)
    var random = Mixer(seed: 17)
    // The order of arrival: by number, and a delay for one in ten.
    let late = (0..<count).map { ($0, $0 + delay(&random)) }.sorted { $0.1 < $1.1 }.map(\.0)
    let shuffled = (0..<count).shuffled(using: &random)
    return try rows(bench, "load late", "\(count) memos, one in ten late", late)
      + rows(bench, "load shuffled", "\(count) memos in any order (fillrandom)", shuffled)
  }

  /// Memos that come in between: half of the late ones at most 5 days of 28 memos, one in a hundred
  /// more than two years, as in real histories.
  private static func delay(_ random: inout Mixer) -> Int {
    guard Int.random(in: 0..<10, using: &random) == 0 else { return 0 }
    let share = Double.random(in: 0..<1, using: &random)
    return Int(25 * pow(10, 3 * share * share))
  }

  private static func rows(
    _ bench: Bench, _ name: String, _ summary: String, _ numbers: [Int]
  ) throws(BenchmarkError) -> [Row] {
    var load = Row(name: name, summary: summary + ", batches of 10,000, until all is durable")
    var scan = Row(name: name + ": scan", summary: "the first scan after that, newest to oldest")
    load.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let folder = bench.folder + "/unordered-" + engine.name
      try Files.makeFolder(folder)
      let store = try engine.open(folder, isLoading: true)
      let usage = Usage.start
      let start = now()
      for first in stride(from: 0, to: numbers.count, by: 10_000) {
        let batch = numbers[first..<min(first + 10_000, numbers.count)]
        try store.load(batch.map(bench.corpus.memo), isOrdered: false)
      }
      try store.finishLoading()
      var cell = Cell(engine.name, Double(now() - start))
      cell.usage = Usage.current - usage
      let scanStart = now()
      let tally = try store.tally(.newestFirst, notAfter: nil, limit: .max)
      scan.cells.append(Cell(engine.name, Double(now() - scanStart)))
      try check(tally == bench.newestFirst(numbers.count), "\(name) of \(engine.name)")
      try store.close()
      try Files.remove(folder)
      return cell
    }
    return [load, scan]
  }
}
