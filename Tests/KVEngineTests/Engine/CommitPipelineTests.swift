import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Many threads that write at the same time.
@Suite struct CommitPipelineTests {
  private static let threadCount = 16
  private static let commitCount = 50

  @Test func everyCommitOfEveryThreadIsThereOnceInTheOrderOfItsSequences() throws {
    let recording = RecordingFileSystem()
    let store = StoreSample(recording)
    let database = try store.open()
    let committed = Lock<[UInt64: [UInt8]]>([:])
    let findings = Findings()
    onThreads(Self.threadCount) { thread in
      var newest: UInt64 = 0
      for index in 0..<Self.commitCount {
        findings.catching("thread \(thread)") {
          var batch = WriteBatch()
          let name = [UInt8(thread), UInt8(index)]
          batch.put(name, forKey: name)
          batch.put(name, forKey: [0xFF])
          let durability: Durability = index.isMultiple(of: 3) ? .full : .lazy
          let sequence = try database.write(batch, durability: durability)
          findings.check(sequence > newest, "sequence of thread \(thread)")
          newest = sequence
          let isNew = committed.withLock { $0.updateValue(name, forKey: sequence) == nil }
          findings.check(isNew, "sequence \(sequence) given twice")
          // A commit that returned is seen by the reads that follow.
          findings.check(try database.value(forKey: name) == name, "\(name) is not seen")
        }
      }
    }
    #expect(findings.all == [])
    let total = Self.threadCount * Self.commitCount
    let bySequence = committed.withLock { $0 }
    #expect(bySequence.count == total)
    #expect(bySequence.keys.sorted() == (1...UInt64(total)).map { 2 * $0 })
    // The newest sequence wins for the key that all of them wrote.
    let last = bySequence[2 * UInt64(total)]
    #expect(try database.value(forKey: [0xFF]) == last)
    try database.close()
    let again = try store.open()
    #expect(try StoreSample.contents(again).count == total + 1)
    #expect(try again.value(forKey: [0xFF]) == last)
    #expect(try again.snapshot().sequence == 2 * UInt64(total))
    // Commits shared their syncs: fewer of them than commits.
    #expect(recording.callCount([.write]) < 2 * total)
  }

  @Test(arguments: StoreVolume.allCases)
  func commitsFlushesAndClosingTakeTurns(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume, isTiny: true)
    let database = try store.open()
    let acknowledged = Lock<Set<[UInt8]>>([])
    let findings = Findings()
    onThreads(6) { thread in
      for index in 0..<40 {
        if thread == 0 {
          findings.catching("flush") { try database.flush() }
          continue
        }
        let name = [UInt8(thread), UInt8(index)]
        findings.catching("write") {
          try database.put([UInt8](repeating: UInt8(index), count: 100), name)
          acknowledged.withLock { _ = $0.insert(name) }
        }
      }
    }
    #expect(findings.all == [])
    onThreads(4) { thread in
      if thread == 0 {
        findings.catching("close") { try database.close() }
        return
      }
      for index in 0..<40 {
        let name = [UInt8(thread + 100), UInt8(index)]
        do throws(DatabaseError) {
          try database.put([], name)
          acknowledged.withLock { _ = $0.insert(name) }
        } catch {
          findings.check(error == .closed, "\(error)")
        }
      }
    }
    #expect(findings.all == [])
    let found = try StoreSample.contents(store.open())
    #expect(Set(found.keys) == acknowledged.withLock { $0 })
  }

  @Test func aFullCommitMakesTheLazyOnesBeforeItDurableEvenWithoutAnOperation() throws {
    for isEmpty in [false, true] {
      let recording = RecordingFileSystem()
      let database = try StoreSample(recording).open()
      try database.put([1], [1])
      try database.put([2], [2], durability: .lazy)
      func keys(_ variant: CrashVariant) throws -> Int {
        let image = recording.image(after: recording.operationCount, variant: variant)
        return try StoreSample.contents(StoreSample(image).open()).count
      }
      #expect(try keys(.strict) == 1 && keys(.everything) == 2)
      if isEmpty {
        #expect(try database.write(WriteBatch(), durability: .lazy) == 2)
        #expect(try keys(.strict) == 1)
        #expect(try database.write(WriteBatch()) == 2)
        #expect(try keys(.strict) == 2)
      } else {
        try database.put([3], [3])
        #expect(try keys(.strict) == 3)
      }
    }
  }

  @Test(.bug(id: "B65")) func everyBatchOfAGroupWhoseSyncFailedHearsOfIt() throws {
    let recording = RecordingFileSystem()
    let files = FaultFileSystem(recording)
    let store = StoreSample(files)
    let database = try store.open()
    try database.put([1], [1])
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    let group = (2...4 as ClosedRange<UInt8>).map { name in
      var batch = WriteBatch()
      batch.put([name], forKey: [name])
      return CommitRequest(batch: batch, durability: name == 3 ? .full : .lazy)
    }
    let results = try database.pipeline.exclusively { writer in writer.commit(group) }
    for result in results {
      guard case .failure(.outcomeUnknown) = result else {
        Issue.record("\(result)")
        continue
      }
    }
    // This handle shows none of them, writes nothing any more, and closes without a word.
    #expect(try StoreSample.contents(database) == [[1]: [1]])
    let before = recording.operationCount
    #expect(throws: DatabaseError.failed) { try database.put([5], [5]) }
    #expect(throws: DatabaseError.failed) { try database.flush() }
    try database.close()
    #expect(recording.operationCount == before)
    // The next one has all of them or none.
    let found = try StoreSample.contents(store.open())
    #expect(found.count == 4 || found.count == 1)
  }
}
