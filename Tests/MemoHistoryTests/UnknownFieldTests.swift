import Foundation
import MemoCore
import Testing

@testable import MemoHistory

/// What a newer version of the app has written survives an older one.
@Suite struct UnknownFieldTests {
  private struct Newer: MemoEntity {
    struct Inner: Codable, Hashable, Sendable {
      var known = 1
      var added = "inner"
      var choice = Choice.one(x: 1, y: 2)
    }
    enum Choice: Codable, Hashable, Sendable { case one(x: Int, y: Int), two }
    var id = "a"
    var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
    var text = "milk"
    var title = "milk"
    var known = 1
    var added: [String: [Int]] = ["x": [1, 2]]
    var changed = MemoTimestamp(microseconds: 1_000_000)
    var inner = Inner()
  }

  private struct Older: MemoEntity {
    struct Inner: Codable, Hashable, Sendable {
      var known = 1
      var choice = Choice.one(x: 1)
    }
    enum Choice: Codable, Hashable, Sendable { case one(x: Int), two }
    var id = "a"
    var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
    var text = "milk"
    var known = 1
    var inner = Inner()
  }

  private func stores() -> (newer: MemoStore<Newer>, older: MemoStore<Older>) {
    let timeline = MemoTimeline.inMemory()
    return (MemoStore(timeline), MemoStore(timeline))
  }

  @Test func anUpdateKeepsThem() async throws {
    let (newer, older) = stores()
    try await newer.insert(Newer())
    try await older.update("a") {
      $0.known = 2
      $0.inner.known = 3
      $0.text = "tea"
    }
    var expected = Newer()
    expected.known = 2
    expected.inner.known = 3
    expected.text = "tea"
    let found = try #require(try newer.memo(for: "a"))
    #expect(found == expected)
  }

  @Test func anUpsertKeepsThem() async throws {
    let (newer, older) = stores()
    try await newer.insert(Newer())
    try await older.upsert(Older(text: "tea", known: 9))
    let found = try #require(try newer.memo(for: "a"))
    #expect(found.title == "milk" && found.text == "tea")
    #expect(found.added == ["x": [1, 2]] && found.known == 9 && found.inner.added == "inner")
    #expect(found.changed == MemoTimestamp(microseconds: 1_000_000))
  }

  @Test func movingAMemoKeepsThemAsTheyWere() async throws {
    let (newer, older) = stores()
    try await newer.insert(Newer())
    let later = try #require(MemoTimestamp(microseconds: 5_000_000))
    try await older.update("a") { $0.createdAt = later }
    let found = try #require(try newer.memo(for: "a"))
    #expect(found.createdAt == later)
    #expect(found.changed == MemoTimestamp(microseconds: 1_000_000))
  }

  @Test func valuesOfAnotherCaseAreNotKept() async throws {
    let (newer, older) = stores()
    try await newer.insert(Newer())
    try await older.update("a") { $0.inner.choice = .one(x: 5) }
    #expect(try newer.memo(for: "a")?.inner.choice == .one(x: 5, y: 2))
    try await older.update("a") { $0.inner.choice = .two }
    #expect(try newer.memo(for: "a")?.inner.choice == .two)
    try await older.update("a") { $0.inner.choice = .one(x: 6) }
    #expect(throws: MemoError.self) { try newer.memo(for: "a") }
  }

  @Test func whatTheTypeKnowsCanBeRemoved() async throws {
    let timeline = MemoTimeline.inMemory()
    let store = MemoStore<Sample<[String: Int]?>>(timeline)
    try await store.insert(Sample(value: ["x": 1]))
    try await store.update(1) { $0.value = nil }
    #expect(try store.memo(for: 1)?.value == .some(nil))
    try await store.update(1) { $0.value = ["y": 2] }
    #expect(try store.memo(for: 1)?.value == ["y": 2])
  }

  /// A program without the app's type, as kvinspect is one, changes the text only.
  @Test func plainMemosKeepThePayload() async throws {
    let timeline = MemoTimeline.inMemory()
    let store = MemoStore<Note>(timeline)
    let note = Note(text: "milk", tags: ["a"], count: 5)
    try await store.insert(note)
    let plain = MemoStore<Memo>(timeline)
    try await plain.update(note.id.memoID) { $0.body = "tea" }
    #expect(try store.memo(for: note.id)?.text == "tea")
    try await plain.upsert(Memo(id: note.id.memoID, createdAt: note.createdAt, body: "coffee"))
    var expected = note
    expected.text = "coffee"
    #expect(try store.memo(for: note.id) == expected)
    // The same memo from a program that knows no payloads.
    let again = Memo(id: note.id.memoID, createdAt: note.createdAt, body: "coffee")
    #expect(try timeline.importBatch([again]).unchanged == 1)
    #expect(try store.memo(for: note.id) == expected)
  }
}
