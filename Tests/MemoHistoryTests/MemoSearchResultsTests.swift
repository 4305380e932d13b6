import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// Searches of a store: what is found, in which order, when, and what ends it.
@Suite struct MemoSearchResultsTests {
  private let store = MemoStore<Memo>.inMemory()

  private func insert(_ ids: Range<Int64>, _ body: (Int64) -> String) async throws {
    try await store.insert(contentsOf: try ids.map { try memo($0, at: $0, body: body($0)) })
  }

  private func time(_ second: Int64) throws -> MemoTimestamp {
    try #require(MemoTimestamp(microseconds: second * 1_000_000))
  }

  private func found(_ results: MemoSearchResults<Memo>) async throws -> [MemoID] {
    var ids: [MemoID] = []
    for try await hit in results { ids.append(hit.memo.id) }
    return ids
  }

  private func ids(_ ids: some Sequence<Int64>) -> [MemoID] { ids.map { MemoID($0) } }

  // MARK: - What is found

  /// More than one portion has, with gaps and without.
  @Test(arguments: [1, 2, 7, 64, 300] as [Int64])
  func memosAreFoundNewestFirst(step: Int64) async throws {
    try await insert(0..<300) { $0 % step == 0 ? "Oat \u{FF2D}ilk \($0)" : "bread" }
    let wanted = ids((0..<300).filter { $0 % step == 0 }.reversed())
    #expect(try await found(store.search("milk oat")) == wanted)
    for limit in [0, 1, 63, 64, 65, 128, 1000] {
      #expect(try await found(store.search("milk", limit: limit)) == Array(wanted.prefix(limit)))
    }
    #expect(try await found(store.search("milk", limit: -1)) == [])
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func everySearchIsAFilterOfTheHistory(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let words = ["milk", "Oat", "\u{6771}\u{4EAC}", "cafe\u{301}", "\u{304C}", ""]
    for id in 0..<200 as Range<Int64> {
      let body = (0..<3).map { _ in words[Int.random(in: 0..<6, using: &generator)] }
      let time = Int64.random(in: 0..<40, using: &generator)
      try await store.insert(try memo(id, at: time, body: body.joined(separator: " ")))
    }
    if seed % 2 == 1 { try store.timeline.flush() }
    let all = try store.latest(1000)
    for (search, word) in [
      ("", ""), ("MILK", "milk"), ("oa", "Oat"), ("\u{4EAC}", "\u{6771}\u{4EAC}"), ("z", "z"),
      ("CAF\u{C9}", "cafe\u{301}"), ("\u{FF76}\u{FF9E}", "\u{304C}"),
    ] {
      let since = generator.coin() ? nil : Int64.random(in: -1...41, using: &generator)
      let before = generator.coin() ? nil : Int64.random(in: -1...41, using: &generator)
      let wanted = all.filter { memo in
        (word.isEmpty || memo.body.contains(word))
          && memo.createdAt.microseconds >= (since ?? -9) * 1_000_000
          && memo.createdAt.microseconds < (before ?? 99) * 1_000_000
      }
      let results = store.search(
        search, since: try since.map(time), before: try before.map(time))
      #expect(
        try await found(results) == wanted.map(\.id),
        "seed \(seed), \(search), since \(since ?? -9), before \(before ?? 99)")
    }
  }

  @Test func rangesAreThoseOfTheText() async throws {
    try await insert(0..<1) { _ in "Cafe\u{301} \u{1F468}\u{200D}\u{1F469} \u{FF43}af\u{E9}" }
    var iterator = store.search("caf\u{E9}").makeAsyncIterator()
    let hit = try #require(try await iterator.next())
    let text = hit.memo.body
    #expect(
      hit.ranges.map { Array(text[$0].utf8) } == [
        Array("Cafe\u{301}".utf8), Array("\u{FF43}af\u{E9}".utf8),
      ])
    #expect(hit.deletion == nil)
    #expect(try await iterator.next() == nil)
    #expect(try await found(store.search("cafe")) == [])
    #expect(try await found(store.search("cafe", folding: .withoutMarks)) == ids([0]))
    #expect(try await found(store.search("caf\u{E9}", folding: .exact)) == [])
    for try await hit in store.search(" ") { #expect(hit.ranges == []) }
  }

  @Test func theTrashIsSearchedByItself() async throws {
    let clock = ManualClock()
    let store = MemoStore<Memo>.inMemory(clock: clock, trash: .seconds(86_400))
    for id in 0..<6 as Range<Int64> {
      try await store.insert(try memo(id, at: id, body: id % 2 == 0 ? "MILK" : "bread"))
    }
    var deletions: [MemoDeletion?] = []
    for id in [2, 4, 1] as [Int64] {
      deletions.append(try await store.delete(MemoID(id)))
      await clock.advance(by: .seconds(1))
    }
    var hits: [MemoSearchHit<Memo>] = []
    for try await hit in store.search("milk", inTrash: true) { hits.append(hit) }
    #expect(hits.map(\.memo.id) == ids([4, 2]), "the latest deletion first")
    #expect(hits.map(\.deletion) == [deletions[1], deletions[0]])
    #expect(hits.allSatisfy { $0.ranges.count == 1 })
    #expect(try await found(store.search("milk")) == ids([0]))
    let late = try time(3)
    #expect(try await found(store.search("milk", since: late, inTrash: true)) == ids([4]))
    #expect(try await found(store.search("milk", before: late, inTrash: true)) == ids([2]))
    #expect(try await found(store.search("milk", limit: 1, inTrash: true)) == ids([4]))
  }

