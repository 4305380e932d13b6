import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// A handle that gives the lock up in the midst of something: another process takes over, and
/// nothing is lost on either side.
@Suite struct SuspensionTests {
  /// Calls of a flush or a merge before which the suspension comes.
  enum Moment: String, CaseIterable {
    case segmentIsMade, segmentIsSynced, manifestIsMade, manifestIsSynced

    var call: (SystemError.Operation, String) {
      switch self {
      case .segmentIsMade: (.open, ".seg")
      case .segmentIsSynced: (.sync, ".seg")
      case .manifestIsMade: (.open, "MANIFEST.tmp")
      case .manifestIsSynced: (.sync, "MANIFEST.tmp")
      }
    }
  }

  private static let late = Durability.lazyWithin(.seconds(3600))

  /// A store with hooks, and a handle with some segments and lazy commits.
  private func makeStore(
    on volume: StoreVolume
  ) throws -> (StoreSample, HookedFileSystem, Database) {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.logByteCount = 1 << 20
    let hooks = HookedFileSystem(store.files)
    store.files = hooks
    let database = try store.open()
    for number in 0..<30 as Range<UInt8> {
      try database.put([number], [number], durability: Self.late)
      if number % 10 == 9, number < 29 { try database.flush() }
    }
    return (store, hooks, database)
  }

  /// Suspends on a thread of its own before a call, and tells when that has come to an end.
  private func suspend(
    _ database: Database, before moment: Moment, _ hooks: HookedFileSystem, _ findings: Findings
  ) -> SharedLock<Bool> {
    let isDone = SharedLock(false)
    let (operation, name) = moment.call
    hooks.before(1, operation, of: name) {
      Thread {
        findings.catching("suspend") { try database.suspend() }
        isDone.withLock { $0 = true }
      }.start()
      findings.check(eventually { database.isInterrupted }, "is not suspended")
    }
    return isDone
  }

  /// Whether a call came to its end; being interrupted is the other thing that may happen.
  private func succeeds(_ body: () throws(DatabaseError) -> Void) throws -> Bool {
    do throws(DatabaseError) {
      try body()
      return true
    } catch {
      guard error == .suspended || error == .cancelled else { throw error }
      return false
    }
  }

  /// Another process finds everything and writes; then the first one goes on.
  private func checkTurns(_ store: StoreSample, _ database: Database) throws {
    var expected: [[UInt8]: [UInt8]] = [:]
    for number in 0..<30 as Range<UInt8> { expected[[number]] = [number] }
    let other = try store.open(process: 2)
    #expect(try StoreSample.contents(other) == expected)
    try other.put([99], [3])
    try other.remove([4])
    (expected[[3]], expected[[4]]) = ([99], nil)
    try other.compact()
    try other.close()
    #expect(throws: DatabaseError.suspended) { try database.put([1], [1]) }
    #expect(try StoreSample.contents(database) == expected)
    try database.resume()
    try database.put([5, 5], [5])
    expected[[5]] = [5, 5]
    try database.compact()
    #expect(try StoreSample.contents(database) == expected)
    try database.close()
    let again = try store.open()
    #expect(try StoreSample.contents(again) == expected)
    #expect(try again.verify().isSound)
  }

  @Test(.bug(id: "B53"), arguments: StoreVolume.allCases, Moment.allCases)
  func inTheMidstOfAFlush(volume: StoreVolume, moment: Moment) throws {
    let (store, hooks, database) = try makeStore(on: volume)
    let findings = Findings()
    let isDone = suspend(database, before: moment, hooks, findings)
    _ = try succeeds { () throws(DatabaseError) in try database.flush() }
    #expect(eventually { isDone.withLock { $0 } })
    #expect(findings.all == [])
    try checkTurns(store, database)
  }

  @Test(.bug(id: "B53"), arguments: StoreVolume.allCases, Moment.allCases)
  func inTheMidstOfACompaction(volume: StoreVolume, moment: Moment) throws {
    let (store, hooks, database) = try makeStore(on: volume)
    try database.flush()
    let findings = Findings()
    let isDone = suspend(database, before: moment, hooks, findings)
    _ = try succeeds { () throws(DatabaseError) in try database.compact() }
    #expect(eventually { isDone.withLock { $0 } })
    #expect(findings.all == [])
    try checkTurns(store, database)
  }

  @Test(.bug(id: "B53"), arguments: StoreVolume.allCases, [false, true])
  func whileThreadsCommit(volume: StoreVolume, isAlive: Bool) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.worksInBackground = isAlive
    let database = try store.open()
    try database.put([0], [0])
    let findings = Findings()
    let acknowledged = Lock<Set<[UInt8]>>([[0]])
    let turnCount = Lock(0)
    onThreads(4) { [store] thread in
      if thread == 0 {
        for _ in 0..<5 {
          findings.catching("suspend") {
            usleep(10_000)
            try database.suspend()
            let other = try store.open(process: 2)
            // A copy of its own: one that shares storage with what goes on growing is a race to the
            // thread sanitizer, which does not see the reference counts of the standard library.
            let known = acknowledged.withLock { Array($0) }
            let found = Set(try StoreSample.contents(other).keys)
            findings.check(found.isSuperset(of: known), "\(found.count) of \(known.count)")
            let key = [200, UInt8(turnCount.withLock { $0 })]
            try other.put([1], key)
            acknowledged.withLock { _ = $0.insert(key) }
            try other.close()
            try database.resume()
          }
          turnCount.withLock { $0 += 1 }
        }
        return
      }
      var number: UInt8 = 0
      while turnCount.withLock({ $0 }) < 5, number < 250 {
        let key = [UInt8(thread), number]
        do throws(DatabaseError) {
          try database.put(
            [UInt8](repeating: number, count: 150), key,
            durability: number % 4 == 0 ? .full : Self.late)
          acknowledged.withLock { _ = $0.insert(key) }
          number += 1
        } catch {
          // The other process has the lock for a moment longer than the handle is suspended.
          findings.check(error == .suspended || error == .alreadyOpen, "\(error)")
          usleep(1000)
        }
      }
    }
    #expect(findings.all == [])
    try database.close()
    let again = try store.open()
    #expect(try Set(StoreSample.contents(again).keys) == acknowledged.withLock { $0 })
    #expect(try again.verify().isSound)
  }
}
