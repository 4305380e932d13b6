import KVTestSupport
import Testing

@testable import KVEngine

/// How a handle gives the lock up and comes back.
@Suite struct LifecycleTests {
  private static let late = Durability.lazyWithin(.seconds(3600))

  private func store(_ files: any FileSystem, isAlive: Bool) -> StoreSample {
    var store = StoreSample(files, isTiny: true)
    store.options.worksInBackground = isAlive
    return store
  }

  private func store(on volume: StoreVolume, isAlive: Bool) throws -> StoreSample {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.worksInBackground = isAlive
    return store
  }

  /// What a power cut at this moment certainly leaves.
  private func durableKeys(_ recording: RecordingFileSystem) throws -> Set<[UInt8]> {
    let image = recording.image(after: recording.operationCount, variant: .strict)
    return Set(try StoreSample.contents(store(image, isAlive: false).open()).keys)
  }

  @Test(.bug(id: "B53"), arguments: StoreVolume.allCases)
  func processesTakeTurnsWithoutACall(volume: StoreVolume) throws {
    let store = try store(on: volume, isAlive: true)
    let handles = [try store.open(), try store.open(process: 2)]
    var expected: [[UInt8]: [UInt8]] = [:]
    for turn in 0..<4 as Range<UInt8> {
      let handle = handles[Int(turn) % 2]
      let isTaken = try eventually {
        do throws(DatabaseError) {
          try handle.put([turn], [turn], durability: turn == 2 ? Self.late : .full)
          return true
        } catch {
          guard error == .alreadyOpen else { throw error }
          return false
        }
      }
      #expect(isTaken)
      expected[[turn]] = [turn]
      #expect(try StoreSample.contents(handle) == expected)
    }
    #expect(try StoreSample.contents(handles[0]) == expected)
    for handle in handles { try handle.close() }
    #expect(try StoreSample.contents(store.open()) == expected)
  }

  @Test(.bug(id: "B53"), arguments: [false, true])
  func suspendingMakesLazyCommitsDurableAndLetsOthersWrite(isAlive: Bool) throws {
    let recording = RecordingFileSystem()
    let store = store(recording, isAlive: isAlive)
    let database = try store.open()
    try database.put([1], [1])
    try database.put([2], [2], durability: Self.late)
    try database.suspend()
    try database.suspend()
    #expect(try durableKeys(recording) == [[1], [2]])
    #expect(throws: DatabaseError.suspended) { try database.put([3], [3]) }
    #expect(throws: DatabaseError.suspended) { try database.flush() }
    #expect(throws: DatabaseError.suspended) { try database.compact() }
    #expect(throws: DatabaseError.suspended) { try database.space("new") }
    let snapshot = try database.snapshot()

    let other = try store.open(in: recording.process(2))
    try other.put([9], [1])
    try other.put([4], [4])
    try other.flush()
    try other.close()
    // Reads go on, and show what others write.
    #expect(try StoreSample.contents(database) == [[1]: [9], [2]: [2], [4]: [4]])
    try database.resume()
    try database.resume()
    #expect(try StoreSample.contents(database) == [[1]: [9], [2]: [2], [4]: [4]])
    #expect(try snapshot.value(forKey: [1]) == [1])
    try database.put([5], [5])
    try database.close()
    let again = try store.open()
    #expect(try StoreSample.contents(again) == [[1]: [9], [2]: [2], [4]: [4], [5]: [5]])
  }

  @Test(arguments: StoreVolume.allCases, [false, true])
  func aSuspendedHandleClosesAndLeavesNoLock(volume: StoreVolume, isAlive: Bool) throws {
    let store = try store(on: volume, isAlive: isAlive)
    let database = try store.open()
    try database.put([1], [1])
    try database.suspend()
    try database.close()
    try database.close()
    #expect(throws: DatabaseError.closed) { try database.resume() }
    let other = try store.open(process: 2)
    try other.put([2], [2])
    try other.close()
    let again = try store.open()
    try again.put([3], [3])
    #expect(try StoreSample.contents(again).count == 3)
  }

