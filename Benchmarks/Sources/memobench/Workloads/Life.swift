/// An app's life: a thousand memos a day, ten launches a day, each memo durable.
enum Life: Workload {
  static let name = "life"
  static let summary = "bytes written to the device for each memo, 1,000 a day, ten launches a day"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let count = bench.options.count / 50 / 100 * 100
    var row = Row(
      name: name, summary: "\(summary), \(count) memos", unit: .bytes, goals: [.timesBestPeer(1)])
    var time = Row(name: "life: time", summary: "how long such a life took")
    row.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      if engine is MemoHistoryEngine { throw .unsupported("life of its own") }
      let folder = bench.folder + "/life-" + engine.name
      try Files.makeFolder(folder)
      var causes: [String: Int] = [:]
      Files.settleDevice()
      let device = Device.bytesWritten(holding: folder)
      let start = now()
      let usage = Usage.start
      for first in stride(from: 0, to: count, by: 100) {
        let store = try engine.open(folder)
        let newest = try store.latest(200)
        try check(
          newest.first?.id == (first == 0 ? nil : Identity(first - 1)), "newest in a life")
        for number in first..<first + 100 { try store.insert(bench.corpus.memo(number)) }
        causes.merge(store.writtenByCause, uniquingKeysWith: +)
        try store.close()
      }
      let used = Usage.current - usage
      time.cells.append(Cell(engine.name, Double(now() - start)))
      Files.settleDevice()
      let after = Device.bytesWritten(holding: folder)
      let written = device.flatMap { before in after.map { $0 - before } } ?? used.bytesWritten
      var cell = Cell(engine.name, Double(written) / Double(count))
      cell.usage = used
      cell.note = causes.sorted { $0.value > $1.value }
        .map { "\($0.key) \(Format.bytes(Double($0.value) / Double(count)))" }
        .joined(separator: ", ")
      try Files.remove(folder)
      return cell
    }
    return [row, time]
  }
}
