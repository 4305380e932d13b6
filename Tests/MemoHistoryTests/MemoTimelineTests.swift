import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// Single operations of a timeline and what each does to order, look-up and count.
@Suite struct MemoTimelineTests {
  /// Where the memos are when they are read: in the memtable, in a segment, or in both.
  enum Place: CaseIterable { case memory, segment }

  private func timeline(_ place: Place, _ memos: [Memo]) throws -> MemoTimeline {
    let timeline = MemoTimeline.inMemory()
    for memo in memos { try timeline.insert(memo) }
    if place == .segment { try timeline.flush() }
    return timeline
  }

  @Test func aNewTimelineIsEmpty() throws {
    let timeline = MemoTimeline.inMemory()
    #expect(try timeline.count() == 0)
    #expect(try timeline.latest(10).isEmpty)
    #expect(try timeline.oldest() == nil)
    #expect(try timeline.memo(for: MemoID(1)) == nil)
    #expect(try timeline.delete(MemoID(1)) == nil)
    let page = try timeline.page(after: nil, count: 10)
    #expect(page.memos.isEmpty && page.next == nil)
    #expect(try timeline.verify().isSound)
  }

  @Test(arguments: Place.allCases)
  func latestGivesTheNewestFirst(place: Place) throws {
    let memos = try [3, 1, 5, 2, 4].map { try memo($0, at: $0) }
    let timeline = try timeline(place, memos)
    #expect(try timeline.latest(3).map(\.id) == [5, 4, 3].map { MemoID($0) })
    #expect(try timeline.latest(100).map(\.id) == [5, 4, 3, 2, 1].map { MemoID($0) })
    #expect(try timeline.oldest()?.id == MemoID(1))
    #expect(try timeline.latest(0).isEmpty)
    #expect(try timeline.latest(-1).isEmpty)
    #expect(try timeline.latest(.max).count == 5)
  }

  @Test(arguments: Place.allCases)
  func ofEqualTimesTheLaterArrivalComesFirst(place: Place) throws {
    let timeline = try timeline(place, try (1...5).map { try memo($0, at: 7) })
    try timeline.insert(try memo(6, at: 7))
    #expect(try timeline.latest(6).map(\.id) == [6, 5, 4, 3, 2, 1].map { MemoID($0) })
  }

  @Test(arguments: Place.allCases)
  func aTakenIDIsRefusedAndChangesNothing(place: Place) throws {
    let first = try memo(1, at: 5, body: "first")
    let timeline = try timeline(place, [first])
    for second in [try memo(1, at: 5, body: "second"), try memo(1, at: 9), first] {
      #expect(throws: MemoError.duplicateID) { try timeline.insert(second) }
    }
    #expect(try timeline.memo(for: first.id) == first)
    #expect(try timeline.count() == 1)
    #expect(try timeline.latest(2) == [first])
  }

  @Test(arguments: Place.allCases)
  func upsertKeepsThePlaceAmongEqualTimes(place: Place) throws {
    let timeline = try timeline(place, try (1...3).map { try memo($0, at: 7) })
    let old = try timeline.upsert(try memo(2, at: 7, body: "changed"))
    #expect(old?.body == "memo 2")
    #expect(try timeline.latest(3).map(\.body) == ["memo 3", "changed", "memo 1"])
    #expect(try timeline.count() == 3)
    #expect(try timeline.verify().isSound)
  }

  @Test(arguments: Place.allCases)
  func upsertWithAnotherOffsetOfTheSameInstantStaysInPlace(place: Place) throws {
    let timeline = try timeline(place, try (1...3).map { try memo($0, at: 7) })
    var changed = try memo(2, at: 7)
    changed.createdAt = try #require(MemoTimestamp(microseconds: 7_000_000, offsetSeconds: 32400))
    try timeline.upsert(changed)
    #expect(try timeline.latest(3).map(\.id) == [3, 2, 1].map { MemoID($0) })
    #expect(try timeline.memo(for: MemoID(2)) == changed)
    #expect(try timeline.count() == 3)
  }

  @Test(arguments: Place.allCases)
  func upsertWithAnotherTimeMovesTheMemo(place: Place) throws {
    let timeline = try timeline(place, try (1...3).map { try memo($0, at: $0) })
    for (second, order) in [(9, [1, 3, 2]), (2, [3, 1, 2]), (0, [3, 2, 1])] as [(Int64, [Int64])] {
      try timeline.upsert(try memo(1, at: second, body: "at \(second)"))
      #expect(try timeline.latest(5).map(\.id) == order.map { MemoID($0) })
      #expect(try timeline.memo(for: MemoID(1))?.body == "at \(second)")
      #expect(try timeline.count() == 3)
    }
    #expect(try timeline.verify().isSound)
  }

