import Foundation
import KVEngine
import KVTestSupport
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// One folder in one process: opened at every use, as some apps do, it is one store.
@Suite struct SharedStoreTests {
  private func memo(_ id: Int64) -> Memo { Memo(id: MemoID(id), body: "memo \(id)") }

  @Test func aSecondOpeningIsTheSameStore() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("memos")
    let first = try MemoStore(at: path)
    let second = try MemoStore(at: path + "/")
    try await first.insert(memo(1))
    #expect(try second.count() == 1)
    try await second.insert(memo(2))
    #expect(try first.latest(9).map(\.id) == [MemoID(2), MemoID(1)])
    await #expect(throws: MemoError.duplicateID) { try await first.insert(memo(2)) }
  }

  @Test func theLastCloseCloses() async throws {
    let directory = try TemporaryDirectory()
    let first = try MemoStore(at: directory.path("memos"))
    let second = try MemoStore(at: directory.path("memos"))
    try await first.insert(memo(1))
    try await first.close()
    try await first.close()
    try await second.insert(memo(2))
    try await second.close()
    await #expect(throws: MemoError.database(.closed)) { try await second.insert(memo(3)) }
    let third = try MemoStore(at: directory.path("memos"))
    #expect(try third.count() == 2)
    try await third.close()
  }

  @Test func aReferenceThatIsDroppedCountsAsClosed() async throws {
    let directory = try TemporaryDirectory()
    let first = try MemoStore(at: directory.path("memos"))
    do { _ = try MemoStore(at: directory.path("memos")) }
    try await first.insert(memo(1))
    try await first.close()
    await #expect(throws: MemoError.database(.closed)) { try await first.insert(memo(2)) }
    // Nobody holds this one, and the folder is free again.
    do { try await MemoStore(at: directory.path("memos")).insert(memo(2)) }
    let last = try MemoStore(at: directory.path("memos"))
    #expect(try last.count() == 2)
    try await last.close()
  }

  @Test func aFolderIsTheSameByWhateverLink() async throws {
    let directory = try TemporaryDirectory()
    let first = try MemoStore(at: directory.path("memos"))
    try await first.insert(memo(1))
    try FileManager.default.createSymbolicLink(
      atPath: directory.path("link"), withDestinationPath: directory.path("memos"))
    let second = try MemoStore(at: directory.path("link"))
    try await second.insert(memo(2))
    #expect(try first.count() == 2)
    let other = try MemoStore(at: directory.path("other"))
    #expect(try other.count() == 0)
  }

  /// Also of another type: what one writes is shown to the other's observers.
  @Test @MainActor func changesAreShownWhoeverMadeThem() async throws {
    let directory = try TemporaryDirectory()
    let policy = ReflectionPolicy(afterInsert: .zero, afterOther: .zero, maximumDelay: .zero)
    let memos = try MemoStore<Memo>(at: directory.path("memos"), reflection: policy)
    let notes = try MemoStore<Note>(at: directory.path("memos"))
    var shown = memos.snapshots().makeAsyncIterator()
    #expect(await shown.next()?.items.isEmpty == true)
    try await notes.insert(Note(text: "milk"), origin: "notes")
    let next = await shown.next()
    #expect(next?.items.map(\.body) == ["milk"] && next?.origin == "notes")
  }

  @Test func writesWaitForTheEndOfASuspension() async throws {
    let directory = try TemporaryDirectory()
    let store = try MemoStore(at: directory.path("memos"))
    try await store.insert(memo(1))
    try await store.suspend()
    #expect(try store.count() == 1)
    await #expect(throws: MemoError.database(.suspended)) { try await store.insert(memo(2)) }
    try await store.resume()
    try await store.insert(memo(2))
    try store.releaseMemory()
    #expect(try store.latest(9).count == 2)
    #expect(store.condition == .open)
    try await store.close()
    #expect(throws: MemoError.database(.closed)) { try store.releaseMemory() }
  }
}
