import Glibc

/// The works of the gates, each made ready for one engine.
enum GateWork {
  private static let count = RatioGates.memoCount

  private static func engine(_ name: String) throws(BenchmarkError) -> any Engine {
    guard let engine = EngineCatalog.engine(name) else { throw BenchmarkError("no \(name)") }
    return engine
  }

  /// Nanoseconds of a closure.
  private static func duration(
    _ body: () throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) -> Double {
    let start = now()
    try body()
    return Double(now() - start)
  }

  /// Processor time of a closure that waits for nothing: where programs compete for a core, the
  /// longer side would lose it more often.
  private static func cpu(
    _ body: () throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) -> Double {
    let start = now(CLOCK_THREAD_CPUTIME_ID)
    try body()
    return Double(now(CLOCK_THREAD_CPUTIME_ID) - start)
  }

  // MARK: - Processes

  static func inspector(_ bench: Bench) throws(BenchmarkError) -> GateSide {
    guard let path = bench.inspector else {
      throw BenchmarkError("kvinspect is not there: make kvinspect builds it")
    }
    let folder = try bench.fixture(MemoHistoryEngine(), count).folder
    return process(path, ["latest", folder + "/store", "200"])
  }

  static func shell(_ bench: Bench) throws(BenchmarkError) -> GateSide {
    let folder = try bench.fixture(SQLiteEngine(), count).folder
    return process(ProcessStart.shell, [folder + "/memos.db", ProcessStart.query])
  }

  private static func process(_ path: String, _ arguments: [String]) -> GateSide {
    { () throws(BenchmarkError) in
      let outcome = try ChildProcess.run(path, arguments, isSilent: true)
      try check(outcome.output.count { $0 == 10 } == 200, "lines of \(path)")
      return Double(outcome.duration)
    }
  }

  /// Open and newest 200, first thing in a process.
  static func launch(_ bench: Bench, _ name: String) throws(BenchmarkError) -> GateSide {
    let folder = try bench.fixture(engine(name), count).folder
    let expected = Launch.expectedDigest(bench, count)
    return { () throws(BenchmarkError) in
      let numbers = try ChildProcess.again(["launch", name, folder]).numbers
      try check(numbers.dropFirst().first == expected, "newest 200 of \(name)")
      return Double(numbers[0])
    }
  }

  // MARK: - Writes

  static func insert(_ bench: Bench, _ name: String) throws(BenchmarkError) -> GateSide {
    let store = try engine(name).open(try bench.copy(engine(name), count, named: "gate"))
    var number = count
    return { () throws(BenchmarkError) in
      let memo = bench.corpus.memo(number)
      let duration = try duration { () throws(BenchmarkError) in try store.insert(memo) }
      try check(try store.latest(1) == [bench.corpus.expected(number)], "insert of \(name)")
      number += 1
      return duration
    }
  }

  static func rawWrite(_ bench: Bench) throws(BenchmarkError) -> GateSide {
    let device = try RawDevice(bench.folder + "/raw", overwriting: 256 << 10)
    var number = count
    return { () throws(BenchmarkError) in
      let bytes = RawDevice.bytes(of: bench.corpus.memo(number))
      number += 1
      return try duration { () throws(BenchmarkError) in try device.write(bytes) }
    }
  }

  static func load(_ bench: Bench, _ name: String) throws(BenchmarkError) -> GateSide {
    let engine = try engine(name)
    let folder = bench.folder + "/gate-load-" + name
    return { () throws(BenchmarkError) in
      try Files.remove(folder)
      try Files.makeFolder(folder)
      Files.settleDevice()
      let duration = try bench.loading(engine, count, into: folder).loadTime
      let store = try engine.open(folder)
      try check(try store.latest(1) == [bench.corpus.expected(count - 1)], "load of \(name)")
      try store.close()
      return Double(duration)
    }
  }

  // MARK: - Reads

  static func get(
    _ bench: Bench, _ name: String, _ isPresent: Bool
  ) throws(BenchmarkError) -> GateSide {
    let store = try bench.warm(engine(name), count)
    var random = Mixer(seed: 7)
    return { () throws(BenchmarkError) in
      let numbers = (0..<200).map { _ in Int.random(in: 0..<count, using: &random) }
      let ids = numbers.map { Identity(isPresent ? $0 : $0 + 1 << 40) }
      var found: [SampleMemo?] = []
      found.reserveCapacity(ids.count)
      let duration = try cpu { () throws(BenchmarkError) in
        for id in ids { found.append(try store.memo(for: id)) }
      }
      let expected = numbers.map { isPresent ? bench.corpus.expected($0) : nil }
      try check(found == expected, "get of \(name)")
      return duration
    }
  }

  static func page(_ bench: Bench, _ name: String) throws(BenchmarkError) -> GateSide {
    let store = try bench.warm(engine(name), count)
    var random = Mixer(seed: 11)
    return { () throws(BenchmarkError) in
      var total = 0.0
      for _ in 0..<20 {
        let time = bench.corpus.time(Int.random(in: 0..<count, using: &random))
        var tally = Tally()
        total += try cpu { () throws(BenchmarkError) in
          tally = try store.tally(.newestFirst, notAfter: time, limit: 200)
        }
        let newest = bench.corpus.newest(notAfter: time, of: count)
        let expected = bench.corpus.tally((0...newest).suffix(200).reversed())
        try check(tally == expected, "page of \(name)")
      }
      return total
    }
  }

  static func scan(_ bench: Bench, _ name: String) throws(BenchmarkError) -> GateSide {
    let store = try bench.warm(engine(name), count)
    let expected = bench.newestFirst(count)
    return { () throws(BenchmarkError) in
      var tally = Tally()
      let duration = try cpu { () throws(BenchmarkError) in
        tally = try store.tally(.newestFirst, notAfter: nil, limit: .max)
      }
      try check(tally == expected, "scan of \(name)")
      return duration
    }
  }

  static func disk(_ bench: Bench, _ name: String) throws(BenchmarkError) -> GateSide {
    let settling = try bench.fixture(engine(name), count).settling
    guard let settling else { throw BenchmarkError("\(name) was not settled") }
    return { Double(settling.liveByteCount ?? settling.byteCount) }
  }
}
