import KVTestSupport
import Testing

@testable import KVEngine

/// Opening for reading while another process writes.
@Suite struct RecoveryRaceTests {
  /// The keys that a reader finds when `body` runs before the n-th call of a kind on some file.
  private func keys(
    in store: StoreSample, whenBefore position: Int, _ operation: SystemError.Operation,
    of name: String, _ body: @escaping @Sendable () throws -> Void
  ) throws -> Set<[UInt8]> {
    let hooked = HookedFileSystem(store.files)
    let findings = Findings()
    hooked.before(position, operation, of: name) { findings.catching("writer") { try body() } }
    var reading = store
    reading.options.isReadOnly = true
    let database = try reading.open(in: hooked)
    #expect(findings.all == [])
    return Set(try StoreSample.contents(database).keys)
  }

  @Test(.bug(id: "B52"), arguments: StoreVolume.allCases)
  func aStoreThatIsMadeMeanwhileIsNotDamaged(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    try store.files.makeDirectory(store.path)
    let found = try keys(in: store, whenBefore: 1, .list, of: "/store") {
      let database = try store.open(process: 2)
      try database.put([1], [1])
      try database.close()
    }
    #expect(found == [[1]])
  }

  @Test(.bug(id: "B52"), arguments: StoreVolume.allCases)
  func aStoreThatIsMadeWhileItsFirstLogIsLookedAtIsNotDamaged(volume: StoreVolume) throws {
    // A creation that got as far as log 1.
    let store = try StoreSample(on: volume)
    try store.files.makeDirectory(store.path)
    let preamble = LogPreamble(
      lastSequence: 0, predecessor: 0, predecessorByteCount: 0, predecessorLastSequence: 0,
      predecessorChain: 0)
    try store.files.create(
      store["000001.log"],
      LogWriter.emptyLog(number: 1, store: LogSample.store, preamble: preamble))
    let found = try keys(in: store, whenBefore: 1, .open, of: "/000001.log") {
      let database = try store.open(process: 2)
      try database.put([1], [1])
      try database.close()
    }
    #expect(found == [[1]])
  }

  @Test(.bug(id: "B52"), arguments: StoreVolume.allCases, 1...6)
  func recordsThatAreWrittenWhileTheLogIsReadAreNoDamage(volume: StoreVolume, page: Int) throws {
    // Durable commits over several pages, made while the reader is between two of them: it has
    // read zeros where now a record is, and will read a later record that calls it durable.
    var store = try StoreSample(on: volume)
    store.options.zeroStepByteCount = 1 << 15
    let database = try store.open()
    try database.put([0], [0])
    let found = try keys(in: store, whenBefore: page, .read, of: "/000001.log") {
      for index in 1...30 as ClosedRange<UInt8> {
        try database.put([UInt8](repeating: index, count: 700), [index])
      }
    }
    // What the reader finds is a prefix.
    #expect(found.contains([0]))
    #expect(found == Set((0..<found.count).map { [UInt8($0)] }))
  }

  @Test(.bug(id: "B52"), arguments: StoreVolume.allCases)
  func aLogThatIsReplacedWhileItIsReadIsReadAnew(volume: StoreVolume) throws {
    for (operation, name) in [
      (.read, "/000001.log"), (.open, "/000001.log"), (.status, "/MANIFEST"),
    ] as [(SystemError.Operation, String)] {
      var store = try StoreSample(on: volume)
      let database = try store.open(process: 2)
      try database.put([1], [1])
      let hooked = HookedFileSystem(store.files)
      let findings = Findings()
      hooked.before(1, operation, of: name) { [store] in
        findings.catching("writer") {
          try database.put([2], [2])
          try database.flush()
          try store.files.unlink(store["000001.log"])
          try database.put([3], [3])
        }
      }
      store.options.isReadOnly = true
      let reader = try store.open(in: hooked)
      #expect(findings.all == [])
      #expect(try StoreSample.contents(reader).count == 3, "\(operation)")
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func aStateThatIsGoneAtEveryAttemptIsBusy(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    let database = try store.open(process: 2)
    try database.put([1], [1])
    let hooked = HookedFileSystem(store.files)
    let flushCount = Lock(0)
    let findings = Findings()
    // The log that is opened is always gone, and the MANIFEST another one than was read.
    hooked.beforeEvery(.open, of: ".log") { [store] in
      findings.catching("writer") {
        let logs = try store.files.list(store.path).filter { $0.hasSuffix(".log") }
        try database.put([2], [2])
        try database.flush()
        for log in logs { try store.files.unlink(store[log]) }
        flushCount.withLock { $0 += 1 }
      }
    }
    store.options.isReadOnly = true
    #expect(throws: DatabaseError.busy) { try store.open(in: hooked) }
    #expect(findings.all == [])
    #expect(flushCount.withLock { $0 } == 10)
  }

  @Test(arguments: StoreVolume.allCases)
  func noEarlierStateIsTakenWhileTheNewestOneChanges(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    let database = try store.open()
    try database.put([1], [1])
    try database.flush()
    try database.close()
    let log = try #require(try store.names().filter { $0.hasSuffix(".log") }.max())
    try store.files.unlink(store[log])
    let bytes = try store.files.bytes(of: store["MANIFEST"])
    let hooked = HookedFileSystem(store.files)
    let findings = Findings()
    // Whoever looks for an earlier state lists the folder.
    hooked.beforeEvery(.list, of: "/store") { [store] in
      findings.catching("writer") {
        try store.files.create(store["new"], bytes)
        try store.files.rename(store["new"], to: store["MANIFEST"])
      }
    }
    store.options.onDamage = .openEarlierState
    store.options.isReadOnly = true
    #expect(throws: DatabaseError.busy) { try store.open(in: hooked) }
    #expect(findings.all == [])
    // At rest the state before is complete.
    #expect(try StoreSample.contents(store.open()) == [[1]: [1]])
  }
}
