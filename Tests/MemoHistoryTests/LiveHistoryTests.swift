import Dispatch
import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Observation
import Testing

/// A history for views: read at first use, edits at once, writing behind.
@MainActor @Suite struct LiveHistoryTests {
  private let clock = ManualClock()
  private let store: MemoStore<Memo>
  private let history: LiveHistory<Memo>

  init() {
    store = MemoStore<Memo>.inMemory(clock: clock)
    history = LiveHistory(store, MemoQuery(limit: 5))
  }

  private var numbers: [Int] { history.items.map { Int("\($0.id)") ?? -1 } }

  @Test func insertAppearsAfter200ms() async throws {
    #expect(history.items.isEmpty)
    try await store.insert(try memo(1, at: 1, body: "milk"))
    await clock.advance(by: .milliseconds(199))
    #expect(history.items.isEmpty)
    await clock.advance(by: .milliseconds(1))
    #expect(history.items.map(\.body) == ["milk"])
  }

  @Test func nothingIsReadBeforeTheFirstUse() async throws {
    try await store.insert(try memo(1, at: 1))
    #expect(await clock.advanceToNext() == false)
    #expect(numbers == [1])
  }

  /// Verbs show at once and are written in the order of the calls.
  @Test func editsAreShownAtOnceAndWrittenBehind() async throws {
    for id in 1...3 as ClosedRange<Int64> { history.insert(try memo(id, at: id)) }
    #expect(numbers == [3, 2, 1])
    history.update(MemoID(2)) { $0.body = "changed" }
    history.delete(at: [0])
    #expect(numbers == [2, 1])
    #expect(history.items[0].body == "changed")
    await history.settle()
    #expect(try store.latest(10) == history.items)
    #expect(numbers == [2, 1] && history.error == nil)
    await clock.advance(by: .seconds(1))
    #expect(try store.latest(10) == history.items)
  }

  @Test func twoHundredVerbsArriveInOrder() async throws {
    history.insert(try memo(1, at: 1, body: ""))
    for number in 0..<200 { history.update(MemoID(1)) { $0.body += "\(number)," } }
    let expected = (0..<200).map { "\($0)," }.joined()
    #expect(history.items.map(\.body) == [expected])
    await history.settle()
    #expect(try store.memo(for: MemoID(1))?.body == expected)
  }

  /// An edit of something that others have changed since it was shown keeps both changes.
  @Test func anEditIsMadeAnewOnWhatOthersWrote() async throws {
    try await store.insert(try memo(1, at: 1, body: "a"))
    #expect(history.items.map(\.body) == ["a"])
    try await store.update(MemoID(1)) { $0.body += "b" }
    for _ in 0..<3 { history.update(MemoID(1)) { $0.body += "c" } }
    #expect(history.items.map(\.body) == ["accc"])
    await history.settle()
    #expect(history.items.map(\.body) == ["abccc"])
    #expect(try store.memo(for: MemoID(1))?.body == "abccc")
    try await store.delete(MemoID(1))
    history.update(MemoID(1)) { $0.body += "d" }
    await history.settle()
    #expect(history.items.isEmpty && history.error == nil)
  }

  @Test func aRefusedEditIsTakenBack() async throws {
    try await store.insert(try memo(1, at: 1, body: "kept"))
    #expect(numbers == [1])
    history.insert(try memo(1, at: 9, body: "double"))
    #expect(history.items.map(\.body) == ["double"])
    await history.settle()
    #expect(history.items.map(\.body) == ["kept"])
    #expect(history.error == .duplicateID)
    history.insert(try memo(2, at: 2))
    #expect(history.error == nil && numbers == [2, 1])
    await history.settle()
  }

  @Test func theListIsNoLongerThanItsLimit() async throws {
    for id in 1...9 as ClosedRange<Int64> { history.insert(try memo(id, at: id)) }
    #expect(numbers == [9, 8, 7, 6, 5])
    await history.settle()
    #expect(numbers == [9, 8, 7, 6, 5])
    history.query.limit = 7
    await clock.advance(by: .zero)
    #expect(numbers == [9, 8, 7, 6, 5, 4, 3])
  }

  /// A view is told once for each change of what it shows, and not when nothing changes.
  @Test func viewsHearOfChangesOnly() async throws {
    let calls = Lock(0)
    func watch() {
      withObservationTracking {
        _ = history.items
      } onChange: {
        calls.withLock { $0 += 1 }
      }
    }
    watch()
    history.insert(try memo(1, at: 1))
    #expect(calls.withLock { $0 } == 1)
    watch()
    await history.settle()
    await clock.advance(by: .seconds(1))
    #expect(calls.withLock { $0 } == 1, "the snapshot shows what was shown already")
  }

  /// A list that was on its way here when a newer one was read is not shown after it.
  @Test func aListThatComesLateIsNotShown() async throws {
    let (listed, written) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // Blocks the main actor, so that the list cannot come before.
    let wait = { (semaphore: DispatchSemaphore) in semaphore.wait() }
    try await store.insert(try memo(1, at: 1))
    let label: @Sendable (Memo) -> String = { memo in
      listed.signal()
      return memo.body
    }
    let history = LiveHistory(store, MemoQuery(sections: .label(label)))
    #expect(history.items.count == 1)
    wait(listed)
    history.query.limit = 7
    let passing = Task.detached { [clock] in await clock.advance(by: .zero) }
    wait(listed)
    let second = try memo(2, at: 2)
    Task.detached { [store] in
      try await store.insert(second)
      written.signal()
    }
    wait(written)
    history.refresh()
    #expect(history.items.count == 2)
    await passing.value
    #expect(history.items.count == 2 && history.sections.count == 2)
  }

  @Test func aChangedMemoKeepsItsPlaceAmongThoseOfItsInstant() async throws {
    for id in 1...3 as ClosedRange<Int64> { try await store.insert(try memo(id, at: 1)) }
    history.update(MemoID(2)) { $0.body = "changed" }
    #expect(numbers == [3, 2, 1] && history.items[1].body == "changed")
    await history.settle()
    #expect(numbers == [3, 2, 1])
  }

  @Test func aHistoryEndsWithItsOwner() async throws {
    var other: LiveHistory<Memo>? = LiveHistory(store)
    weak let observed = other
    #expect(other?.items.isEmpty == true)
    try await store.insert(try memo(1, at: 1))
    other = nil
    #expect(observed == nil)
    await clock.advance(by: .seconds(1))
    #expect(await clock.advanceToNext() == false)
  }

  @Test func aDeletionIsUndone() async throws {
    try await store.insert(try memo(1, at: 1))
    #expect(numbers == [1])
    let deletion = try #require(try await store.delete(MemoID(1), undoWithin: .seconds(3)))
    await clock.advance(by: .milliseconds(16))
    #expect(numbers == [])
    #expect(try store.undoableDeletions() == [deletion])
    await clock.advance(by: .milliseconds(2900))
    try await store.undo(deletion)
    await clock.advance(by: .milliseconds(16))
    #expect(numbers == [1])
    let second = try #require(try await store.delete(MemoID(1), undoWithin: .seconds(3)))
    await clock.advance(by: .seconds(3))
    await #expect(throws: MemoError.deletionExpired) { try await store.undo(second) }
    #expect(try store.undoableDeletions() == [])
  }
}