  @Test(arguments: StoreVolume.allCases)
  func suspendingAHandleThatNeverWroteCreatesNothing(volume: StoreVolume) throws {
    let store = try store(on: volume, isAlive: true)
    let database = try store.open()
    try database.suspend()
    #expect(throws: DatabaseError.suspended) { try database.put([1], [1]) }
    #expect(try store.files.list(store.folder.path) == [])
    try database.resume()
    try database.put([1], [1])
    #expect(try StoreSample.contents(database) == [[1]: [1]])
  }

  @Test func aLazyCommitBecomesDurableWhileOthersFollow() throws {
    let recording = RecordingFileSystem()
    let database = try store(recording, isAlive: true).open()
    try database.put([0], [0])
    try database.put([1], [1], durability: .lazyWithin(.milliseconds(50)))
    // The handle is never idle, and what follows may be lost for an hour.
    let isDurable = try eventually {
      try database.put([2], [2], durability: Self.late)
      return try durableKeys(recording).contains([1])
    }
    #expect(isDurable)
  }

  @Test func theWriterSaysWhenTheNextLazyCommitIsDue() throws {
    let database = try store(MemoryFileSystem(), isAlive: false).open()
    func deadline() throws(DatabaseError) -> (next: UInt64?, lazy: UInt64?) {
      try database.pipeline.exclusively { ($0.deadline, $0.lazyDeadline) }
    }
    #expect(try deadline().next == nil)
    try database.put([0], [0])
    let idleEnd = try #require(try deadline().next)
    try database.put([1], [1], durability: .lazyWithin(.milliseconds(1)))
    let due = try deadline()
    #expect(due.lazy != nil && due.next == due.lazy)
    try database.put([1], [1], durability: Self.late)
    #expect(try deadline().next == due.next)
    #expect(idleEnd > 0)
    try database.suspend()
    #expect(try deadline().next == nil)
  }

  @Test func aFullDiskForCompactionsKeepsNeitherLockNorLazyCommits() throws {
    let recording = RecordingFileSystem()
    let files = FaultFileSystem(recording)
    let store = store(files, isAlive: true)
    let database = try store.open()
    files.plan(Fault(.error(28), at: 1, of: [.freeSpace], isLasting: true))
    for number in 0..<12 as Range<UInt8> {
      try database.put([number], [number])
      try database.flush()
    }
    try database.put([99], [99], durability: .lazyWithin(.milliseconds(1)))
    let other = try self.store(recording.process(2), isAlive: false).open()
    #expect(eventually { (try? other.put([1], [100])) != nil })
    #expect(files.wasHit)
    #expect(try durableKeys(recording).contains([99]))
    #expect(try database.statistics().compactionCount == 0)
    try other.close()
    try database.close()
  }

  @Test(arguments: StoreVolume.allCases)
  func statisticsAddUp(volume: StoreVolume) throws {
    var store = try store(on: volume, isAlive: false)
    store.options.logByteCount = 1 << 20
    let database = try store.open()
    for number in 0..<10 as Range<UInt8> { try database.put([number], [number]) }
    try database.put([10], [10], durability: Self.late)
    var found = try database.statistics()
    #expect(found.commitCount == 11 && found.recordCount == 11 && found.syncCount == 10)
    #expect(found.logByteCount > found.batchByteCount && found.batchByteCount >= 22)
    #expect(found.segmentCount == 0 && found.flushCount == 0 && found.pinnedByteCount == 0)
    try database.flush()
    try database.flush()
    found = try database.statistics()
    #expect(found.flushCount == 1 && found.segmentCount == 1)
    #expect(found.flushByteCount == found.segmentByteCount && found.manifestByteCount > 0)

    let snapshot = try database.snapshot()
    try database.put([11], [11])
    try database.compact()
    found = try database.statistics()
    #expect(found.snapshotCount == 1 && found.oldestSnapshotAge > .zero)
    #expect(found.compactionCount == 1 && found.segmentCount == 1)
    #expect(found.compactionByteCount == found.segmentByteCount)
    #expect(found.pinnedByteCount > 0 && found.writeAmplification > 1)
    #expect(try snapshot.value(forKey: [11]) == nil)
    try dropped(snapshot, of: database)
  }

  private func dropped(_ snapshot: consuming Snapshot, of database: Database) throws {
    _ = consume snapshot
    try database.releaseMemory()
    #expect(try database.value(forKey: [11]) == [11])
  }
}
