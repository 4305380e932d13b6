import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// What stands on disk for values of collections: after relaunches, after damage, in other types.
@Suite struct MemoCollectionStorageTests {
  /// A collection is a dictionary, also after the app was killed between two calls.
  @Test(arguments: [1, 2] as [UInt64])
  func aCollectionIsADictionary(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let volume = TestVolume()
    let names = ["a", "ab"]
    var models: [[Int: Numbered]] = [[:], [:]]
    var store = try volume.open(Memo.self)
    for call in 0..<2000 {
      let place = Int.random(in: 0...1, using: &random)
      let numbers = store.collection(names[place], of: Numbered.self)
      let value = Numbered(id: .random(in: -20...20, using: &random), value: call)
      switch Int.random(in: 0..<100, using: &random) {
      case 0:
        if random.coin() { try await store.purge() }
        store = try volume.relaunch(Memo.self)
      case 1..<35:
        try await numbers.upsert(value)
        models[place][value.id] = value
      case 35..<45:
        let other = Numbered(id: value.id + 1, value: call)
        try await numbers.upsert(contentsOf: [value, other])
        for value in [value, other] { models[place][value.id] = value }
      case 45..<65:
        let wasThere = try await numbers.delete(value.id)
        let removed = models[place].removeValue(forKey: value.id)
        #expect(wasThere == (removed != nil), "seed \(seed), call \(call)")
      case 65..<95:
        let found = try numbers.value(for: value.id)
        #expect(found == models[place][value.id], "seed \(seed), call \(call)")
      default:
        let values = try await numbers.values()
        #expect(values.count == models[place].count, "seed \(seed), call \(call)")
        #expect(Set(values) == Set(models[place].values), "seed \(seed), call \(call)")
      }
    }
    for (name, model) in zip(names, models) {
      let numbers = store.collection(name, of: Numbered.self)
      #expect(Set(try await numbers.values()) == Set(model.values), "seed \(seed)")
      #expect(try await numbers.count() == model.count, "seed \(seed)")
    }
    #expect(try store.timeline.verify().isSound, "seed \(seed)")
  }

  @Test func aValueThatDoesNotDecodeIsAnErrorOfItsOwn() async throws {
    let store = MemoStore<Memo>.inMemory()
    let drafts = store.collection("drafts", of: Draft.self)
    try await drafts.upsert(contentsOf: ["a", "b", "c"].map { Draft(id: $0, text: $0) })
    #expect(try store.timeline.verify().isSound)
    var batch = WriteBatch()
    let key = try CollectionRecord.key(of: MemoID("b"), in: "drafts")
    batch.put([0, 0, 1, 9], forKey: key, in: MemoSpace.collections)
    batch.put([0], forKey: [6] + "drafts".utf8, in: MemoSpace.collections)
    try store.timeline.database.write(batch)

    #expect(throws: MemoError.self) { try drafts.value(for: "b") }
    #expect(try drafts.value(for: "a")?.text == "a")
    await #expect(throws: MemoError.self) { try await drafts.values() }
    let errors = SharedLock<[MemoError]>([])
    let values = try await drafts.values { error in errors.withLock { $0.append(error) } }
    #expect(values.map(\.id) == ["a", "c"])
    #expect(errors.withLock { $0.count } == 2)
    #expect(try store.timeline.verify().damage.count == 2)
    // It can be stored again, or deleted.
    try await drafts.upsert(Draft(id: "b", text: "again"))
    #expect(try drafts.value(for: "b")?.text == "again")
    #expect(try store.timeline.verify().damage.count == 1)
  }

  @Test func aValueOfAnotherTypeIsUnreadableAndCanBeDeleted() async throws {
    let store = MemoStore<Memo>.inMemory()
    try await store.collection("x", of: Numbered.self).upsert(Numbered(id: 1, value: 1))
    let texts = store.collection("x", of: Sample<String>.self)
    #expect(throws: MemoError.self) { try texts.value(for: 1) }
    #expect(try await texts.values { _ in } == [])
    #expect(try await texts.delete(1))
  }

  @Test func valuesOfNewerVersionsAreRefused() async throws {
    let store = MemoStore<Memo>.inMemory()
    let numbers = store.collection("x", of: Numbered.self)
    let key = try CollectionRecord.key(of: MemoID(1), in: "x")
    var batch = WriteBatch()
    batch.put([1, 0, 0], forKey: key, in: MemoSpace.collections)
    try store.timeline.database.write(batch)
    #expect(throws: MemoError.self) { try numbers.value(for: 1) }
    batch.put([0, 3, 0], forKey: key, in: MemoSpace.collections)
    try store.timeline.database.write(batch)
    #expect(throws: MemoError.newerSchema(found: 3, known: 0)) { try numbers.value(for: 1) }
  }

  @Test func keysAndRecordsAreReadAsTheyWereMade() throws {
    let ids = [MemoID(7), try MemoID("a"), try MemoID(bytes: [0, 1]), MemoID(uuid: (1, 2))]
    for id in ids {
      for name in ["a", "\u{E9}", String(repeating: "n", count: 255)] {
        let key = try CollectionRecord.key(of: id, in: name)
        #expect(key.starts(with: try CollectionRecord.prefix(of: name)))
        #expect(try CollectionRecord.id(ofKey: key.rawBytes) == id)
      }
    }
    for key: [UInt8] in [[], [0], [0, 1, 97], [1, 97], [5, 97, 1, 97], [1, 0xFF, 1, 97]] {
      #expect(throws: FormatError.self) { try CollectionRecord.id(ofKey: key.rawBytes) }
    }
  }

  /// Of two processes that write one value at the same time, the later sees the earlier.
  @Test func twoProcessesKeepEachOthersValues() async throws {
    let volume = TestVolume()
    let first = try volume.open(Memo.self)
    let second = try volume.openElsewhere(Memo.self)
    for number in 0..<10 {
      for store in [first, second] {
        let numbers = store.collection("x", of: Numbered.self)
        try await numbers.update(1, default: Numbered(id: 1, value: 0)) { $0.value += 1 }
        try await numbers.upsert(Numbered(id: 10 + number, value: number))
        // Gives up the lock.
        try await store.suspend()
        try await store.resume()
      }
    }
    let numbers = first.collection("x", of: Numbered.self)
    #expect(try numbers.value(for: 1)?.value == 20)
    #expect(try await numbers.count() == 11)
  }

  @Test func aCancelledReadEnds() async throws {
    let numbers = MemoStore<Memo>.inMemory().collection("x", of: Numbered.self)
    try await numbers.upsert(contentsOf: (0..<10).map { Numbered(id: $0, value: 0) })
    let reading = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await numbers.values()
    }
    await #expect(throws: MemoError.cancelled) { try await reading.value }
  }
}
