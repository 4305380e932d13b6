import KVTestSupport
import Testing

@testable import KVEngine

/// The store's own thread beside writers, readers, and the end of the handle.
@Suite struct BackgroundWorkerTests {
  private func makeStore(on volume: StoreVolume) throws -> StoreSample {
    var store = try CompactionSample.store(on: volume)
    store.options.logByteCount = 4096
    store.options.worksInBackground = true
    return store
  }

  private func write(_ database: Database, rounds: ClosedRange<UInt8>, _ findings: Findings) {
    for round in rounds {
      findings.catching("write \(round)") {
        var batch = WriteBatch()
        for key in 0..<20 as Range<UInt8> { batch.put([round], forKey: [key]) }
        batch.put([round], forKey: [100, round])
        try database.write(batch, durability: round % 8 == 0 ? .full : .lazy)
        if round % 3 == 0 { try database.flush() }
      }
    }
  }

  /// Waits for something that the thread does by itself.
  private func waitFor(_ condition: () throws -> Bool) throws -> Bool {
    for _ in 0..<20_000 {
      if try condition() { return true }
      let pause = Lock(())
      _ = pause.wait(for: Condition(), atMost: { _ in 1_000_000 }) { _ in Bool?.none }
    }
    return false
  }

  @Test(arguments: StoreVolume.allCases)
  func flushesAreMergedBesideWritersAndReaders(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let database = try store.open()
    let findings = Findings()
    let isDone = Lock(false)
    onThreads(3) { thread in
      if thread == 0 {
        write(database, rounds: 1...120, findings)
        isDone.withLock { $0 = true }
        return
      }
      var newest: UInt8 = 0
      while true {
        let isLast = isDone.withLock { $0 }
        findings.catching("read") {
          var cursor = try database.snapshot().cursor(in: .range(from: [0], upTo: [20]))
          var values: [UInt8] = []
          while let entry = try thread == 1 ? cursor.next() : cursor.previous() {
            values += entry.value
          }
          findings.check(values.isEmpty || values.count == 20, "\(values.count) keys")
          findings.check(Set(values).count <= 1, "mixed rounds \(values)")
          findings.check(values.first ?? 0 >= newest, "went back")
          newest = values.first ?? 0
        }
        if isLast { return }
      }
    }
    #expect(findings.all == [])
    #expect(
      try waitFor {
        try database.statistics().compactionCount > 0 && database.liveSegments.count < 20
      })
    #expect(try database.statistics().backgroundFailure == nil)
    try database.close()
    let again = try store.open()
    #expect(try again.verify().damage == [])
    #expect(try again.value(forKey: [100, 77]) == [77])
  }

  @Test(arguments: StoreVolume.seeds(12, onDisk: 2))
  func aHandleEndsWhileItsThreadWorks(volume: StoreVolume, seed: UInt64) throws {
    let number = UInt8(seed)
    let store = try makeStore(on: volume)
    let findings = Findings()
    do {
      let database = try store.open()
      write(database, rounds: 1...(12 + number * 5), findings)
      if number % 2 == 0 { try database.close() }
    }
    #expect(findings.all == [])
    let again = try store.open()
    #expect(try again.value(forKey: [0]) == [12 + number * 5])
    #expect(try again.verify().damage == [])
  }

  @Test(arguments: StoreVolume.allCases)
  func aSuspendedHandleDoesNothingAndGoesOnLater(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let database = try store.open()
    let findings = Findings()
    for start in stride(from: UInt8(1), to: 100, by: 20) {
      write(database, rounds: start...start + 19, findings)
      try database.suspend()
      let names = try store.names()
      #expect(throws: DatabaseError.suspended) { try database.put([1], [1]) }
      #expect(throws: DatabaseError.suspended) { try database.compact() }
      #expect(try database.value(forKey: [0]) == [start + 19])
      #expect(try store.names() == names)
      try database.resume()
    }
    #expect(findings.all == [])
    try database.compact()
    #expect(try database.verify().damage == [])
    // One at the cap and one below it, or fewer.
    #expect(database.liveSegments.count <= 2)
  }

  /// Deletions are small, so nothing but the worker's own judgement asks for the space.
  @Test(.bug(id: "B31"), arguments: StoreVolume.allCases)
  func theSpaceOfAMassDeletionReturnsByItself(volume: StoreVolume) throws {
    let clock = Lock<Int64>(1_700_000_000_000_000)
    var store = try makeStore(on: volume)
    store.options.wallClock = { clock.withLock { $0 } }
    let database = try store.open()
    func byteCount() throws -> Int {
      try store.names().filter { $0.hasSuffix(".seg") }
        .reduce(0) { try $0 + store.files.status(store[$1]).byteCount }
    }
    var generator = SeededGenerator(seed: 1)
    var batch = WriteBatch()
    for number in 0..<1000 {
      batch.put(generator.bytes(100), forKey: [UInt8(number / 250), UInt8(number % 250)])
    }
    try database.write(batch)
    let full = try byteCount()
    #expect(full > 100_000)
    #expect(try database.delete(.range(from: [0, 5], upTo: [3, 245])) == 990)
    #expect(try waitFor { try database.statistics().segmentByteCount * 5 < full })
    // What was replaced stays in the folder for ten minutes, until a flush removes it. The worker
    // may go on replacing what is left, so more than one such time may pass.
    #expect(
      try waitFor {
        clock.withLock { $0 += 660 * 1_000_000 }
        try database.put([1], [9])
        try database.flush()
        return try byteCount() * 5 < full
      })
    #expect(try StoreSample.contents(database).count == 11)
    try database.close()
    #expect(try StoreSample.contents(store.open()).count == 11)
  }

  @Test(arguments: StoreVolume.allCases)
  func aCompactionThatFailsKeepsLazyCommitsFromNothing(volume: StoreVolume) throws {
    var store = try makeStore(on: volume)
    let files = store.addFaults()
    let database = try store.open()
    files.plan(Fault(.error(5), at: 1, of: [.freeSpace], isLasting: true))
    let findings = Findings()
    write(database, rounds: 1...30, findings)
    #expect(findings.all == [])
    #expect(try waitFor { try database.statistics().backgroundFailure != nil })
    let syncCount = try database.statistics().syncCount
    try database.put([1], [1], durability: .lazyWithin(.milliseconds(1)))
    #expect(try waitFor { try database.statistics().syncCount > syncCount })
    // The lock is given up after an idle second as well.
    let other = try Database(at: store.path, in: files, options: DatabaseOptions.readOnlySample)
    #expect(try other.value(forKey: [0]) == [30])
    files.plan()
  }

  @Test(arguments: StoreVolume.allCases)
  func aHandlerMayEndTheHandleOnItsOwnThread(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let box = Lock<Database?>(nil)
    let wasClosed = Lock(false)
    var options = store.options
    options.eventHandler = { event in
      guard case .compacted = event else { return }
      let database = box.withLock { database in
        defer { database = nil }
        return database
      }
      guard let database else { return }
      try? database.suspend()
      try? database.close()
      wasClosed.withLock { $0 = true }
    }
    do {
      let database = try Database(at: store.path, in: store.files, options: options)
      box.withLock { $0 = database }
      for key in 0..<20 as Range<UInt8> {
        guard (try? database.put([key], [key])) != nil else { break }
        try? database.flush()
      }
    }
    #expect(try waitFor { wasClosed.withLock { $0 } })
    #expect(try store.open().value(forKey: [3]) == [3])
  }

  @Test(arguments: StoreVolume.allCases)
  func everythingGoesWithTheHandle(volume: StoreVolume) throws {
    final class Weak { weak var worker: BackgroundWorker? }
    let weak = Weak()
    let findings = Findings()
    do {
      let database = try makeStore(on: volume).open()
      weak.worker = database.worker
      write(database, rounds: 1...40, findings)
      #expect(weak.worker != nil)
    }
    #expect(try waitFor { weak.worker == nil })
    #expect(findings.all == [])
  }
}

extension DatabaseOptions {
  fileprivate static var readOnlySample: DatabaseOptions {
    var options = DatabaseOptions()
    options.isReadOnly = true
    return options
  }
}
