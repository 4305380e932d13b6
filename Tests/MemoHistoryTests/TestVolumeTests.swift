import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Testing

/// What an app is told when its volume fails, by the means that its own tests have.
@Suite struct TestVolumeTests {
  private let volume = TestVolume()

  private func memo(_ id: Int64) -> Memo { Memo(id: MemoID(id), body: "memo \(id)") }

  /// The name of a condition, without the cause.
  private func name(_ condition: MemoStoreCondition) -> String {
    switch condition {
    case .open: "open"
    case .openEarlierState: "earlier"
    case .readOnly: "readOnly"
    case .full: "full"
    case .notAvailableYet: "notAvailableYet"
    case .failed: "failed"
    }
  }

  @Test func aLockedStoreIsAvailableAfterResume() async throws {
    do {
      let store = try volume.open(Memo.self)
      try await store.insert(memo(1))
      try await store.close()
    }
    volume.fault = .locked
    let store = try volume.open(Memo.self)
    #expect(name(store.condition) == "notAvailableYet")
    #expect(throws: MemoError.self) { try store.latest(1) }
    await #expect(throws: MemoError.self) { try await store.insert(memo(2)) }
    await #expect(throws: MemoError.self) { try await store.resume() }
    volume.fault = nil
    #expect(throws: MemoError.self, "until somebody asks again") { try store.latest(1) }
    try await store.resume()
    #expect(store.condition == .open)
    #expect(try store.latest(9).map(\.id) == [MemoID(1)])
    try await store.insert(memo(2))
    #expect(try store.count() == 2)
  }

  /// An observer that came before the store could be read is shown the memos when it can.
  @Test @MainActor func aListFillsWhenTheStoreIsAvailable() async throws {
    let clock = ManualClock()
    let before = try volume.open(Memo.self)
    try await before.insert(memo(1))
    try await before.close()
    volume.fault = .locked
    let store = try volume.relaunch(Memo.self, clock: clock)
    let history = LiveHistory(store)
    #expect(history.items.isEmpty && history.error != nil)
    volume.fault = nil
    try await store.resume()
    await clock.advance(by: .milliseconds(300))
    #expect(history.items.map(\.id) == [MemoID(1)])
    #expect(history.error == nil)
    try await store.insert(memo(2))
    await clock.advance(by: .milliseconds(300))
    #expect(history.items.count == 2)
  }

  @Test func aFullDiskIsAConditionUntilAWriteSucceeds() async throws {
    let store = try volume.open(Memo.self)
    try await store.insert(memo(1))
    volume.fault = .diskFull
    var isRefused = false
    // The log has room of its own at first.
    for id in 2..<10_000 where !isRefused {
      let memo = Memo(id: MemoID(Int64(id)), body: String(repeating: "x", count: 5_000))
      do { try await store.insert(memo) } catch { isRefused = true }
    }
    #expect(isRefused)
    #expect(name(store.condition) == "full")
    #expect(try store.memo(for: MemoID(1))?.body == "memo 1")
    volume.fault = nil
    try await store.insert(memo(0))
    #expect(store.condition == .open)
  }

  @Test func aVolumeForReadingOnlyIsReadAndSaysSo() async throws {
    let writer = try volume.open(Memo.self)
    try await writer.insert(memo(1))
    try await writer.close()
    volume.fault = .readOnly
    let store = try volume.relaunch(Memo.self)
    #expect(try store.latest(9).map(\.id) == [MemoID(1)])
    #expect(store.condition == .open)
    await #expect(throws: MemoError.self) { try await store.insert(memo(2)) }
    #expect(name(store.condition) == "readOnly")
    #expect(try store.count() == 1)
    volume.fault = nil
    try await store.insert(memo(2))
    #expect(store.condition == .open)
  }

  @Test func aFailedSyncNeedsANewLaunch() async throws {
    let store = try volume.open(Memo.self)
    try await store.insert(memo(1))
    volume.fault = .failingSync
    await #expect(throws: MemoError.self) { try await store.insert(memo(2)) }
    volume.fault = nil
    let next = try volume.relaunch(Memo.self)
    #expect(try next.memo(for: MemoID(1)) != nil)
    try await next.insert(memo(3))
    #expect(next.condition == .open)
  }

  @Test func whatIsDamagedIsAnErrorAndTheRestIsRead() async throws {
    let store = try volume.open(Memo.self)
    try await store.insert(memo(1))
    try await store.purge()
    try await store.close()
    #expect(try volume.damage() > 0)
    let next = try volume.relaunch(Memo.self)
    try await next.insert(memo(2))
    #expect(try next.latest(1).map(\.id) == [MemoID(2)])
    #expect(throws: MemoError.self) { try next.latest(2) }
    #expect(throws: MemoError.self) { try TestVolume().damage() }
  }

  @Test func aDeletionIsUndoneAfterAKill() async throws {
    let clock = ManualClock()
    let store = try volume.open(Memo.self, clock: clock)
    try await store.insert(memo(1))
    let deletion = try #require(try await store.delete(MemoID(1)))
    let next = try volume.relaunch(Memo.self, clock: clock)
    #expect(try next.undoableDeletions() == [deletion])
    try await next.undo(deletion)
    #expect(try next.count() == 1)
  }

  @Test func twoProcessesTakeTurns() async throws {
    let app = try volume.open(Memo.self)
    let other = try volume.openElsewhere(Memo.self)
    for id in 0..<20 {
      try await (id.isMultiple(of: 2) ? app : other).insert(memo(Int64(id)))
      try await (id.isMultiple(of: 2) ? app : other).suspend()
      try await (id.isMultiple(of: 2) ? app : other).resume()
    }
    #expect(try app.count() == 20)
    #expect(try other.latest(30) == app.latest(30))
  }
}
