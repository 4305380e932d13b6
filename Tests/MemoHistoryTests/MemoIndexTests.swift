import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Memos found by their keys, and keys that no two of them may have.
@Suite struct MemoIndexTests {
  private func store(_ errands: Errand...) async throws -> MemoStore<Errand> {
    let store = MemoStore<Errand>.inMemory()
    try await store.insert(contentsOf: errands)
    return store
  }

  private func taken(_ id: Int64) -> MemoError {
    .duplicateKey(index: "number", id: MemoID(id))
  }

  // MARK: - Finding

  @Test func anEmptyStoreHasNothingToFind() async throws {
    let store = MemoStore<Errand>.inMemory()
    #expect(try store.memo(at: [1], in: Errand.byNumber) == nil)
    #expect(try store.memos(in: Errand.byPriority) == [])
    try await store.indexesAreReady()
    #expect(try store.timeline.database.snapshot().sequence == 0)
  }

  @Test func aMemoIsFoundByItsKeyAndNoOther() async throws {
    let errand = Errand(id: 1, number: 17)
    let store = try await store(errand, Errand(id: 2), Errand(id: 3))
    #expect(try store.memo(at: [17], in: Errand.byNumber) == errand)
    for key: [MemoIndexValue] in [[], [16], [18], [17.0], ["17"], [17, 0], [1, 2, 3, 4, 5]] {
      #expect(try store.memo(at: key, in: Errand.byNumber) == nil, "\(key)")
    }
    try await store.update(1) { $0.number = 18 }
    #expect(try store.memo(at: [17], in: Errand.byNumber) == nil)
    #expect(try store.memo(at: [18], in: Errand.byNumber)?.id == 1)
    try await store.update(1) { $0.number = nil }
    #expect(try store.memo(at: [18], in: Errand.byNumber) == nil)
    #expect(try store.timeline.entries(MemoSpace.uniqueKeys).isEmpty)
  }

  @Test func memosComeInTheOrderOfTheirKeys() async throws {
    let store = try await store(
      Errand(id: 1, text: "b", priority: 3), Errand(id: 2, text: "a", priority: 3),
      Errand(id: 3, text: "c", priority: -5), Errand(id: 4), Errand(id: 5, priority: 40),
      Errand(id: 6, text: "a", priority: 3))
    func ids(
      from: [MemoIndexValue] = [], through: [MemoIndexValue] = [], count: Int = 9,
      descending: Bool = false
    ) throws -> [Int] {
      try store.memos(
        in: Errand.byPriority, from: from, through: through, count: count,
        descending: descending
      ).map(\.id)
    }
    // Of one key the newest first.
    #expect(try ids() == [3, 6, 2, 1, 5])
    #expect(try ids(descending: true) == [5, 1, 2, 6, 3])
    #expect(try ids(from: [3]) == [6, 2, 1, 5])
    #expect(try ids(from: [3, "b"]) == [1, 5])
    #expect(try ids(through: [3]) == [3, 6, 2, 1])
    #expect(try ids(from: [3], through: [3], count: 2, descending: true) == [1, 2])
    #expect(try ids(from: [3, "a"], through: [3, "a"]) == [6, 2])
    #expect(try ids(from: [4], through: [3]) == [])
    #expect(try ids(count: 0) == [])
    #expect(try store.memo(at: [3, "a"], in: Errand.byPriority)?.id == 6)
    #expect(try store.memo(at: [3], in: Errand.byPriority) == nil)
    #expect(try store.memos(in: Errand.byNumber) == [])
  }

  @Test func aUniqueIndexIsAnOrderToo() async throws {
    let store = try await store(
      Errand(id: 1, number: 30), Errand(id: 2, number: -2), Errand(id: 3, number: 7))
    #expect(try store.memos(in: Errand.byNumber).map(\.id) == [2, 3, 1])
    #expect(try store.memos(in: Errand.byNumber, from: [0], through: [7]).map(\.id) == [3])
  }

  @Test func aMemoThatMovesKeepsItsEntries() async throws {
    let store = try await store(Errand(id: 1, number: 1, priority: 1), Errand(id: 2, priority: 1))
    for second in [5, 3, 9] as [Int64] {
      try await store.update(1) { errand in
        errand.createdAt = MemoTimestamp(microseconds: second * 1_000_000) ?? .now
      }
      #expect(try store.memo(at: [1], in: Errand.byNumber)?.id == 1)
      #expect(try store.memos(in: Errand.byPriority).map(\.id) == [1, 2])
      try store.expectIndexesInStep("second \(second)")
    }
  }

