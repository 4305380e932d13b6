import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// Pages: each memo once, whatever comes or goes between them.
@Suite struct MemoTimelinePagingTests {
  @Test(arguments: [1, 2, 7, 199, 200, 201, 1000])
  func pagesOfEqualTimesGiveEachMemoOnce(size: Int) throws {
    let timeline = MemoTimeline.inMemory()
    let ids = (0..<200).map { MemoID($0) }
    _ = try timeline.importBatch(try ids.map { try memo($0, at: 5) })
    #expect(try timeline.allMemos(pageSize: size).map(\.id) == ids.reversed())
  }

  @Test func theLastPageSaysThatNothingFollows() throws {
    let timeline = MemoTimeline.inMemory()
    _ = try timeline.importBatch(try (0..<14).map { try memo($0, at: $0) })
    let first = try timeline.page(after: nil, count: 7)
    let second = try timeline.page(after: first.next, count: 7)
    #expect(first.next != nil && second.memos.count == 7)
    #expect(second.next == nil)
    #expect(try timeline.page(after: nil, count: 0).memos.isEmpty)
    #expect(try timeline.page(after: first.next, count: -1).memos.isEmpty)
  }

  /// Bug case B71: 1,000 equal times, pages of seven, inserts between the pages.
  @Test(arguments: [false, true])
  func insertsBetweenPagesShowNothingTwice(flushes: Bool) throws {
    let timeline = MemoTimeline.inMemory()
    let ids = (0..<1000).map { MemoID($0) }
    _ = try timeline.importBatch(try ids.map { try memo($0, at: 5) })
    var shown: [MemoID] = []
    var older: [MemoID] = []
    var position: MemoKey?
    var number: Int64 = 1000
    repeat {
      let page = try timeline.page(after: position, count: 7)
      shown += page.memos.map(\.id)
      position = page.next
      if number < 1040 {
        // A later arrival at the same instant and a newer memo are in front of the position.
        try timeline.insert(try memo(number, at: 5))
        try timeline.insert(try memo(number + 1, at: 6))
        try timeline.insert(try memo(number + 2, at: 4))
        older.append(MemoID(number + 2))
        number += 3
        if flushes { try timeline.flush() }
      }
    } while position != nil
    #expect(shown == ids.reversed() + older.reversed())
    #expect(try timeline.count() == 1000 + Int(number) - 1000)
  }

  @Test func deletesBetweenPagesLoseNothingElse() throws {
    let timeline = MemoTimeline.inMemory()
    _ = try timeline.importBatch(try (0..<100).map { try memo($0, at: 5) })
    var shown: [MemoID] = []
    var position: MemoKey?
    repeat {
      let page = try timeline.page(after: position, count: 7)
      shown += page.memos.map(\.id)
      position = page.next
      // The memo at the position itself goes, and one that is still to come.
      if let last = page.memos.last { try timeline.delete(last.id) }
      try timeline.delete(MemoID(50))
    } while position != nil
    #expect(shown == (0..<100).reversed().filter { $0 != 50 }.map { MemoID($0) })
    #expect(try timeline.verify().isSound)
  }

  @Test func aMemoThatMovesBackIsShownAgainAndOthersOnce() throws {
    let timeline = MemoTimeline.inMemory()
    _ = try timeline.importBatch(try (0..<20).map { try memo($0, at: 100 + $0) })
    let first = try timeline.page(after: nil, count: 5)
    try timeline.upsert(try memo(19, at: 3))
    let rest = try timeline.page(after: first.next, count: 100)
    #expect(rest.memos.map(\.id) == Array((0..<15).reversed() + [19]).map { MemoID(Int64($0)) })
  }

  @Test func bothDirectionsAreMirrorImages() throws {
    let timeline = MemoTimeline.inMemory()
    for part in 0..<4 {
      let seconds = (0..<25).map { (Int64(part * 25 + $0), Int64($0 * 7 % 5)) }
      _ = try timeline.importBatch(try seconds.map { try memo($0.0, at: $0.1) })
      if part < 3 { try timeline.flush() }
    }
    var cursor = try timeline.cursor()
    var backward: [Memo] = []
    while let (_, memo) = try cursor.previous() { backward.append(memo) }
    #expect(backward.count == 100)
    #expect(try timeline.allMemos() == backward.reversed())
  }

  @Test func aCursorShowsItsMoment() throws {
    let timeline = MemoTimeline.inMemory()
    _ = try timeline.importBatch(try (0..<50).map { try memo($0, at: $0) })
    var cursor = try timeline.cursor()
    var ids = [try #require(try cursor.next()).memo.id]
    for id in 0..<50 as Range<Int64> { try timeline.delete(MemoID(id)) }
    try timeline.flush()
    try timeline.insert(try memo(99, at: 1))
    while let (_, memo) = try cursor.next() { ids.append(memo.id) }
    #expect(ids == (0..<50).reversed().map { MemoID($0) })
    #expect(try timeline.latest(9).map(\.id) == [MemoID(99)])
  }

  @Test func damageBehindThePageDoesNotConcernIt() throws {
    let timeline = MemoTimeline.inMemory()
    let memos = try (0..<5).map { try memo($0, at: $0) }
    _ = try timeline.importBatch(memos)
    let key = try #require(try timeline.key(of: MemoID(2)))
    try timeline.database.write { batch throws(DatabaseError) in
      batch.put([0xFF], forKey: key.encode(), in: MemoSpace.memos)
    }
    #expect(try timeline.latest(2) == [memos[4], memos[3]])
    let page = try timeline.page(after: nil, count: 2)
    #expect(page.memos == [memos[4], memos[3]])
    #expect(page.next != nil)
    #expect(throws: MemoError.self) { try timeline.page(after: page.next, count: 2) }
    #expect(throws: MemoError.self) { try timeline.latest(3) }
    #expect(try timeline.memo(for: MemoID(1)) == memos[1])
    // The cursor goes on behind a memo that cannot be decoded.
    var cursor = try timeline.cursor(after: key)
    #expect(try cursor.next()?.memo == memos[1])
  }
}