  // MARK: - When

  @Test func aSearchIsOfOneMoment() async throws {
    try await insert(0..<200) { "milk \($0)" }
    let results = store.search("milk")
    var seen: [MemoID] = []
    for try await hit in results {
      seen.append(hit.memo.id)
      let number = Int64(seen.count)
      guard number % 50 == 1 else { continue }
      try await store.insert(try memo(1000 + number, at: 50, body: "milk"))
      try await store.delete(MemoID(number % 7))
      try await store.update(MemoID(20 + number % 9)) { $0.body = "bread" }
    }
    #expect(seen == ids((0..<200).reversed()))
    #expect(try await found(results) == store.latest(500).filter { $0.body != "bread" }.map(\.id))
  }

  /// One that waits to be asked for is not behind others that nobody has asked for.
  @Test func nothingIsReadAheadButALittle() async throws {
    let timeline = MemoTimeline.inMemory()
    let store = MemoStore<Sample<Int>>(timeline)
    let filler = String(repeating: "bread ", count: 20_000)
    // Below the newest memo, each one is reported when it is looked at.
    for id in 0..<40 as Range<Int64> {
      try timeline.insert(try memo(id, at: 2 * id, body: "milk " + filler))
    }
    try await store.insert(Sample(id: 99, createdAt: try time(1000), value: 1))
    let looked = SharedLock(0)
    let results = store.search("milk", unreadable: { _ in looked.withLock { $0 += 1 } })
    var iterator = results.makeAsyncIterator()
    #expect(looked.withLock { $0 } == 0)
    #expect(try await iterator.next()?.memo.id == 99)
    #expect((1..<10).contains(looked.withLock { $0 }))
    #expect(try await iterator.next() == nil)
    #expect(looked.withLock { $0 } == 40)
  }

  // MARK: - What ends it

  @Test func aCancelledTaskGetsNoEnd() async throws {
    try await insert(0..<200) { "milk \($0)" }
    for cancelledAt in [0, 1, 10, 64, 100, 199] {
      let count = SharedLock(0)
      let reading = Task { [store] in
        if cancelledAt == 0 { withUnsafeCurrentTask { $0?.cancel() } }
        for try await _ in store.search("milk") {
          let count = count.withLock { count in
            count += 1
            return count
          }
          if count == cancelledAt { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
      await #expect(throws: MemoError.cancelled, "\(cancelledAt)") { try await reading.value }
      #expect(count.withLock { $0 } == cancelledAt)
    }
  }

  /// It stops at the memo that it looks at.
  @Test func aSearchIsCancelledBetweenTwoMemos() async throws {
    let timeline = MemoTimeline.inMemory()
    for id in 0..<9 as Range<Int64> { try timeline.insert(try memo(id, body: "milk")) }
    let store = MemoStore<Sample<Int>>(timeline)
    let gate = Gate()
    gate.close()
    let looked = SharedLock(0)
    let reading = Task {
      var iterator = store.search("milk") { _ in
        looked.withLock { $0 += 1 }
        gate.pass()
      }.makeAsyncIterator()
      return try await iterator.next()?.memo
    }
    await gate.arrival()
    reading.cancel()
    gate.open()
    await #expect(throws: MemoError.cancelled) { try await reading.value }
    #expect(looked.withLock { $0 } == 1)
  }

  @Test func aMemoThatDoesNotFitIsReportedOrEndsIt() async throws {
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(Memo(id: MemoID(1), body: "milk"))
    try timeline.insert(Memo(id: MemoID(8), body: "bread"))
    let store = MemoStore<Sample<Int>>(timeline)
    for id in 2...3 { try await store.insert(Sample(id: id, value: id)) }
    let reported = SharedLock<[MemoError]>([])
    var found: [Int] = []
    for try await hit in store.search(
      "milk", unreadable: { error in reported.withLock { $0.append(error) } })
    { found.append(hit.memo.id) }
    let error = MemoError.unreadable(MemoID(1), reason: "field value is missing")
    #expect(found == [3, 2] && reported.withLock { $0 } == [error])
    var iterator = store.search("milk").makeAsyncIterator()
    await #expect(throws: error) { while try await iterator.next() != nil {} }
    #expect(try await iterator.next() == nil, "nothing follows a failure")
  }

  @Test(.bug(id: "B82")) func aSearchThatIsTooLargeIsAnError() async throws {
    try await insert(0..<3) { "a\0\($0)" }
    let large = String(repeating: "x", count: 1 << 20)
    let error = MemoError.invalidSearch(reason: "has more than 1024 bytes")
    await #expect(throws: error) { try await found(store.search(large)) }
    await #expect(throws: error) { try await store.memos(MemoQuery(search: large)) }
    #expect("\(error)" == "the search has more than 1024 bytes")
    // What is odd and not large has an answer.
    #expect(try await found(store.search("\0")) == ids([2, 1, 0]))
    #expect(try await found(store.search("\u{301}")) == [])
    #expect(try await found(store.search("\u{200B}")) == ids([2, 1, 0]))
    #expect(try await found(store.search("\0" + "1")) == ids([1]))
    try await store.close()
    await #expect(throws: MemoError.database(.closed)) { try await found(store.search("x")) }
  }
}
