import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Memos of older and newer versions of an app's type.
@Suite struct MemoSchemaTests {
  /// The type as it was, with a name that was changed later.
  private struct First: MemoEntity {
    struct Inner: Codable, Hashable, Sendable { var street = "Main" }
    var id = 1
    var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
    var body: String
    var stars = 3
    var inner = Inner()
    var text: String { body }
  }

  private struct Second: MemoEntity {
    struct Inner: Codable, Hashable, Sendable {
      var street = "Main"
      var number = 7
    }
    var id = 1
    var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
    var text: String
    var rating = 0.5
    var inner = Inner()
    var tags: [String] = ["new"]
    var note: String?

    static let schema = MemoSchema<Second>(version: 3, defaults: Second(text: "", note: "none")) {
      fields, version in
      if version == 1 {
        fields.rename("body", to: "text")
        if case .integer(let stars) = fields["stars"] {
          fields["rating"] = .double(Double(stars) / 5)
        }
        fields.remove("stars")
      }
      if version == 0 { fields["rating"] = .double(0.25) }
    }
  }

  @Test func anOldMemoIsUpgradedWhenItIsRead() async throws {
    let timeline = MemoTimeline.inMemory()
    try await MemoStore<First>(timeline).insert(First(body: "milk", stars: 4))
    let store = MemoStore<Second>(timeline)
    let expected = Second(text: "milk", rating: 0.8, note: "none")
    #expect(try store.memo(for: 1) == expected)
    #expect(try store.latest(5) == [expected])
    // Reading has written nothing.
    #expect(try MemoStore<First>(timeline).memo(for: 1) == First(body: "milk", stars: 4))
  }

  @Test func aWriteStoresTheNewForm() async throws {
    let timeline = MemoTimeline.inMemory()
    try await MemoStore<First>(timeline).insert(First(body: "milk"))
    let store = MemoStore<Second>(timeline)
    try await store.update(1) { $0.tags = [] }
    let found = try #require(try store.memo(for: 1))
    #expect(found == Second(text: "milk", rating: 0.6, tags: [], note: "none"))
    let memo = try #require(try timeline.memo(for: MemoID(1)))
    let payload = try MemoPayload(encoded: memo.payload.rawBytes)
    #expect(payload.schemaVersion == 3)
    let names = try timeline.names()
    #expect(names.number(of: "stars").flatMap { payload.record[$0] } == nil)
    #expect(names.number(of: "body").flatMap { payload.record[$0] } == nil)
    #expect(try timeline.verify().isSound)
  }

  @Test func anOptionalThatIsNilIsNotTakenFromTheDefaults() async throws {
    let store = MemoStore<Second>.inMemory()
    try await store.insert(Second(text: "milk", tags: [], note: nil))
    #expect(try store.memo(for: 1)?.note == .some(nil))
  }

  @Test func aPlainMemoIsOneOfVersionZero() async throws {
    let timeline = MemoTimeline.inMemory()
    let createdAt = try #require(MemoTimestamp(microseconds: 5_000_000, offsetSeconds: 3600))
    try timeline.insert(Memo(id: MemoID(1), createdAt: createdAt, body: "imported"))
    let store = MemoStore<Second>(timeline)
    let expected = Second(createdAt: createdAt, text: "imported", rating: 0.25, note: "none")
    #expect(try store.latest(1) == [expected])
    try await store.update(1) { $0.tags.append("x") }
    #expect(try store.memo(for: 1)?.tags == ["new", "x"])
    #expect(try timeline.verify().isSound)
  }

  @Test func aMissingFieldWithoutDefaultIsAnErrorOfThatMemo() async throws {
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(Memo(id: MemoID(1), body: "secret"))
    try await MemoStore<Sample<Int>>(timeline).insert(Sample(id: 2, value: 5))
    let store = MemoStore<Sample<Int>>(timeline)
    let error = #expect(throws: MemoError.self) { try store.memo(for: 1) }
    #expect(error == .unreadable(MemoID(1), reason: "field value is missing"))
    #expect(try store.memo(for: 2)?.value == 5)
    #expect(throws: MemoError.self) { try store.latest(5) }
    var reported: [MemoError] = []
    #expect(try store.latest(5) { reported.append($0) }.map(\.id) == [2])
    #expect(reported == [error])
    let page = try store.page(count: 2, unreadable: { reported.append($0) })
    #expect(page.memos.count == 1 && page.next == nil && reported.count == 2)
  }

  @Test func aMemoOfANewerVersionIsRefusedAndTheOthersAreRead() async throws {
    let timeline = MemoTimeline.inMemory()
    let first = MemoStore<First>(timeline)
    try await first.insert(First(id: 2, body: "mine"))
    try await MemoStore<Second>(timeline).insert(Second(text: "milk"))
    #expect(throws: MemoError.newerSchema(found: 3, known: 1)) { try first.memo(for: 1) }
    #expect(try first.memo(for: 2)?.body == "mine")
    await #expect(throws: MemoError.newerSchema(found: 3, known: 1)) {
      try await first.upsert(First(body: "x"))
    }
    #expect(try await first.delete(1) != nil)
    #expect(try first.latest(5).count == 1)
  }

  @Test func aStoreOfANewerVersionIsRefusedUntouched() async throws {
    let folder = try KVTestSupport.StoreFolder(on: .memory)
    let path = folder.path + "/store"
    let files = folder.process(1)
    func open() throws -> OpenStore {
      try OpenStore { () throws(MemoError) in try MemoTimeline(at: path, in: files) }
    }
    let old = try MemoStore<First>(opening: open())
    try await old.insert(First(body: "milk"))
    try await old.close()
    let new = try MemoStore<Second>(opening: open())
    #expect(try new.timeline.names().schemaVersion == 1)
    try await new.update(1) { $0.tags = [] }
    #expect(try new.timeline.reloadedNames().schemaVersion == 3)
    try await new.close()

    let before = try folder.files.list(folder.path + "/store").sorted()
    #expect(throws: MemoError.newerSchema(found: 3, known: 1)) {
      try MemoStore<First>(opening: open())
    }
    #expect(try folder.files.list(folder.path + "/store").sorted() == before)
    // The refused handle is closed, and programs that do not know the type still read.
    let plain = try MemoStore<Memo>(opening: open())
    #expect(try plain.latest(1).map(\.body) == ["milk"])
    try await plain.close()
    #expect(try MemoStore<Second>(opening: open()).memo(for: 1)?.tags == [])
  }

  @Test func anOlderVersionThatIsOpenDoesNotLowerTheVersion() async throws {
    let timeline = MemoTimeline.inMemory()
    let old = MemoStore<First>(timeline)
    try await old.insert(First(body: "a"))
    try await MemoStore<Second>(timeline).insert(Second(id: 2, text: "b"))
    try await old.insert(First(id: 3, body: "c"))
    #expect(try timeline.reloadedNames().schemaVersion == 3)
  }

  @Test func fieldsGiveNamesAndKinds() {
    func field(_ name: String, _ kind: MemoFieldKind) -> MemoSchemaField {
      MemoSchemaField(name: name, kind: kind)
    }
    #expect(
      Note.schema.fields == [
        field("id", .uuid), field("createdAt", .timestamp), field("text", .text),
        field("tags", .list), field("sent", .bool), field("count", .integer),
      ])
    #expect(Second.schema.fields.map(\.kind).contains(.record))
    #expect(First.schema.fields == [])
    #expect(Memo.schema.fields == [])
    #expect(MemoSchema<Note>(version: -5).version == 1)
  }
}
