/// The first open after the system was started: nothing of the store is in memory.
enum LaunchCold: Workload {
  static let name = "cold"
  static let summary = "first open of a process + newest 200, files of the store out of the cache"

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let size = bench.options.count
    let expected = Launch.expectedDigest(bench, size)
    var row = Row(name: "launch cold \(size)", summary: summary, goals: [.timesBestPeer(1)])
    row.cells = try bench.cells(of: bench.originals) { engine throws(BenchmarkError) in
      let folder = try bench.fixture(engine, size).folder
      var samples = Samples()
      var reads = Samples()
      var byteCount = 0
      for _ in 0..<bench.samples(20) {
        Files.evict(bench.storeFolder(folder))
        let before = Device.readCount(holding: folder)
        let numbers = try ChildProcess.again(["launch", engine.name, folder]).numbers
        if let before, let after = Device.readCount(holding: folder) { reads.add(after - before) }
        try check(numbers.count == 4 && numbers[1] == expected, "cold newest 200")
        samples.add(numbers[0])
        byteCount = max(byteCount, numbers[3])
      }
      // A file system in memory, or one that does not give up its cache.
      if byteCount == 0 { throw .unsupported("cold launch: nothing left the cache") }
      let note = "\(reads.median) reads of the device, \(Format.bytes(Double(byteCount)))"
      return Cell(engine.name, samples, note: note)
    }
    if row.cells.isEmpty { bench.progress("cold launch skipped: nothing leaves the cache here") }
    return row.cells.isEmpty ? [] : [row]
  }
}
