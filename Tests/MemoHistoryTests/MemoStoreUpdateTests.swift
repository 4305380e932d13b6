import Foundation
import KVEngine
import MemoCore
import Testing

@testable import MemoHistory

/// Changes of stored memos: nothing is lost, whoever writes at the same time.
@Suite struct MemoStoreUpdateTests {
  private func note(_ text: String = "milk") -> Note { Note(text: text) }

  @Test func anUpdateChangesWhatTheClosureChanges() async throws {
    let store = MemoStore<Note>.inMemory()
    var note = note()
    try await store.insert(note)
    let updated = try await store.update(note.id) { $0.tags.append("x") }
    note.tags = ["x"]
    #expect(updated == note)
    #expect(try store.memo(for: note.id) == note)
    #expect(try store.timeline.memo(for: note.id.memoID)?.changedAt != nil)
  }

  @Test func anUpdateThatChangesNothingWritesNothing() async throws {
    let store = MemoStore<Note>.inMemory()
    let note = note()
    try await store.insert(note)
    let before = try store.timeline.database.snapshot().sequence
    #expect(try await store.update(note.id) { $0.text = "milk" } == note)
    #expect(try await store.upsert(note) == note)
    #expect(try await store.replace(note, with: note))
    #expect(try store.timeline.database.snapshot().sequence == before)
    #expect(try store.timeline.memo(for: note.id.memoID)?.changedAt == nil)
  }

  @Test func aMissingMemoIsAnErrorUnlessThereIsADefault() async throws {
    let store = MemoStore<Note>.inMemory()
    let note = note()
    await #expect(throws: MemoError.missingID) {
      try await store.update(note.id) { $0.text = "x" }
    }
    #expect(try store.count() == 0)
    for count in 1...2 {
      let updated = try await store.update(note.id, default: note) { $0.count += 1 }
      #expect(updated.count == count)
    }
    #expect(try store.memo(for: note.id)?.count == 2)
    let other = UUID()
    await #expect(throws: MemoError.changedID) {
      try await store.update(other, default: note) { _ in }
    }
    #expect(try store.count() == 1)
  }

  @Test func theIDStaysWhatItIs() async throws {
    let store = MemoStore<Note>.inMemory()
    let note = note()
    try await store.insert(note)
    await #expect(throws: MemoError.changedID) {
      try await store.update(note.id) { $0.id = UUID() }
    }
    await #expect(throws: MemoError.changedID) {
      try await store.replace(note, with: self.note())
    }
    #expect(try store.latest(5) == [note])
  }

  @Test func replaceWritesOnlyOverTheVersionThatIsMeant() async throws {
    let store = MemoStore<Note>.inMemory()
    let first = note()
    var second = first
    second.text = "tea"
    #expect(try await store.replace(first, with: second) == false)
    try await store.insert(first)
    #expect(try await store.replace(second, with: first) == false)
    #expect(try await store.replace(first, with: second))
    #expect(try store.memo(for: first.id) == second)
    #expect(try await store.replace(first, with: second) == false)
  }

  @Test func createdAtMovesTheMemo() async throws {
    let store = MemoStore<Note>.inMemory()
    let notes = (0..<3).map { number in
      Note(createdAt: MemoTimestamp(microseconds: Int64(number)) ?? .now, text: "\(number)")
    }
    for note in notes { try await store.insert(note) }
    try await store.update(notes[0].id) { $0.createdAt = .now }
    #expect(try store.latest(5).map(\.text) == ["0", "2", "1"])
    #expect(try store.timeline.verify().isSound)
  }

  @Test func twoTasksLoseNoIncrement() async throws {
    let store = MemoStore<Note>.inMemory()
    let note = note()
    try await store.insert(note)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<200 { try await store.update(note.id) { $0.count += 1 } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.memo(for: note.id)?.count == 400)
  }

  @Test func upsertGivesBackTheOldMemoAndDeleteTheLast() async throws {
    let store = MemoStore<Note>.inMemory()
    var note = note()
    #expect(try await store.upsert(note) == nil)
    let old = note
    note.sent = true
    #expect(try await store.upsert(note) == old)
    #expect(try await store.delete(note.id) != nil)
    #expect(try await store.delete(note.id) == nil)
    await #expect(throws: MemoError.self) {
      let texts = MemoStore<Named>.inMemory()
      try await texts.insert(Named(id: ""))
    }
  }

  private struct Named: MemoEntity {
    var id: String
    var createdAt = MemoTimestamp.now
    var text = ""
  }

  @Test func idsOfEveryKindComeBack() async throws {
    func check<ID: MemoIdentifier>(_ ids: [ID]) throws {
      for id in ids { #expect(ID(memoID: try id.memoID) == id) }
      #expect(ID(memoID: MemoID(uuid: (high: 1, low: 1))) == nil || ID.self != String.self)
    }
    try check([0, -1, Int.max])
    try check([Int64.min])
    try check(["a", "caf\u{E9}"])
    try check([[0, 255]] as [[UInt8]])
    try check([UUID()])
    try check([MemoID(1)])
    #expect(Int(memoID: try MemoID("1")) == nil && String(memoID: MemoID(1)) == nil)
    #expect(UUID(memoID: MemoID(1)) == nil && [UInt8](memoID: MemoID(1)) == nil)
    let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    #expect("\(uuid.memoID)" == "00112233-4455-6677-8899-aabbccddeeff")
    #expect(throws: MemoError.self) { try "".memoID }
  }

  @Test @MainActor func aScreenCanUseItself() async throws {
    let screen = Screen()
    try await screen.save()
    try await screen.save()
    #expect(try screen.store.latest(1).map(\.count) == [2])
    #expect(screen.saved == 2)
  }
}

/// Call sites on the main actor: closures that use the object's own state, with no `@Sendable` and
/// no weak reference.
@MainActor private final class Screen {
  let store = MemoStore<Note>.inMemory()
  let id = UUID()
  var draft = "milk"
  var saved = 0

  func save() async throws {
    try await store.update(id, default: Note(id: id, text: draft)) {
      $0.text = self.draft
      $0.count += 1
      self.saved += 1
    }
    guard let old = try store.memo(for: id) else { return }
    var new = old
    new.tags = [draft]
    #expect(try await store.replace(old, with: new))
    try await store.update(id) { note in note.sent = draft.isEmpty }
  }
}
