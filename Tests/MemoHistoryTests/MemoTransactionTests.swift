import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// Changes that are made together: all or nothing, and reads among them see the ones before.
@Suite struct MemoTransactionTests {
  private struct Refusal: Error {}

  private func store(_ ids: ClosedRange<Int64>) async throws -> MemoStore<Memo> {
    let store = MemoStore<Memo>.inMemory()
    for id in ids { try await store.insert(try memo(id, at: id)) }
    return store
  }

  private func ids(_ ids: Int64...) -> [MemoID] { ids.map { MemoID($0) } }

  @Test func whatIsDoneTogetherIsReadBackAtOnce() async throws {
    let store = try await store(1...4)
    let inside = try await store.perform { memos in
      try memos.insert(try memo(9, at: 9))
      try memos.upsert(try memo(2, at: 20, body: "moved"))
      try memos.update(MemoID(3)) { $0.body = "changed" }
      try memos.delete(MemoID(4))
      #expect(memos.count() == 4)
      #expect(try memos.count(since: MemoTimestamp(microseconds: 3_000_000) ?? .now) == 3)
      #expect(try memos.memo(for: MemoID(4)) == nil)
      #expect(try memos.memo(for: MemoID(3))?.body == "changed")
      #expect(try memos.latest(2).map(\.id) == [MemoID(2), MemoID(9)])
      return try memos.latest(10)
    }
    #expect(inside.map(\.id) == ids(2, 9, 3, 1))
    #expect(try store.latest(10) == inside)
    #expect(try store.count() == 4)
  }

  @Test func aFailureLeavesNothing() async throws {
    let store = try await store(1...3)
    let before = try store.latest(10)
    await #expect(throws: Refusal.self) {
      try await store.perform { memos in
        try memos.insert(try memo(9, at: 9))
        try memos.delete(MemoID(1))
        throw Refusal()
      }
    }
    await #expect(throws: MemoError.duplicateID) {
      try await store.perform { memos in
        try memos.delete(MemoID(1))
        try memos.insert(try memo(2, at: 9))
      }
    }
    #expect(try store.latest(10) == before)
    #expect(try store.trashCount() == 0)
  }

  @Test func aPartThatFailsIsTakenBackAlone() async throws {
    let store = try await store(1...3)
    try await store.perform { memos in
      try memos.delete(MemoID(1))
      #expect(throws: Refusal.self) {
        try memos.perform { memos in
          try memos.delete(MemoID(2))
          #expect(memos.count() == 1)
          throw Refusal()
        }
      }
      let count = try memos.perform { memos in
        try memos.insert(try memo(7, at: 7))
        return memos.count()
      }
      #expect(count == 3)
    }
    #expect(try store.latest(10).map(\.id) == ids(7, 3, 2))
  }

  @Test func aDeletionIsUndoneInTheSameTransactionOrALaterOne() async throws {
    let store = try await store(1...3)
    let before = try store.latest(10)
    let sequence = try store.timeline.database.snapshot().sequence
    try await store.perform { memos in
      let deletion = try memos.delete(MemoID(2))
      try memos.undo(try #require(deletion))
      #expect(throws: MemoError.deletionExpired) { try memos.undo(try #require(deletion)) }
    }
    #expect(try store.latest(10) == before)
    #expect(
      try store.timeline.database.snapshot().sequence == sequence,
      "nothing has changed, nothing is written")

    let deletion = try await store.perform { memos in try memos.delete(MemoID(2)) }
    try await store.perform { memos in
      try memos.undo(try #require(deletion))
      try memos.update(MemoID(2)) { $0.body = "again" }
    }
    #expect(try store.latest(10).map(\.id) == before.map(\.id))
    #expect(try store.memo(for: MemoID(2))?.body == "again")
    #expect(try store.trashCount() == 0)
  }

  @Test func whatOneTransactionInsertsAndDeletesWasNeverThere() async throws {
    let store = try await store(1...1)
    let deletion = try await store.perform { memos in
      try memos.insert(try memo(2, at: 2))
      return try memos.delete(MemoID(2))
    }
    #expect(deletion == nil)
    #expect(try store.count() == 1)
    #expect(try store.trashCount() == 0)
  }

  @Test func severalMemosAreOneCommit() async throws {
    let clock = ManualClock()
    let store = MemoStore<Memo>.inMemory(clock: clock)
    let history = await LiveHistory(store)
    #expect(await history.items.isEmpty)
    try await store.insert(contentsOf: try (1...5).map { try memo($0, at: $0) })
    await clock.advance(by: .milliseconds(200))
    #expect(await history.items.map(\.id) == ids(5, 4, 3, 2, 1))
    await #expect(throws: MemoError.duplicateID) {
      try await store.insert(contentsOf: [try memo(8, at: 8), try memo(3, at: 3)])
    }
    try await store.upsert(contentsOf: [try memo(8, at: 8), try memo(3, at: 3, body: "x")])
    #expect(try store.count() == 6)
    let deletions = try await store.delete(contentsOf: ids(8, 99, 1))
    #expect(deletions.count == 2)
    #expect(try store.latest(10).map(\.id) == ids(5, 4, 3, 2))
    for deletion in deletions { try await store.undo(deletion) }
    #expect(try store.count() == 6)
  }

  /// Callers in one process take turns, so an addition is never lost.
  @Test func transactionsTakeTurns() async throws {
    let store = try await store(1...1)
    try await store.update(MemoID(1)) { $0.body = "0" }
    await withTaskGroup { group in
      for _ in 0..<50 {
        group.addTask {
          try? await store.perform { memos in
            guard let number = try memos.memo(for: MemoID(1)).flatMap({ Int($0.body) }) else {
              return
            }
            try memos.update(MemoID(1)) { $0.body = "\(number + 1)" }
          }
        }
      }
    }
    #expect(try store.memo(for: MemoID(1))?.body == "50")
  }

  @Test func aReaderSeesOneMoment() async throws {
    let store = try await store(1...5)
    let (count, sum) = try await store.read { memos in
      let count = memos.count()
      try store.timeline.insert(try memo(6, at: 6))
      let first = try memos.page(count: 3)
      let rest = try memos.page(after: first.next, count: 3)
      #expect(rest.next == nil)
      #expect(try memos.latest(9) == first.memos + rest.memos)
      #expect(try memos.memo(for: MemoID(6)) == nil)
      return (count, try memos.count(since: MemoTimestamp(microseconds: 2_000_000) ?? .now))
    }
    #expect(count == 5 && sum == 4)
    #expect(try store.count() == 6)
  }

  @Test func aCancelledReadDoesNotStart() async throws {
    let store = try await store(1...1)
    let reading = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.read { memos in memos.count() }
    }
    await #expect(throws: MemoError.cancelled) { try await reading.value }
  }

  @Test @MainActor func snapshotsTellWhoWrote() async throws {
    let clock = ManualClock()
    let store = MemoStore<Memo>.inMemory(clock: clock)
    let screen = Screen()
    store.observe(by: screen) { $0.origins.append($1.origin) }
    try await store.insert(try memo(1, at: 1), origin: "sync")
    await clock.advance(by: .seconds(1))
    try await store.update(MemoID(1)) { $0.body = "x" }
    await clock.advance(by: .seconds(1))
    try await store.perform(origin: "both") { memos in try memos.delete(MemoID(1)) }
    await clock.advance(by: .seconds(1))
    #expect(screen.origins == [nil, "sync", nil, "both"])
  }

  private final class Screen {
    var origins: [String?] = []
  }
}
