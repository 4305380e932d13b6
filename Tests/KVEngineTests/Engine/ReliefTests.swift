import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// The thread behind the writers when it cannot do its work, and writers that do some of it.
@Suite struct ReliefTests {
  private func makeStore(on volume: StoreVolume) throws -> StoreSample {
    var store = try CompactionSample.store(on: volume)
    store.options.logByteCount = 4096
    // Flushes belong to the smallest tier, as they do by default.
    store.options.segmentByteCount = Limits.Segment.defaultByteCount
    store.options.worksInBackground = true
    return store
  }

  private func write(_ round: Int, to database: Database, spaces: [Space]) throws {
    var batch = WriteBatch()
    for number in 0..<100 {
      let key = [UInt8(round), UInt8(number)]
      for space in spaces {
        batch.put([UInt8](repeating: UInt8(round), count: 30), forKey: key, in: space)
      }
    }
    try database.write(batch)
    try database.flush()
  }

  private func waitFor(_ condition: () throws -> Bool) throws -> Bool {
    for _ in 0..<20_000 {
      if try condition() { return true }
      usleep(1000)
    }
    return false
  }

  @Test(arguments: StoreVolume.allCases, [[Space.standard], [.standard, Space(code: 70)]])
  func commitsThatOutrunALongMergeMergeFlushesThemselves(
    volume: StoreVolume, spaces: [Space]
  ) throws {
    let store = try makeStore(on: volume)
    let database = try store.open()
    // One less than is merged by itself.
    for round in 0..<3 { try write(round, to: database, spaces: spaces) }
    // A merge that stands still, as one of many large segments seems to.
    let isHeld = Lock(true)
    let hasBegun = Lock(false)
    let hasEnded = Lock(false)
    let findings = Findings()
    Thread {
      findings.catching("merge") {
        _ = try database.compactor.step(isRequested: true) {
          hasBegun.withLock { $0 = true }
          while isHeld.withLock({ $0 }) { usleep(1000) }
          return false
        }
      }
      hasEnded.withLock { $0 = true }
    }.start()
    #expect(try waitFor { hasBegun.withLock { $0 } })
    var largest = 0
    for round in 3..<40 {
      try write(round, to: database, spaces: spaces)
      largest = max(largest, (1...40).last(where: database.compactor.hasWaitingFlushes) ?? 0)
    }
    isHeld.withLock { $0 = false }
    #expect(try waitFor { hasEnded.withLock { $0 } })
    #expect(largest >= CompactionPolicy.crowdedCount)
    // What has been merged once may still be small.
    #expect(largest <= CompactionPolicy.fullCount + 3 * spaces.count)
    #expect(findings.all == [])
    let content = try StoreSample.contents(database)
    #expect(content.count == 4000)
    #expect(content.allSatisfy { $0.value == [UInt8](repeating: $0.key[0], count: 30) })
    #expect(try database.verify().isSound)
    try database.close()
  }

  @Test(arguments: StoreVolume.allCases)
  func aRequestTakesTheTurnOfAMergeThatRunsByItself(volume: StoreVolume) throws {
    var store = try makeStore(on: volume)
    store.options.worksInBackground = false
    let database = try store.open()
    let spaces = try ["a", "b", "c"].map(database.space)
    for round in 0..<8 { try write(round, to: database, spaces: spaces) }
    let hasBegun = Lock(false)
    let outcome = Lock<DatabaseError?>(nil)
    let hasEnded = Lock(false)
    Thread {
      do throws(DatabaseError) {
        _ = try database.compactor.step(isRequested: false) {
          hasBegun.withLock { $0 = true }
          while !database.compactor.isAwaited { usleep(1000) }
          return false
        }
      } catch {
        outcome.withLock { $0 = error }
      }
      hasEnded.withLock { $0 = true }
    }.start()
    #expect(try waitFor { hasBegun.withLock { $0 } })
    try database.compact()
    #expect(try waitFor { hasEnded.withLock { $0 } })
    #expect(outcome.withLock { $0 } == .cancelled)
    #expect(try database.verify().isSound)
    try database.close()
  }

  @Test(.bug(id: "B59"), arguments: StoreVolume.allCases)
  func aMergeThatFailsIsNotTriedAgainAtOnce(volume: StoreVolume) throws {
    var store = try makeStore(on: volume)
    let files = store.addFaults()
    let failureCount = Lock(0)
    store.options.eventHandler = { event in
      if case .backgroundFailure = event { failureCount.withLock { $0 += 1 } }
    }
    let database = try store.open()
    let spaces = [Space.standard, Space(code: 70)]
    database.worker?.pause()
    for round in 0..<4 { try write(round, to: database, spaces: spaces) }
    files.plan(Fault(.error(27), at: 1, of: [.open], isLasting: true))
    database.worker?.unpause()
    #expect(try waitFor { failureCount.withLock { $0 } > 0 })
    usleep(300_000)
    #expect(failureCount.withLock { $0 } <= 3)
    // With the next flush it is.
    files.plan()
    try write(4, to: database, spaces: spaces)
    #expect(try waitFor { try database.statistics().compactionCount > 0 })
    #expect(try StoreSample.contents(database).count == 500)
    try database.close()
  }
}
