import KVEngine
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Testing

/// Lists that look into memos: what they show, when, and what ends a search.
@MainActor @Suite struct LiveSearchTests {
  private let clock = ManualClock()
  private let store: MemoStore<Memo>
  private let screen = HistoryScreen<Memo>()

  init() {
    store = MemoStore<Memo>.inMemory(clock: clock)
  }

  private func insert(_ ids: ClosedRange<Int64>, _ body: String? = nil) async throws {
    for id in ids { try await store.insert(try memo(id, at: id, body: body)) }
  }

  private func ids(_ ids: [Int64]) -> [MemoID] { ids.map { MemoID($0) } }

  private func observe(_ query: MemoQuery<Memo>) -> HistoryObservation<Memo> {
    store.observe(query, by: screen) { $0.show($1) }
  }

  // MARK: - What is shown

  @Test func theFirstFilteredListComesWhenItIsRead() async throws {
    try await insert(1...9)
    let observation = observe(MemoQuery(limit: 3) { $0.createdAt.microseconds % 2_000_000 == 0 })
    #expect(screen.snapshots.isEmpty && observation.isReading)
    await clock.advance(by: .zero)
    let first = try #require(screen.snapshots.first)
    #expect(first.ids == ids([8, 6, 4]) && first.generation == 1 && first.cause == .first)
    #expect(first.difference.insertions == [0, 1, 2] && first.error == nil)
    #expect(!observation.isReading && screen.snapshots.count == 1)
  }

  @Test func aPlainListIsThereAtOnce() async throws {
    try await insert(1...3)
    let observation = observe(MemoQuery(search: " \u{3000}"))
    #expect(screen.snapshots.map(\.ids) == [ids([3, 2, 1])] && !observation.isReading)
  }

