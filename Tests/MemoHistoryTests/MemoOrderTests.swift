import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Testing

/// The order of memos with whatever times: none is lost, shown twice or in the way.
@Suite struct MemoOrderTests {
  private let volume = TestVolume()

  private func allIDs(_ store: MemoStore<Memo>, pageSize: Int = 200) throws -> [MemoID] {
    var page = try store.page(count: pageSize)
    var ids = page.memos.map(\.id)
    while let next = page.next {
      page = try store.page(after: next, count: pageSize)
      ids += page.memos.map(\.id)
    }
    return ids
  }

  /// Eight tasks make memos while the clock jumps; who came later stands above those of its
  /// instant, and what was once in an order stays in it.
  @Test(.bug(id: "B70")) func aClockThatIsSetBackReordersNothing() async throws {
    var store = try volume.open(Memo.self)
    let shared = store
    let seconds: [Int64] = [7_200, 7_201, 7_201, 3_601, 3_601, 3_602]
    let origin = MemoTimestamp.now.microseconds / 1_000_000
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 as Range<Int64> {
        group.addTask {
          for (place, second) in seconds.enumerated() {
            let id = writer * 10 + Int64(place)
            try await shared.insert(try memo(id, at: origin + second))
          }
        }
      }
      try await group.waitForAll()
    }
    let order = try store.latest(100)
    #expect(order.count == 48)
    #expect(
      zip(order, order.dropFirst()).allSatisfy {
        $0.createdAt.microseconds >= $1.createdAt.microseconds
      })
    for writer in 0..<8 as Range<Int64> {
      let ids = (writer * 10..<writer * 10 + 6).map { MemoID($0) }
      let own = order.map(\.id).filter(ids.contains)
      let places = [2, 1, 0, 5, 4, 3] as [Int64]
      #expect(own == places.map { MemoID(writer * 10 + $0) })
    }
    try await store.purge()
    #expect(try store.latest(100) == order)
    store = try volume.relaunch(Memo.self)
    try await store.insert(try memo(1000, at: origin + 3_601))
    #expect(try store.latest(100).filter { $0.id != MemoID(1000) } == order)
  }

  /// A page ends in the middle of an instant, and memos of that instant come between two pages.
  @Test(.bug(id: "B71"), arguments: [1, 7, 999, 1000, 1001])
  func memosOfOneInstantComeOnceEach(pageSize: Int) async throws {
    let store = try volume.open(Memo.self)
    try await store.insert(contentsOf: try (0..<1000).map { try memo($0, at: 5) })
    var seen: [MemoID] = []
    var position: PagePosition?
    var next: Int64 = 1000
    repeat {
      let page = try store.page(after: position, count: pageSize)
      seen += page.memos.map(\.id)
      position = page.next
      try await store.insert(try memo(next, at: 5))
      next += 1
    } while position != nil
    #expect(seen == (0..<1000).reversed().map { MemoID($0) })
    #expect(try allIDs(store, pageSize: pageSize).count == Int(next))
  }

  /// A memo of the year 2099, and the last instant that there is, are memos like any other.
  @Test(.bug(id: "B73")) @MainActor func aDateFarInTheFutureIsInNobodysWay() async throws {
    let clock = ManualClock()
    let store = try volume.open(Memo.self, clock: clock)
    let token = try await store.changes(since: nil).token
    let screen = HistoryScreen<Memo>()
    store.observe(by: screen) { $0.show($1) }
    let last = MemoTimestamp.supportedMicroseconds.upperBound
    #expect(MemoTimestamp(microseconds: last + 1) == nil)
    for (id, microseconds) in [4_070_908_800_000_000, last].enumerated() {
      let time = try #require(MemoTimestamp(microseconds: microseconds))
      try await store.insert(Memo(id: MemoID(Int64(id)), createdAt: time, body: "far"))
    }
    for id in 10..<13 as Range<Int64> {
      try await store.insert(Memo(id: MemoID(id), body: "today"))
      await clock.advance(by: .seconds(1))
      #expect(screen.snapshots.last?.ids.contains(MemoID(id)) == true)
    }
    #expect(screen.snapshots.last?.ids.prefix(2) == [MemoID(1), MemoID(0)])
    #expect(try await store.changes(since: token).changes.count == 5)
    for id in [1, 10] as [Int64] {
      let deletion = try #require(try await store.delete(MemoID(id)))
      await clock.advance(by: .seconds(4))
      await #expect(throws: MemoError.deletionExpired) { try await store.undo(deletion) }
      try await store.purge()
    }
    #expect(try store.count() == 3)
    #expect(try store.trashCount() == 0)
  }
}