  @Test func upsertOfANewIDInserts() throws {
    let timeline = MemoTimeline.inMemory()
    #expect(try timeline.upsert(try memo(1)) == nil)
    #expect(try timeline.count() == 1)
    #expect(throws: MemoError.duplicateID) { try timeline.insert(try memo(1)) }
  }

  @Test(arguments: Place.allCases)
  func deleteReturnsTheMemoAndItIsGone(place: Place) throws {
    let memos = try (1...3).map { try memo($0, at: $0) }
    let timeline = try timeline(place, memos)
    #expect(try timeline.delete(MemoID(2)) == memos[1])
    #expect(try timeline.delete(MemoID(2)) == nil)
    #expect(try timeline.memo(for: MemoID(2)) == nil)
    #expect(try timeline.latest(5).map(\.id) == [3, 1].map { MemoID($0) })
    #expect(try timeline.count() == 2)
    #expect(try timeline.verify().isSound)
  }

  @Test(arguments: Place.allCases)
  func aDeletedIDCanComeBackAndArrivesAnew(place: Place) throws {
    let timeline = try timeline(place, try (1...3).map { try memo($0, at: 7) })
    try timeline.delete(MemoID(1))
    try timeline.insert(try memo(1, at: 7, body: "again"))
    #expect(try timeline.latest(5).map(\.id) == [1, 3, 2].map { MemoID($0) })
    #expect(try timeline.memo(for: MemoID(1))?.body == "again")
    #expect(try timeline.count() == 3)
  }

  @Test func idsThatSwiftCallsEqualAreTwoMemos() throws {
    let timeline = MemoTimeline.inMemory()
    let composed = try MemoID("caf\u{E9}")
    let decomposed = try MemoID("cafe\u{301}")
    try timeline.insert(try memo(composed, body: "1"))
    try timeline.insert(try memo(decomposed, body: "2"))
    try timeline.insert(try memo(MemoID("12"), body: "3"))
    try timeline.insert(try memo(12, body: "4"))
    #expect(try timeline.count() == 4)
    #expect(try timeline.memo(for: composed)?.body == "1")
    #expect(try timeline.memo(for: decomposed)?.body == "2")
    #expect(try timeline.memo(for: MemoID("12"))?.body == "3")
    #expect(try timeline.memo(for: MemoID(12))?.body == "4")
  }

  @Test func bodiesComeBackByteForByte() throws {
    let timeline = MemoTimeline.inMemory()
    let bodies = [
      "", "\0", "a\0b", "caf\u{E9}", "cafe\u{301}", "\u{FEFF}x", "\r\n",
      "\u{1F468}\u{200D}\u{1F469}", String(repeating: "e\u{301}", count: 100_000),
    ]
    for (id, body) in bodies.enumerated() { try timeline.insert(try memo(Int64(id), body: body)) }
    try timeline.flush()
    for (id, body) in bodies.enumerated() {
      let stored = try timeline.memo(for: MemoID(Int64(id)))?.body
      #expect(stored.map { Array($0.utf8) } == Array(body.utf8), "body \(id)")
    }
  }

  @Test func aMemoThatIsTooLargeIsRefusedAndChangesNothing() throws {
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(try memo(1))
    let body = String(repeating: "x", count: Limits.Value.maximumByteCount)
    let large = try memo(2, body: body)
    #expect(!MemoTimeline.canStore(large))
    let tooLarge = MemoError.database(
      .limitExceeded(what: "value", maximum: Limits.Value.maximumByteCount))
    #expect(throws: tooLarge) { try timeline.insert(large) }
    #expect(throws: tooLarge) { try timeline.upsert(large) }
    #expect(throws: tooLarge) { try timeline.importBatch([large]) }
    #expect(throws: tooLarge) { try timeline.importBatch([try memo(3), large]) }
    #expect(try timeline.count() == 1)
    #expect(try timeline.memo(for: MemoID(3)) == nil)
    let fitting = try memo(2, body: String(body.dropLast(32)))
    #expect(MemoTimeline.canStore(fitting))
    try timeline.insert(fitting)
    #expect(try timeline.memo(for: MemoID(2)) == fitting)
  }

  @Test func aFinishedTimelineThrowsClosed() throws {
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(try memo(1))
    try timeline.close()
    try timeline.close()
    let closed = MemoError.database(.closed)
    #expect(throws: closed) { try timeline.latest(1) }
    #expect(throws: closed) { try timeline.page(after: nil, count: 1) }
    #expect(throws: closed) { try timeline.memo(for: MemoID(1)) }
    #expect(throws: closed) { try timeline.count() }
    #expect(throws: closed) { try timeline.insert(try memo(2)) }
    #expect(throws: closed) { try timeline.upsert(try memo(1)) }
    #expect(throws: closed) { try timeline.delete(MemoID(1)) }
    #expect(throws: closed) { try timeline.importBatch([try memo(1)]) }
    #expect(throws: closed) { try timeline.verify() }
    #expect(throws: closed) { try timeline.flush() }
  }
}
