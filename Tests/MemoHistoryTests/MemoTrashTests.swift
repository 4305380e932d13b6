import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Testing

/// The trash: as long as a store was opened with, and what is brought back or gone for good.
@Suite struct MemoTrashTests {
  private static let month = Duration.seconds(30 * 86_400)

  private let clock = ManualClock()
  private let store: MemoStore<Memo>

  init() async throws {
    store = MemoStore<Memo>.inMemory(clock: clock, trash: Self.month)
    for id in 1...3 { try await store.insert(try memo(Int64(id), at: Int64(id))) }
  }

  private func delete(_ id: Int64) async throws -> MemoDeletion {
    try #require(try await store.delete(MemoID(id)))
  }

  @Test func whatWasDeletedIsListedLatestFirst() async throws {
    let before = try store.latest(10)
    let first = try await delete(2)
    await clock.advance(by: .seconds(1))
    let second = try await delete(1)
    #expect(try store.trash().map(\.deletion) == [second, first])
    #expect(try store.trash().map(\.memo) == [before[2], before[1]])
    #expect(try store.trash(1).count == 1)
    #expect(try store.trashCount() == 2)
  }

  @Test func aMemoComesBackWhenItCanNoLongerBeUndone() async throws {
    let before = try store.latest(10)
    let deletion = try await delete(2)
    await clock.advance(by: .seconds(3600))
    #expect(try store.undoableDeletions().isEmpty)
    await #expect(throws: MemoError.deletionExpired) { try await store.undo(deletion) }
    try await store.restore(deletion)
    #expect(try store.latest(10) == before)
    #expect(try store.trashCount() == 0)
    await #expect(throws: MemoError.deletionExpired) { try await store.restore(deletion) }
  }

  @Test func theTrashEndsWithItsPeriod() async throws {
    let deletion = try await delete(2)
    await clock.advance(by: Self.month - .seconds(1))
    try await store.purge()
    #expect(try store.trashCount() == 1)
    await clock.advance(by: .seconds(1))
    try await store.purge()
    #expect(try store.trashCount() == 0)
    await #expect(throws: MemoError.deletionExpired) { try await store.restore(deletion) }
  }

  @Test func whatIsRemovedIsGoneForGood() async throws {
    let deletions = [try await delete(1), try await delete(2), try await delete(3)]
    #expect(try await store.remove(deletions[0]))
    #expect(try await !store.remove(deletions[0]))
    #expect(try store.trashCount() == 2)
    #expect(try await store.emptyTrash() == 2)
    #expect(try await store.emptyTrash() == 0)
    #expect(try store.undoableDeletions().isEmpty)
    await #expect(throws: MemoError.deletionExpired) { try await store.undo(deletions[1]) }
    #expect(try store.count() == 0)
  }

  /// An app's own code is tested with values that no store has made.
  @Test func aDeletionWithoutAStoreIsOver() async throws {
    let deletion = MemoDeletion(deletedAt: .now, undoableUntil: .now)
    await #expect(throws: MemoError.deletionExpired) { try await store.undo(deletion) }
    let first = HistorySnapshot(try store.latest(2), query: MemoQuery(sections: .day))
    #expect(first.difference.insertions == [0, 1] && first.cause == .first)
    #expect(first.sections?.headers.count == 1)
    let next = HistorySnapshot(
      try store.latest(3), after: first, query: MemoQuery(sections: .day), origin: "test")
    #expect(next.difference.insertions == [2] && next.generation == 2)
    #expect(next.sectionDifference?.insertions.map(\.row) == [2])
    #expect(next.cause == .refreshed && next.origin == "test")
  }
}
