import KVTestSupport
import MemoHistory
import Testing

/// The store as an app uses it, outside of any actor.
@Suite struct MemoStoreTests {
  private func note(_ number: Int64, _ body: String) -> Memo {
    Memo(id: MemoID(number), createdAt: time(number), body: body)
  }

  private func time(_ second: Int64) -> MemoTimestamp {
    MemoTimestamp(microseconds: second * 1_000_000) ?? .now
  }

  @Test func readsLikeTheGuideSays() async throws {
    let directory = try TemporaryDirectory()
    let store = try MemoStore(at: directory.path("memos"))
    #expect(try store.latest(200).isEmpty)

    let id = try MemoID("a7")
    try await store.insert(Memo(id: id, body: "milk"))
    #expect(try store.latest(200).map(\.body) == ["milk"])

    var memo = try #require(try store.memo(for: id))
    memo.body = "oat milk"
    let old = try await store.upsert(memo)
    #expect(old?.body == "milk")

    let page = try store.page()
    #expect(page.memos == [memo])
    #expect(page.next == nil)
    #expect(try store.count() == 1)

    #expect(try await store.delete(id) != nil)
    #expect(try store.count() == 0)
    try await store.close()

    let again = try MemoStore<Memo>(at: directory.path("memos"))
    #expect(try again.latest(1).isEmpty)
    try await again.insert(note(1, "tea"))
    try await again.close()
    #expect(try MemoStore(at: directory.path("memos")).latest(1).map(\.body) == ["tea"])
  }

  @Test func errorsAreTyped() async throws {
    let store = MemoStore<Memo>.inMemory()
    try await store.insert(note(1, "first"))
    do throws(MemoError) {
      try await store.insert(note(1, "second"))
      Issue.record("the id was taken")
    } catch {
      #expect(error == .duplicateID)
    }
    #expect(try store.memo(for: MemoID(1))?.body == "first")
    #expect(try await store.delete(MemoID(2)) == nil)
  }

  @Test func aStoreInMemoryHasNobodyElsesMemos() async throws {
    let first = MemoStore.inMemory()
    let second = MemoStore.inMemory()
    try await first.insert(note(1, "mine"))
    #expect(try second.count() == 0)
    try await second.insert(note(1, "yours"))
    #expect(try first.latest(5).map(\.body) == ["mine"])
  }

  @Test func pagesFollowEachOther() async throws {
    let store = MemoStore.inMemory()
    for number in 0..<25 { try await store.insert(note(Int64(number % 3), "x", id: number)) }
    var shown: [Memo] = []
    var position: PagePosition?
    repeat {
      let page = try store.page(after: position, count: 7)
      shown += page.memos
      position = page.next
    } while position != nil
    #expect(shown == (try store.latest(100)))
    #expect(Set(shown.map(\.id)).count == 25)
  }

  @Test func aClosedStoreSaysSo() async throws {
    let store = MemoStore.inMemory()
    try await store.insert(note(1, "x"))
    try await store.close()
    try await store.close()
    await #expect(throws: MemoError.self) { try await store.insert(note(2, "y")) }
    #expect(throws: MemoError.self) { try store.latest(1) }
    #expect(throws: MemoError.self) { try store.page() }
    #expect(throws: MemoError.self) { try store.memo(for: MemoID(1)) }
    #expect(throws: MemoError.self) { try store.count() }
  }

  @Test func manyTasksWriteAtTheSameTime() async throws {
    let store = MemoStore.inMemory()
    let winners = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<200 as Range<Int64> {
        let memo = note(number % 50, "task \(number)")
        group.addTask {
          do throws(MemoError) {
            try await store.insert(memo)
            return true
          } catch {
            return error != .duplicateID
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 50)
    #expect(try store.count() == 50)
  }

  /// A write that was begun is finished: whoever asked may go away.
  @Test func cancellationDoesNotStopAWrite() async throws {
    let store = MemoStore.inMemory()
    let memo = note(1, "x")
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.insert(memo)
    }
    task.cancel()
    try await task.value
    #expect(try store.latest(1) == [memo])
  }

  private func note(_ second: Int64, _ body: String, id: Int) -> Memo {
    Memo(id: MemoID(Int64(id)), createdAt: time(second), body: body)
  }
}

/// The same from the main actor, as views do.
@MainActor @Suite struct MemoStoreMainActorTests {
  /// What a view model holds.
  @MainActor final class Model {
    let store: MemoStore<Memo>
    private(set) var bodies: [String] = []

    init(_ store: MemoStore<Memo>) throws(MemoError) {
      self.store = store
      bodies = try store.latest(200).map(\.body)
    }

    func add(_ body: String) async throws(MemoError) {
      try await store.insert(Memo(id: MemoID(Int64(bodies.count)), body: body))
      bodies = try store.latest(200).map(\.body)
    }
  }

  @Test func theFirstFrameHasItsMemos() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("memos")
    do {
      let model = try Model(MemoStore(at: path))
      #expect(model.bodies.isEmpty)
      try await model.add("one")
      try await model.add("two")
      #expect(model.bodies == ["two", "one"])
      try await model.store.close()
    }
    #expect(try Model(MemoStore(at: path)).bodies == ["two", "one"])
  }

  @Test func aWriteDoesNotHoldTheMainActor() async throws {
    let store = MemoStore.inMemory()
    async let inserted: Void = store.insert(Memo(id: MemoID(1), body: "x"))
    let other = Task { @MainActor in true }
    #expect(await other.value)
    try await inserted
    #expect(try store.count() == 1)
  }
}
