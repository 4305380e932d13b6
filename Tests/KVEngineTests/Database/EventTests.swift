import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// Events come one at a time, in order, and a handler may do anything.
@Suite struct EventTests {
  /// What a handler has seen, and the database that it uses.
  private final class Observer: Sendable {
    let events = Lock<[DatabaseEvent]>([])
    let database = Lock<Database?>(nil)
    let activeCount = Lock(0)
    let wasConcurrent = Lock(false)
    let finishedCount = Lock(0)

    func see(_ event: DatabaseEvent, _ body: (Database) -> Void) {
      let active = activeCount.withLock { count in
        count += 1
        return count
      }
      if active > 1 { wasConcurrent.withLock { $0 = true } }
      events.withLock { $0.append(event) }
      if let database = database.withLock({ $0 }) { body(database) }
      activeCount.withLock { $0 -= 1 }
      finishedCount.withLock { $0 += 1 }
    }
  }

  private func store(
    _ observer: Observer, isAlive: Bool = false, on volume: StoreVolume,
    _ body: @escaping @Sendable (Database, DatabaseEvent) -> Void
  ) throws -> StoreSample {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.worksInBackground = isAlive
    store.options.eventHandler = { event in observer.see(event) { body($0, event) } }
    return store
  }

  private func isFlush(_ event: DatabaseEvent) -> Bool {
    if case .flushed = event { return true }
    return false
  }

  @Test(.bug(id: "B89"), arguments: StoreVolume.allCases)
  func aHandlerMayUseTheDatabase(volume: StoreVolume) throws {
    let observer = Observer()
    let findings = Findings()
    let store = try store(observer, on: volume) { database, event in
      guard case .flushed = event, observer.events.withLock({ $0.count }) < 4 else { return }
      findings.catching("in the handler") {
        try database.put([1], [UInt8(observer.events.withLock { $0.count })])
        try database.flush()
        try database.compact()
        try database.suspend()
        try database.resume()
      }
    }
    let database = try store.open()
    observer.database.withLock { $0 = database }
    try database.put([0], [0])
    try database.flush()
    #expect(findings.all == [])
    let events = observer.events.withLock { $0 }
    #expect(events.count(where: isFlush) >= 3)
    #expect(events.contains { if case .compacted = $0 { true } else { false } })
    #expect(!observer.wasConcurrent.withLock { $0 })
    #expect(try StoreSample.contents(database).count >= 3)
    observer.database.withLock { $0 = nil }
  }

  @Test(arguments: StoreVolume.allCases, [false, true])
  func aSlowHandlerSeesEveryFlushOfManyThreadsInOrder(
    volume: StoreVolume, isAlive: Bool
  ) throws {
    let observer = Observer()
    let findings = Findings()
    let store = try store(observer, isAlive: isAlive, on: volume) { database, _ in
      findings.catching("read") { _ = try database.value(forKey: [0]) }
      usleep(2000)
    }
    let database = try store.open()
    observer.database.withLock { $0 = database }
    onThreads(4) { thread in
      for number in 0..<20 as Range<UInt8> {
        findings.catching("write") {
          try database.put([UInt8](repeating: number, count: 700), [UInt8(thread), number])
        }
      }
    }
    observer.database.withLock { $0 = nil }
    try database.close()
    #expect(findings.all == [])
    let flushed = observer.events.withLock { $0 }.count(where: isFlush)
    #expect(flushed > 5)
    #expect(flushed == database.state.metrics.current.flushCount)
    #expect(!observer.wasConcurrent.withLock { $0 })
  }

  @Test(arguments: StoreVolume.allCases)
  func aHandlerOnTheStoresOwnThreadMaySuspendAndClose(volume: StoreVolume) throws {
    let observer = Observer()
    let findings = Findings()
    var store = try store(observer, isAlive: true, on: volume) { database, event in
      guard case .backgroundFailure = event else { return }
      findings.catching("in the handler") {
        try database.suspend()
        try database.close()
      }
    }
    let files = store.addFaults()
    let database = try store.open()
    files.plan(Fault(.error(28), at: 1, of: [.freeSpace], isLasting: true))
    observer.database.withLock { $0 = database }
    let isDone = eventually {
      // Until the thread has tried a compaction and the handler has closed the store.
      if (try? database.put([1], [1])) != nil { try? database.flush() }
      return observer.finishedCount.withLock { $0 } > 0 && (try? database.statistics()) == nil
    }
    #expect(isDone)
    #expect(findings.all == [])
    observer.database.withLock { $0 = nil }
  }

  @Test(arguments: StoreVolume.allCases)
  func aFailedSyncIsToldOnce(volume: StoreVolume) throws {
    let observer = Observer()
    var store = try store(observer, on: volume) { _, _ in }
    let files = store.addFaults()
    let database = try store.open()
    try database.put([1], [1])
    files.plan(Fault(.error(5), at: 1, of: [.sync]))
    #expect(throws: DatabaseError.self) { try database.put([2], [2]) }
    #expect(throws: DatabaseError.failed) { try database.put([3], [3]) }
    #expect(observer.events.withLock { $0 } == [.failed(.failed)])
  }
}
