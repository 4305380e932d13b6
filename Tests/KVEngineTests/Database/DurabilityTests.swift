import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// What an acknowledged commit means, and what one that fails.
@Suite struct DurabilityTests {
  private static let late = Durability.lazyWithin(.seconds(3600))

  private func syncCount(_ database: Database) throws -> Int {
    try database.statistics().syncCount
  }

  @Test(arguments: StoreVolume.allCases)
  func onlyAFullCommitWaitsForASync(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    try database.put([0], [0])
    func syncs(_ batch: WriteBatch, _ durability: Durability) throws -> Int {
      let before = try syncCount(database)
      try database.write(batch, durability: durability)
      return try syncCount(database) - before
    }
    var batch = WriteBatch()
    batch.put([1], forKey: [1])
    #expect(try syncs(batch, .full) == 1)
    #expect(try syncs(batch, Self.late) == 0)
    #expect(try syncs(batch, Self.late) == 0)
    // A full commit of nothing is the way to make lazy ones durable, once.
    #expect(try syncs(WriteBatch(), .full) == 1)
    #expect(try syncs(WriteBatch(), .full) == 0)
    #expect(try syncs(batch, .full) == 1)
  }

  @Test(arguments: StoreVolume.allCases)
  func aLazyCommitIsSyncedInItsTimeWithoutACall(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    store.options.worksInBackground = true
    let database = try store.open()
    try database.put([0], [0])
    let before = try syncCount(database)
    try database.put([1], [1], durability: .lazyWithin(.milliseconds(20)))
    #expect(try eventually { try syncCount(database) > before })
  }

  @Test(arguments: StoreVolume.allCases)
  func commitsOfSeveralThreadsShareASync(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    let hooks = HookedFileSystem(store.files)
    store.files = hooks
    let database = try store.open()
    try database.put([0], [0])
    let before = try syncCount(database)
    let arrived = Lock(0)
    // The sync of the first commit lasts until the others have come, and a while.
    hooks.before(1, .sync, of: ".log") {
      _ = eventually { arrived.withLock { $0 } == 8 }
      usleep(200_000)
    }
    let findings = Findings()
    onThreads(8) { thread in
      arrived.withLock { $0 += 1 }
      findings.catching("write") {
        try database.put([UInt8(thread)], [1, UInt8(thread)])
        // It is seen when the call returns.
        let found = try database.value(forKey: [1, UInt8(thread)])
        findings.check(found == [UInt8(thread)], "thread \(thread) sees \(found ?? [])")
      }
    }
    #expect(findings.all == [])
    let syncs = try syncCount(database) - before
    #expect(syncs < 6, "\(syncs) syncs for 8 commits")
    try database.close()
    #expect(try StoreSample.contents(store.open()).count == 9)
  }

  @Test(.bug(id: "B65"), arguments: StoreVolume.allCases)
  func aFailedSyncIsFinal(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    let files = store.addFaults()
    let database = try store.open()
    try database.put([1], [1])
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    let cause = IOFailure(operation: "sync", fileName: "000001.log", code: EIO)
    #expect(throws: DatabaseError.outcomeUnknown(cause)) { try database.put([2], [2]) }
    files.plan()
    // However healthy the volume is by now.
    for durability in [Durability.full, Self.late] {
      #expect(throws: DatabaseError.failed) { try database.put([3], [3], durability: durability) }
    }
    #expect(throws: DatabaseError.failed) { try database.flush() }
    #expect(throws: DatabaseError.failed) { try database.space("new") }
    #expect(try StoreSample.contents(database) == [[1]: [1]])
    try database.close()
    let again = try store.open()
    var expected: [[UInt8]: [UInt8]] = [[1]: [1]]
    // Unknown means that it may be there, and then it stays.
    if try again.value(forKey: [2]) == [2] { expected[[2]] = [2] }
    try again.put([4], [4])
    expected[[4]] = [4]
    try again.flush()
    #expect(try again.verify().isSound)
    try again.close()
    #expect(try StoreSample.contents(store.open()) == expected)
  }

  @Test(arguments: StoreVolume.allCases)
  func aLazyCommitWhoseSyncFailsIsToldAtTheNextChance(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    let files = store.addFaults()
    let database = try store.open()
    try database.put([1], [1])
    try database.put([2], [2], durability: Self.late)
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    let cause = IOFailure(operation: "sync", fileName: "000001.log", code: EIO)
    #expect(throws: DatabaseError.outcomeUnknown(cause)) { try database.suspend() }
    files.plan()
    // The lock is given up all the same.
    let other = try store.open(process: 2)
    try other.put([3], [3])
    #expect(try other.value(forKey: [1]) == [1])
    try other.close()
    try database.resume()
    #expect(throws: DatabaseError.failed) { try database.put([4], [4]) }
    try database.close()
    let again = try store.open()
    #expect(try again.value(forKey: [3]) == [3])
    #expect(try again.verify().isSound)
  }

  @Test(arguments: StoreVolume.allCases)
  func whatFailsBeforeTheLogIsNotWritten(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    let files = store.addFaults()
    let database = try store.open()
    for (operation, name) in [
      (.makeDirectory, "store"), (.lock, "LOCK"), (.rename, "000001.log.tmp"),
    ] as [(SystemError.Operation, String)] {
      files.plan(Fault(.error(EIO), at: 1, of: [operation]))
      let cause = IOFailure(operation: operation.rawValue, fileName: name, code: EIO)
      #expect(throws: DatabaseError.notWritten(cause)) { try database.put([1], [1]) }
      files.plan()
      #expect(try StoreSample.contents(database) == [:])
    }
    // The handle goes on.
    try database.put([2], [2])
    try database.close()
    #expect(try StoreSample.contents(store.open()) == [[2]: [2]])
  }

  /// After another error than a full disk nobody knows what became of the bytes.
  @Test(
    .bug(id: "B14"), arguments: StoreVolume.allCases,
    [Fault.Progress.nothing, .part, .everything])
  func aFailedWriteOfTheLogIsOfUnknownOutcome(
    volume: StoreVolume, progress: Fault.Progress
  ) throws {
    var store = try StoreSample(on: volume)
    let files = store.addFaults()
    let database = try store.open()
    try database.put([1], [1])
    files.plan(Fault(.error(EIO, after: progress), at: 1, of: [.write]))
    let error = #expect(throws: DatabaseError.self) { try database.put([2], [2, 2, 2]) }
    #expect(files.wasHit)
    files.plan()
    #expect(try StoreSample.contents(database) == [[1]: [1]])
    let cause = IOFailure(operation: "write", fileName: "000001.log", code: EIO)
    #expect(error == .outcomeUnknown(cause))
    #expect(throws: DatabaseError.failed) { try database.put([3], [3]) }
    try database.close()
    let again = try store.open()
    let isThere = try again.value(forKey: [2, 2, 2]) == [2]
    if case .everything = progress { #expect(isThere) } else { #expect(!isThere) }
    #expect(try StoreSample.contents(again).count == (isThere ? 2 : 1))
    try again.put([4], [4])
    #expect(try again.verify().isSound)
  }
}