  @Test func changesReachAFilteredList() async throws {
    try await insert(1...3, "oat milk")
    let query = MemoQuery<Memo>(search: "MILK") { !$0.body.hasSuffix("!") }
    _ = observe(query)
    await clock.advance(by: .zero)
    try await store.upsert(try memo(2, at: 2, body: "bread"))
    try await store.upsert(try memo(1, at: 1, body: "milk!"))
    try await insert(4...4, "bread")
    try await insert(5...5, "Milk")
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.map(\.ids) == [ids([3, 2, 1]), ids([5, 3])])
    #expect(screen.snapshots.last?.difference.removals == [1, 2])
  }

  /// A search that is too large is an error beside the list, which the next search ends.
  @Test func aSearchThatIsTooLargeIsAnErrorOfTheList() async throws {
    try await insert(1...3)
    let observation = observe(MemoQuery(search: String(repeating: "x", count: 2000)))
    await clock.advance(by: .zero)
    let error = MemoError.invalidSearch(reason: "has more than 1024 bytes")
    #expect(screen.snapshots.map(\.error) == [error] && screen.snapshots[0].items.isEmpty)
    observation.query.search = ""
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.ids == ids([3, 2, 1]) && screen.snapshots.last?.error == nil)
  }

  /// With an anchor a filtered list keeps its old end, and another search begins anew.
  @Test func theOldEndOfAFilteredListStays() async throws {
    try await insert(1...10, "milk")
    let observation = observe(MemoQuery(limit: 4, anchor: .oldEnd, search: "milk"))
    await clock.advance(by: .zero)
    try await insert(11...13, "milk")
    try await insert(14...14, "bread")
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.ids == ids([13, 12, 11, 10, 9, 8, 7]))
    try await insert(15...20, "bread")
    observation.query.search = "r"
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.ids == ids([20, 19, 18, 17]))
    observation.query.limit = .max
    await clock.advance(by: .zero)
    #expect(screen.snapshots.last?.ids == ids([20, 19, 18, 17, 16, 15, 14]))
  }

  // MARK: - Where it runs

  /// Neither the main actor nor a task reads what may be the whole store.
  @Test func aFilteredListIsReadOnThreadsOfItsOwn() async throws {
    try await insert(1...5)
    let places = Places()
    places.note()
    try #require(places.main + places.task == 1, "the recorder sees the main actor")
    let query = MemoQuery<Memo> { _ in
      places.note()
      return true
    }
    let observation = observe(query)
    await clock.advance(by: .zero)
    observation.refresh()
    await clock.advance(by: .zero)
    let history = LiveHistory(store, query)
    #expect(history.items.isEmpty)
    await clock.advance(by: .zero)
    history.refresh()
    await history.settle()
    #expect(history.items.count == 5)
    var snapshots = store.snapshots(of: query).makeAsyncIterator()
    #expect(await snapshots.next()?.items.count == 5)
    #expect(try await store.memos(query).count == 5)
    #expect(places.main + places.task == 1)
    #expect(places.elsewhere >= 30)
  }

  // MARK: - Typing

  @Test func typingIsOneSearch() async throws {
    try await insert(1...3, "milk")
    let observation = observe(MemoQuery())
    for text in ["m", "mi", "mil", "milk"] {
      observation.query.search = text
      #expect(observation.query.search == text && observation.isReading)
      await clock.advance(by: .milliseconds(10))
    }
    observation.query.search = "milk "
    await clock.advance(by: .milliseconds(5))
    #expect(screen.snapshots.count == 1)
    await clock.advance(by: .milliseconds(1))
    #expect(screen.snapshots.count == 2 && !observation.isReading)
    #expect(screen.snapshots.last?.query.search == "milk ")
    observation.query.search = "bread"
    observation.query.limit = 3
    await clock.advance(by: .zero)
    #expect(screen.snapshots.last?.ids == [], "a limit is due at once")
    observation.query.search = ""
    await clock.advance(by: .milliseconds(15))
    #expect(screen.snapshots.count == 3)
    await clock.advance(by: .milliseconds(1))
    #expect(screen.snapshots.last?.ids == ids([3, 2, 1]))
  }

  /// A search that is on its way stops at the memo it looks at when another text is typed.
  @Test func aNewTextEndsTheOldSearch() async throws {
    try await insert(1...9, "milk and bread")
    let gate = Gate()
    let looked = Lock(0)
    let observation = observe(
      MemoQuery(search: "milk") { _ in
        looked.withLock { $0 += 1 }
        gate.pass()
        return true
      })
    gate.close()
    let passing = Task { [clock] in await clock.advance(by: .zero) }
    await gate.arrival()
    observation.query.search = "bread"
    #expect(observation.isReading)
    gate.open()
    await passing.value
    #expect(looked.withLock { $0 } == 1)
    #expect(screen.snapshots.isEmpty && observation.isReading)
    await clock.advance(by: .milliseconds(16))
    #expect(screen.snapshots.map(\.query.search) == ["bread"])
    #expect(screen.snapshots.last?.ids.count == 9 && looked.withLock { $0 } == 10)
    #expect(screen.snapshots.last?.generation == 1)
  }

  /// What is written while a search is on its way is in the next list, and does not end it.
  @Test func aCommitDoesNotEndASearch() async throws {
    try await insert(1...3)
    let gate = Gate()
    _ = observe(
      MemoQuery { _ in
        gate.pass()
        return true
      })
    gate.close()
    let passing = Task { [clock] in await clock.advance(by: .zero) }
    await gate.arrival()
    try await insert(4...4)
    gate.open()
    await passing.value
    #expect(screen.snapshots.map(\.ids) == [ids([3, 2, 1])])
    await clock.advance(by: .milliseconds(200))
    #expect(screen.snapshots.map(\.ids) == [ids([3, 2, 1]), ids([4, 3, 2, 1])])
  }

  /// Nothing that the main actor calls waits for a search.
  @Test func aPlainQueryIsNotHeldUpByASearch() async throws {
    try await insert(1...3)
    let gate = Gate()
    let history = LiveHistory(
      store,
      MemoQuery { _ in
        gate.pass()
        return true
      })
    gate.close()
    #expect(history.items.isEmpty && history.isReading)
    let passing = Task { [clock] in await clock.advance(by: .zero) }
    await gate.arrival()
    history.query.filter = nil
    history.refresh()
    #expect(history.items.count == 3 && !history.isReading)
    gate.open()
    await passing.value
    await clock.advance(by: .seconds(1))
    #expect(history.items.count == 3)
  }

  // MARK: - Ends

  @Test func aPauseEndsASearchUntilItIsOver() async throws {
    try await insert(1...3)
    let gate = Gate()
    let observation = observe(
      MemoQuery { _ in
        gate.pass()
        return true
      })
    gate.close()
    let passing = Task { [clock] in await clock.advance(by: .zero) }
    await gate.arrival()
    observation.pause()
    gate.open()
    await passing.value
    observation.query.search = "memo 2"
    await clock.advance(by: .seconds(10))
    #expect(screen.snapshots.isEmpty && observation.isReading)
    observation.resume()
    await clock.advance(by: .zero)
    #expect(screen.snapshots.map(\.ids) == [ids([2])])
    observation.pause()
    observation.resume()
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.count == 1)
  }

  @Test(.bug(id: "B92"), arguments: [false, true])
  func theEndOfAnObservationEndsItsSearch(isHistory: Bool) async throws {
    try await insert(1...9)
    let gate = Gate()
    let looked = Lock(0)
    let query = MemoQuery<Memo> { _ in
      looked.withLock { $0 += 1 }
      gate.pass()
      return true
    }
    var history = isHistory ? LiveHistory(store, query) : nil
    let observation = isHistory ? nil : observe(query)
    weak let observed = history
    #expect(history?.items.isEmpty ?? true)
    gate.close()
    let passing = Task { [clock] in await clock.advance(by: .zero) }
    await gate.arrival()
    observation?.cancel()
    history = nil
    #expect(observed == nil)
    gate.open()
    await passing.value
    #expect(looked.withLock { $0 } == 1 && screen.snapshots.isEmpty)
    #expect(await clock.advanceToNext() == false)
  }

  @Test func aStoreThatHasGoneIsAnError() async throws {
    var other: MemoStore<Memo>? = MemoStore<Memo>.inMemory(clock: clock)
    try await other?.insert(try memo(1, at: 1))
    let observation = other?.observe(MemoQuery(search: "memo"), by: screen) { $0.show($1) }
    await clock.advance(by: .zero)
    other = nil
    observation?.refresh()
    await clock.advance(by: .zero)
    #expect(screen.snapshots.map(\.error) == [nil, .database(.closed)])
    #expect(screen.snapshots.last?.ids == ids([1]))
  }

  @Test func anErrorOfASearchStandsBesideTheItems() async throws {
    try await insert(1...2)
    let observation = observe(MemoQuery(search: "memo"))
    await clock.advance(by: .zero)
    try await store.close()
    observation.refresh()
    await clock.advance(by: .zero)
    #expect(screen.snapshots.last?.ids == ids([2, 1]))
    #expect(screen.snapshots.last?.error == .database(.closed))
  }
}
