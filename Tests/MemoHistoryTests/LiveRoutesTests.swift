import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Testing

/// Lists beside everything else that happens to a store.
@MainActor @Suite struct LiveRoutesTests {
  private let clock = ManualClock()
  private let volume = TestVolume()

  /// Every way in which memos change ends in a list that shows it.
  @Test(.bug(id: "B94")) func everyRouteIsNoticed() async throws {
    let store = try volume.open(Memo.self, clock: clock, trash: .seconds(86_400))
    let screen = HistoryScreen<Memo>()
    store.observe(by: screen) { $0.show($1) }
    func expect(
      _ ids: [Int64], _ route: String, location: SourceLocation = #_sourceLocation
    ) async {
      await clock.advance(by: .seconds(1))
      #expect(
        screen.snapshots.last?.ids == ids.map { MemoID($0) }, "\(route)", sourceLocation: location)
    }
    let memos = try (1...3).map { try memo($0, at: $0) }
    _ = try await store.importMemos(memos)
    await expect([3, 2, 1], "import")
    let first = try #require(try await store.delete(MemoID(2)))
    await expect([3, 1], "delete")
    try await store.undo(first)
    await expect([3, 2, 1], "undo")
    let second = try #require(try await store.delete(MemoID(1)))
    await expect([3, 2], "delete again")
    try await store.restore(second)
    await expect([3, 2, 1], "restore")
    try await store.perform { memos in try memos.delete(MemoID(3)) }
    await expect([2, 1], "transaction")
    let count = screen.snapshots.count
    try await store.purge()
    await expect([2, 1], "purge")
    #expect(screen.snapshots.count == count, "a purge changes no list")

    try await store.suspend()
    let other = try volume.openElsewhere(Memo.self)
    try await other.insert(try memo(9, at: 9))
    try await other.close()
    try await store.resume()
    await expect([9, 2, 1], "another process")
    try await store.suspend()
    try await store.resume()
    await expect([9, 2, 1], "nothing")
    #expect(screen.snapshots.count == count + 1, "nobody wrote")
  }

  /// What a list has shown is there as long as somebody holds it.
  @Test(.bug(id: "B95")) func memosThatAreHeldOutliveTheirDeletion() async throws {
    let store = try volume.open(Memo.self, clock: clock)
    for id in 1...4 { try await store.insert(try memo(Int64(id), at: Int64(id), body: "\(id)")) }
    let history = LiveHistory(store)
    let held = history.items
    try await store.delete(MemoID(4))
    try await store.delete(MemoID(4))
    try await store.delete(contentsOf: held.map(\.id))
    try await store.emptyTrash()
    try await store.purge()
    #expect(held.map(\.body) == ["4", "3", "2", "1"])
    await clock.advance(by: .seconds(1))
    #expect(history.items.isEmpty && history.error == nil)
    history.update(held[0].id) { $0.body = "gone" }
    history.delete(held[0].id)
    await history.settle()
    #expect(history.items.isEmpty && history.error == nil)
    #expect(held.map(\.body) == ["4", "3", "2", "1"])
  }

  /// The main thread reads inside of what it is shown while a task writes in a loop, and both end.
  @Test(.bug(id: "B97")) func writersAndListsDoNotWaitForEachOther() async throws {
    let store = MemoStore<Memo>.inMemory(
      reflection: ReflectionPolicy(
        afterInsert: .zero, afterOther: .zero, maximumDelay: .zero))
    let screen = HistoryScreen<Memo>()
    store.observe(by: screen) { screen, snapshot in
      // A read in the middle of a delivery; what fails is not shown, and then the end never comes.
      if (try? store.latest(10)) != nil { screen.show(snapshot) }
    }
    let writer = Task.detached { () async throws in
      for id in 0..<300 as Range<Int64> {
        try await store.insert(try memo(id, at: id))
        if id % 3 == 0 { try await store.delete(MemoID(id)) }
      }
    }
    try await writer.value
    while screen.snapshots.last?.items.count != 200 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try store.latest(200) == screen.snapshots.last?.items)
  }
}
