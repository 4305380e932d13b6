import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Reads of what a query wants, at one moment.
@Suite struct MemoQueryTests {
  /// Memos of few words at few instants.
  private func filledStore(_ generator: inout SeededGenerator) async throws -> MemoStore<Memo> {
    let store = MemoStore<Memo>.inMemory()
    let words = ["milk", "Oat", "\u{6771}\u{4EAC}", "\u{4EAC}\u{90FD}", "\u{C4}rger"]
    for id in 0..<200 as Range<Int64> {
      let count = Int.random(in: 0...3, using: &generator)
      let body = (0..<count).map { _ in words[Int.random(in: 0..<5, using: &generator)] }
      let time = Int64.random(in: 0..<50, using: &generator)
      try await store.insert(try memo(id, at: time, body: body.joined(separator: " ")))
    }
    return store
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func everyReadIsThatOfTheWholeHistory(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let store = try await filledStore(&generator)
    let all = try store.latest(1000)
    let searches = ["", "MILK", "\u{4EAC}", "oat\u{3000}milk", "\u{E4}rg", "bread"]
    let filters: [(@Sendable (Memo) -> Bool)?] = [nil, { $0.createdAt.microseconds % 2 == 0 }]
    for (search, filter) in searches.flatMap({ text in filters.map { (text, $0) } }) {
      let limit = Int.random(in: -1...60, using: &generator)
      let wanted = all.filter { memo in
        search.split(whereSeparator: \.isWhitespace)
          .allSatisfy { memo.body.lowercased().contains($0.lowercased()) }
          && filter?(memo) ?? true
      }
      let query = MemoQuery(limit: limit, anchor: .oldEnd, search: search, filter: filter)
      #expect(
        try await store.memos(query) == Array(wanted.prefix(max(1, limit))),
        "seed \(seed), \(search), \(limit)")
    }
  }

  /// Nothing behind the last memo that is returned is looked at.
  @Test func aReadEndsWithItsLimit() async throws {
    let store = MemoStore<Memo>.inMemory()
    for id in 0..<50 as Range<Int64> { try await store.insert(try memo(id, at: id)) }
    let looked = SharedLock(0)
    let query = MemoQuery<Memo>(limit: 3) { memo in
      looked.withLock { $0 += 1 }
      return memo.createdAt.microseconds % 2_000_000 == 0
    }
    #expect(try await store.memos(query).count == 3)
    #expect(looked.withLock { $0 } == 6)
  }

  @Test func aReadIsOfOneMoment() async throws {
    let store = MemoStore<Memo>.inMemory()
    for id in 1...3 as ClosedRange<Int64> { try await store.insert(try memo(id, at: id)) }
    let gate = Gate()
    gate.close()
    let query = MemoQuery<Memo> { _ in
      gate.pass()
      return true
    }
    let reading = Task { try await store.memos(query) }
    await gate.arrival()
    try await store.upsert(try memo(3, at: 0))
    try await store.delete(MemoID(1))
    gate.open()
    #expect(try await reading.value.map(\.id) == [MemoID(3), MemoID(2), MemoID(1)])
    #expect(try await store.memos(query).map(\.id) == [MemoID(2), MemoID(3)])
  }

  // MARK: - What ends it

  @Test func aCancelledReadThrows() async throws {
    let store = MemoStore<Memo>.inMemory()
    for id in 1...9 as ClosedRange<Int64> { try await store.insert(try memo(id, at: id)) }
    let gate = Gate()
    gate.close()
    let looked = SharedLock(0)
    let query = MemoQuery<Memo> { _ in
      looked.withLock { $0 += 1 }
      gate.pass()
      return false
    }
    let reading = Task { try await store.memos(query) }
    await gate.arrival()
    reading.cancel()
    gate.open()
    await #expect(throws: MemoError.cancelled) { try await reading.value }
    #expect(looked.withLock { $0 } == 1)
    #expect("\(MemoError.cancelled)" == "the call was cancelled")
  }

  @Test func aMemoThatDoesNotFitIsReportedOrThrown() async throws {
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(Memo(id: MemoID(1), body: "milk"))
    let store = MemoStore<Sample<Int>>(timeline)
    for id in 2...3 { try await store.insert(Sample(id: id, value: id)) }
    let error = MemoError.unreadable(MemoID(1), reason: "field value is missing")
    let query = MemoQuery<Sample<Int>>(search: "milk") { $0.value < 3 }
    await #expect(throws: error) { try await store.memos(query) }
    let reported = SharedLock<[MemoError]>([])
    let found = try await store.memos(query) { error in reported.withLock { $0.append(error) } }
    #expect(found.map(\.id) == [2] && reported.withLock { $0 } == [error])
    #expect(try await store.memos(MemoQuery(search: "bread")) == [])
  }

  @Test func aClosedStoreIsAnError() async throws {
    let store = MemoStore<Memo>.inMemory()
    try await store.close()
    await #expect(throws: MemoError.database(.closed)) {
      try await store.memos(MemoQuery { _ in true })
    }
  }

  // MARK: - What tells queries apart

  @Test func queriesAreToldApartByWhatTheyShow() {
    let query = MemoQuery<Memo>(search: "milk", sections: .day) { _ in true }
    var other = query
    #expect(query.isAnswered(by: other) && !query.isBounded)
    other.anchor = .oldEnd
    other.search = " MILK"
    other.sections = .day
    #expect(query.isAnswered(by: other))
    other.filter = query.filter
    #expect(!query.isAnswered(by: other), "a closure that is set anew")
    for change: (inout MemoQuery<Memo>) -> Void in [
      { $0.limit = 9 }, { $0.search = "" }, { $0.filter = nil }, { $0.sections = nil },
      { $0.sections = .label { $0.body } },
    ] {
      var other = query
      change(&other)
      #expect(!query.isAnswered(by: other))
    }
    var plain = MemoQuery<Memo>()
    plain.filter = nil
    #expect(plain.isAnswered(by: MemoQuery()) && plain.isBounded)
  }
}