  @Test func anIndexThatIsNotDeclaredIsNotReady() async throws {
    let store = try await store(Errand(id: 1, number: 1))
    for index in [
      MemoIndex<Errand>.unique("other") { [.integer($0.id)] },
      MemoIndex<Errand>.ordered("number") { [.integer($0.id)] },
    ] {
      #expect(throws: MemoError.indexNotReady(index: index.name)) {
        try store.memo(at: [1], in: index)
      }
      #expect(throws: MemoError.indexNotReady(index: index.name)) { try store.memos(in: index) }
    }
  }

  // MARK: - Violations

  @Test func noFormOfWritingTakesAKeyOfAnotherMemo() async throws {
    let (first, second) = (Errand(id: 1, number: 1), Errand(id: 2, number: 2))
    let store = try await store(first, second)
    let before = try store.timeline.database.snapshot().sequence
    let (changed, other) = (Errand(id: 2, number: 1), Errand(id: 3, number: 1))
    let memo = try await copy(of: other)
    await #expect(throws: taken(1)) { try await store.insert(other) }
    await #expect(throws: taken(1)) {
      try await store.insert(contentsOf: [Errand(id: 4, number: 4), other])
    }
    await #expect(throws: taken(1)) { try await store.upsert(other) }
    await #expect(throws: taken(1)) { try await store.upsert(contentsOf: [changed]) }
    await #expect(throws: taken(1)) { try await store.update(2) { $0.number = 1 } }
    await #expect(throws: taken(1)) { try await store.update(3, default: other) { _ in } }
    await #expect(throws: taken(1)) { try await store.replace(second, with: changed) }
    await #expect(throws: taken(1)) {
      try await store.perform { errands in try errands.insert(other) }
    }
    #expect(throws: taken(1)) { try store.timeline.importBatch([memo]) }
    #expect(throws: taken(1)) { try store.timeline.upsert(memo) }
    #expect(try store.timeline.database.snapshot().sequence == before)
    #expect(try store.latest(9).map(\.id) == [2, 1])
    // Two new ones of one batch.
    await #expect(throws: taken(8)) {
      try await store.insert(contentsOf: [Errand(id: 8, number: 8), Errand(id: 9, number: 8)])
    }
  }

  /// The memo of an errand, with the numbers that names get in a store of errands.
  private func copy(of errand: Errand) async throws -> Memo {
    let store = try await store(errand)
    return try #require(try store.timeline.memo(for: MemoID(Int64(errand.id))))
  }

  @Test func anUndoDoesNotTakeAKeyThatWasGivenAwayMeanwhile() async throws {
    let store = try await store(Errand(id: 1, number: 1, priority: 5))
    let deletion = try #require(try await store.delete(1, undoWithin: .seconds(3600)))
    try store.expectIndexesInStep("deleted")
    try await store.insert(Errand(id: 2, number: 1))
    await #expect(throws: taken(2)) { try await store.undo(deletion) }
    await #expect(throws: taken(2)) { try await store.restore(deletion) }
    try await store.update(2) { $0.number = 2 }
    try await store.undo(deletion)
    #expect(try store.memo(at: [1], in: Errand.byNumber)?.id == 1)
    #expect(try store.memos(in: Errand.byPriority).map(\.id) == [1])
    try store.expectIndexesInStep("undone")
  }

  @Test func inATransactionTheFinalStateCounts() async throws {
    let store = try await store(
      Errand(id: 1, number: 1), Errand(id: 2, number: 2), Errand(id: 3, number: 3))
    try await store.perform { errands in
      try errands.update(1) { $0.number = 2 }
      try errands.update(2) { $0.number = 1 }
      try errands.delete(3)
      try errands.insert(Errand(id: 4, number: 3))
      try errands.insert(Errand(id: 5, number: 3))
      try errands.update(4) { $0.number = nil }
      #expect(try errands.memo(at: [2], in: Errand.byNumber)?.id == 1)
      #expect(try errands.memo(at: [1], in: Errand.byNumber)?.id == 2)
      #expect(try errands.memo(at: [3], in: Errand.byNumber)?.id == 5)
      #expect(try errands.memo(at: [4], in: Errand.byNumber) == nil)
    }
    let ids = try [2, 1, 3].map { try store.memo(at: [$0], in: Errand.byNumber)?.id }
    #expect(ids == [1, 2, 5])
    await #expect(throws: taken(2)) {
      try await store.perform { errands in
        try errands.delete(1)
        try errands.update(5) { $0.number = 1 }
      }
    }
    try store.expectIndexesInStep("after the transactions")
  }

  @Test func aTransactionFindsTheNewestOfOneKey() async throws {
    let store = try await store(Errand(id: 1, priority: 1), Errand(id: 2, priority: 1))
    try await store.perform { errands in
      let key: [MemoIndexValue] = [1, "milk"]
      #expect(try errands.memo(at: key, in: Errand.byPriority)?.id == 2)
      try errands.delete(2)
      #expect(try errands.memo(at: key, in: Errand.byPriority)?.id == 1)
      try errands.insert(Errand(id: 3, priority: 1))
      #expect(try errands.memo(at: key, in: Errand.byPriority)?.id == 3)
      try errands.update(3) { $0.createdAt = MemoTimestamp(microseconds: 5) ?? .now }
      #expect(try errands.memo(at: key, in: Errand.byPriority)?.id == 1)
      try errands.update(1) { $0.priority = nil }
      #expect(try errands.memo(at: key, in: Errand.byPriority)?.id == 3)
    }
    let found = try await store.read { errands in
      try errands.memos(in: Errand.byPriority).map(\.id)
        + [try errands.memo(at: [1, "milk"], in: Errand.byPriority)?.id ?? 0]
    }
    #expect(found == [3, 3])
  }

  @Test func aKeyThatIsTooLongIsRefused() async throws {
    let store = MemoStore<Errand>.inMemory()
    let long = Errand(id: 1, text: String(repeating: "a", count: 65_510), priority: 1)
    let error = await #expect(throws: MemoError.self) { try await store.insert(long) }
    guard case .unencodable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try store.count() == 0)
  }

  @Test func ofTwoDeclarationsWithOneNameTheFirstCounts() throws {
    let twice = [Errand.byNumber, MemoIndex.ordered("number") { [.integer($0.id)] }]
    let coder = EntityCoder(MemoSchema<Errand>(indexes: twice))
    #expect(EntityIndexer(coder)?.declarations == [Errand.byNumber.declaration])
    #expect(EntityIndexer(EntityCoder(MemoSchema<Errand>())) == nil)
  }
}
