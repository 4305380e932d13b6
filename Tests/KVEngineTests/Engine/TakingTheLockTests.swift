import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// A first write for which the store is not what it was at the opening, and calls that come too
/// late.
@Suite struct TakingTheLockTests {
  private func batch(_ key: UInt8) -> WriteBatch {
    var batch = WriteBatch()
    batch.put([key], forKey: [key])
    return batch
  }

  /// The folder goes before or behind the lock; it must not come back as an empty store.
  @Test(
    arguments: StoreVolume.allCases,
    [[.lock], [.open, .list]] as [Set<SystemError.Operation>])
  func aStoreThatIsGoneIsNotFound(
    volume: StoreVolume, operations: Set<SystemError.Operation>
  ) throws {
    var store = try StoreSample(on: volume)
    let first = try store.open()
    try first.put([1], [1])
    try first.close()
    let files = store.addFaults()
    store.options.createIfMissing = false
    let database = try store.open()
    files.plan(Fault(.error(ENOENT), at: 1, of: operations, isLasting: true))
    let name = operations.contains(.lock) ? "LOCK" : store.path
    #expect(throws: DatabaseError.notFound(fileName: name)) { try database.put([2], [2]) }
    files.plan()
    // No lock is left.
    try database.put([2], [2])
    #expect(try StoreSample.contents(database) == [[1]: [1], [2]: [2]])
  }

  @Test(arguments: StoreVolume.allCases)
  func aStoreThatVanishesWhileItIsMadeIsNotFoundAndMadeAnew(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let files = HookedFileSystem(store.files)
    let database = try store.open(in: files)
    let findings = Findings()
    // The first look finds nothing, the second what was made.
    files.before(2, .open, of: "/MANIFEST") { [store] in
      findings.catching("removal") {
        for name in try store.files.list(store.path) where name.hasPrefix("MANIFEST") {
          try store.files.unlink(store[name])
        }
      }
    }
    #expect(throws: DatabaseError.notFound(fileName: store.path)) { try database.put([1], [1]) }
    #expect(findings.all == [])
    try database.put([1], [1])
    #expect(try StoreSample.contents(database) == [[1]: [1]])
    try database.close()
    #expect(try StoreSample.contents(store.open()) == [[1]: [1]])
  }

  /// A commit that was checked before the handle was closed by another thread.
  @Test func aCommitBehindTheCloseIsRefused() throws {
    let store = StoreSample()
    let database = try store.open()
    try database.put([1], [1])
    try database.close()
    #expect(throws: DatabaseError.closed) {
      try database.pipeline.commit(CommitRequest(batch: batch(2), durability: .full))
    }
    #expect(throws: DatabaseError.closed) {
      try database.pipeline.exclusively { writer throws(DatabaseError) in _ = try writer.begin() }
    }
    #expect(try StoreSample.contents(store.open()) == [[1]: [1]])
  }

  /// A compaction that runs on when its handle is released asks for the writer more than once.
  @Test(.timeLimit(.minutes(1))) func nobodyWaitsForAWriterThatIsGone() throws {
    let store = StoreSample()
    let database = try store.open()
    try database.put([1], [1])
    database.pipeline.abandon()
    for _ in 0..<2 {
      #expect(throws: DatabaseError.closed) {
        try database.pipeline.commit(CommitRequest(batch: batch(2), durability: .full))
      }
      #expect(throws: DatabaseError.closed) {
        try database.pipeline.exclusively { writer in writer.maintain() }
      }
    }
    let findings = Findings()
    onThreads(4) { _ in
      do throws(DatabaseError) {
        try database.pipeline.exclusively { writer in writer.maintain() }
        findings.check(false, "there is a writer")
      } catch {
        findings.check(error == .closed, "\(error)")
      }
    }
    #expect(findings.all == [])
  }
}
