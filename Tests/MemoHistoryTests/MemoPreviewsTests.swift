import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// Beginnings of texts and single fields, read without the app's type.
@Suite struct MemoPreviewsTests {
  static let texts = [
    "", "a", "milk and tea", "caf\u{E9}s", "cafe\u{301}s", "\u{4E2D}\u{6587}\u{4E2D}\u{6587}",
    "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}!",
    "\u{1F1E9}\u{1F1EA}\u{1F1EB}\u{1F1F7}", "a\r\nb\r\n", "\u{301}x",
  ]

  @Test(arguments: texts)
  func aTextEndsBetweenCharacters(text: String) async throws {
    let store = MemoStore<Memo>.inMemory()
    try await store.insert(Memo(id: MemoID(1), body: text))
    for byteCount in 0...(text.utf8.count + 5) {
      let preview = try #require(try store.previews(1, byteCount: byteCount).first)
      // As many characters as fit.
      var expected = ""
      for character in text {
        guard expected.utf8.count + character.utf8.count <= byteCount else { break }
        expected.append(character)
      }
      #expect(Array(preview.text.utf8) == Array(expected.utf8), "\(byteCount) bytes")
      #expect(preview.isComplete == (byteCount >= text.utf8.count), "\(byteCount) bytes")
    }
    #expect(try store.previews(1, byteCount: .max).first?.text == text)
    #expect(try store.previews(1, byteCount: .min).first?.text == "")
  }

  @Test func previewsGoOnBehindTheLastOne() async throws {
    let store = MemoStore<Memo>.inMemory()
    for id in 1...10 {
      var memo = try memo(Int64(id), at: Int64(id / 2))
      if id == 4 { memo.changedAt = .now }
      try await store.insert(memo)
    }
    var previews: [MemoPreview<MemoID>] = []
    while true {
      let next = try store.previews(3, byteCount: 4, after: previews.last?.position)
      if next.isEmpty { break }
      previews += next
    }
    let memos = try store.latest(100)
    #expect(previews.map(\.id) == memos.map(\.id))
    #expect(previews.map(\.createdAt) == memos.map(\.createdAt))
    #expect(previews.allSatisfy { $0.text == "memo" && !$0.isComplete })
    #expect(try store.previews(0, byteCount: 4).isEmpty)
    #expect(try store.page(after: previews[4].position, count: 2).memos == Array(memos[5...6]))
  }

  @Test func aMemoThatDoesNotFitTheTypeHasAPreview() async throws {
    let volume = TestVolume()
    do {
      let store = try volume.open(Sample<Int>.self)
      try await store.insert(Sample(id: 1, text: "milk", value: 1))
      try await store.close()
    }
    let texts = try volume.open(Sample<String>.self)
    #expect(throws: MemoError.self) { try texts.latest(1) }
    #expect(try texts.previews(1, byteCount: 100).map(\.text) == ["milk"])
    #expect(try texts.field("value", of: 1) == .integer(1))
  }

  @Test func anIDOfAnotherKindIsAnError() async throws {
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(try memo(1))
    let store = MemoStore<Note>(timeline)
    #expect(throws: MemoError.self) { try store.previews(1, byteCount: 10) }
  }

  @Test func oneFieldIsReadAlone() async throws {
    let store = MemoStore<Note>.inMemory()
    let note = Note(text: "milk", tags: ["a", "b"], sent: true)
    try await store.insert(note)
    #expect(try store.field("tags", of: note.id) == .list([.text("a"), .text("b")]))
    #expect(try store.field("sent", of: note.id) == .bool(true))
    #expect(try store.field("text", of: note.id) == .text("milk"))
    #expect(try store.field("createdAt", of: note.id) == .timestamp(note.createdAt))
    #expect(try store.field("other", of: note.id) == nil)
    #expect(try store.field("tags", of: UUID()) == nil)
  }

  @Test func aMemoWithoutFieldsHasThoseOfItsEnvelope() async throws {
    let store = MemoStore<Memo>.inMemory()
    let memo = Memo(id: MemoID(7), body: "milk")
    try await store.insert(memo)
    #expect(try store.field("text", of: memo.id) == .text("milk"))
    #expect(try store.field("id", of: memo.id) == .integer(7))
    #expect(try store.field("createdAt", of: memo.id) == .timestamp(memo.createdAt))
    #expect(try store.field("body", of: memo.id) == nil)
  }

  /// A name that another process has added since we have read them.
  @Test func namesOfAnotherProcessAreFound() async throws {
    let volume = TestVolume()
    let first = try volume.open(Sample<Int>.self)
    try await first.insert(Sample(id: 1, value: 1))
    #expect(try first.field("street", of: 1) == nil)
    // Gives up the lock.
    try await first.suspend()
    let second = try volume.openElsewhere(Sample<Address>.self)
    try await second.insert(Sample(id: 2, value: Address(lines: [])))
    try await first.resume()
    #expect(
      try first.field("value", of: 2)
        == .record(["street": .text("Main"), "number": .integer(5), "lines": .list([])]))
  }

  @Test func damagedFieldsAreAnError() async throws {
    let store = MemoStore<Note>.inMemory()
    let note = Note(text: "milk")
    try await store.insert(note)
    var memo = try #require(try store.timeline.memo(for: note.id.memoID))
    memo.payload = [1, 200, 0]
    try store.timeline.upsert(memo)
    #expect(throws: MemoError.self) { try store.field("sent", of: note.id) }
    #expect(try store.previews(1, byteCount: 9).first?.text == "milk")
  }
}
