import Dispatch
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Entries that lead nowhere, memos that cannot be decoded, and writers at the same time.
@Suite struct MemoIndexStrayTests {
  /// A type that reads any colour.
  private struct Wide: MemoEntity {
    var id: Int
    var createdAt = MemoTimestamp(microseconds: 1) ?? .now
    var text = "milk"
    var number: Int
    var colour = "blue"
    static let schema = MemoSchema<Wide>(
      indexes: [
        .unique("number") { [.integer($0.number)] }, .ordered("order") { [.integer($0.number)] },
      ])
  }

  /// The same, but only for some.
  private struct Narrow: MemoEntity {
    var id: Int
    var createdAt = MemoTimestamp(microseconds: 1) ?? .now
    var text = "milk"
    var number: Int
    var colour = Colour.red
    static let byNumber = MemoIndex<Narrow>.unique("number") { [.integer($0.number)] }
    static let byOrder = MemoIndex<Narrow>.ordered("order") { [.integer($0.number)] }
    static let schema = MemoSchema<Narrow>(indexes: [byNumber, byOrder])
  }

  @Test func aMemoThatCannotBeDecodedIsInNoIndexAndCanBeDeleted() async throws {
    let timeline = MemoTimeline.inMemory()
    try await MemoStore<Wide>(timeline).insert(Wide(id: 1, number: 1))
    let store = MemoStore<Narrow>(timeline)
    #expect(try store.memo(at: [1], in: Narrow.byNumber) == nil)
    #expect(try store.memos(in: Narrow.byOrder) == [])
    #expect(try store.memos(in: Narrow.byNumber) == [])
    let deletion = try #require(try await store.delete(1, undoWithin: .seconds(3600)))
    // Its entries were left behind, which is known and does no harm.
    #expect(try timeline.entries(MemoSpace.uniqueKeys).count == 1)
    #expect(try timeline.indexTable().states.allSatisfy(\.mayHaveStrays))
    #expect(try timeline.verify().damage == [])
    try await store.insert(Narrow(id: 2, number: 1))
    #expect(try store.memo(at: [1], in: Narrow.byNumber)?.id == 2)
    #expect(try store.memos(in: Narrow.byOrder).map(\.id) == [2])
    // It comes back all the same: who cannot read it cannot tell that it has the key.
    try await store.undo(deletion)
    #expect(try store.memo(at: [1], in: Narrow.byNumber)?.id == 2)
    #expect(try store.count() == 2)
  }

  @Test func memosThatNeverHadFieldsComeAndGo() async throws {
    let timeline = MemoTimeline.inMemory()
    let store = MemoStore<Narrow>(timeline)
    try await store.insert(Narrow(id: 1, number: 1))
    _ = try timeline.importBatch([try memo(5, at: 5), try memo(6, at: 6)])
    #expect(try store.memos(in: Narrow.byOrder).map(\.id) == [1])
    #expect(try timeline.delete(MemoID(5)) != nil)
    #expect(try await store.delete(6) != nil)
    #expect(try store.memo(at: [1], in: Narrow.byNumber)?.id == 1)
  }

  // MARK: - Verification

  @Test func verificationCountsWhatLeadsNowhere() async throws {
    let store = MemoStore<Errand>.inMemory()
    for id in 0..<6 { try await store.insert(Errand(id: id, number: id, priority: id)) }
    #expect(try store.timeline.verify().isSound)
    let names = try store.timeline.names()
    let number = try #require(names.number(of: "number"))
    let order = try #require(names.number(of: "order"))
    var batch = WriteBatch()
    let unique = MemoIndexKey(number: number, values: [77]).encode()
    batch.put(MemoID(77).encoded, forKey: unique, in: MemoSpace.uniqueKeys)
    batch.put([1], forKey: unique + [9], in: MemoSpace.uniqueKeys)
    batch.put([9], forKey: unique + [1, 1], in: MemoSpace.uniqueKeys)
    for arrival in [1000, 1001] as [UInt64] {
      let key = MemoIndexKey(number: order, values: [1, "x"]).encode()
      let place = MemoKey(microseconds: 5, arrival: arrival).encode()
      batch.put([], forKey: key + place, in: MemoSpace.orderedKeys)
    }
    batch.put([], forKey: [1, 2, 3], in: MemoSpace.orderedKeys)
    try store.timeline.database.write(batch)
    let damage = try store.timeline.verify().damage
    #expect(
      damage.map(\.reason) == [
        "2 of them do not decode", "1 of them lead to no memo", "1 of them do not decode",
        "2 of them lead to no memo",
      ])
    #expect(
      damage.map(\.fileName) == [
        "unique key space", "unique key space", "ordered key space", "ordered key space",
      ])
    // Nobody is led astray by them.
    #expect(try store.memo(at: [77], in: Errand.byNumber) == nil)
    #expect(try store.memos(in: Errand.byNumber).map(\.id) == [0, 1, 2, 3, 4, 5])
    #expect(try store.memos(in: Errand.byPriority).map(\.id) == [0, 1, 2, 3, 4, 5])
    try await store.insert(Errand(id: 77, number: 77))
    #expect(try store.memo(at: [77], in: Errand.byNumber)?.id == 77)
  }

  // MARK: - At the same time

  @Test(arguments: [false, true])
  func aKeyThatWasTakenMeanwhileIsSeenByTheNextAttempt(isLookedUp: Bool) throws {
    let store = MemoStore<Errand>.inMemory()
    try store.writeNow { errands throws(MemoError) in try errands.insert(Errand(id: 9)) }
    var attempts = 0
    #expect(throws: MemoError.duplicateKey(index: "number", id: MemoID(2))) {
      try store.writeNow { errands throws(MemoError) in
        attempts += 1
        if isLookedUp {
          let found = try errands.memo(at: [1], in: Errand.byNumber)
          #expect(found?.id == (attempts == 1 ? nil : 2))
        }
        try errands.insert(Errand(id: 1, number: 1))
        guard attempts == 1 else { return }
        try store.writeNow { others throws(MemoError) in
          try others.insert(Errand(id: 2, number: 1))
        }
      }
    }
    #expect(attempts == 2)
    #expect(try store.latest(5).map(\.id) == [2, 9])
  }

  @Test func aWriterThatKnewOfNoIndexesReadsAgainWhenTheyAreBuiltMeanwhile() throws {
    let timeline = MemoTimeline.inMemory()
    let old = MemoStore<OldErrand>(timeline)
    try old.writeNow { errands throws(MemoError) in try errands.insert(OldErrand(id: 1)) }
    var attempts = 0
    try old.writeNow { errands throws(MemoError) in
      attempts += 1
      try errands.insert(OldErrand(id: 2, number: 2, priority: 2))
      guard attempts == 1 else { return }
      _ = MemoStore<Errand>(timeline)
      while try !timeline.buildIndexes() {}
    }
    #expect(attempts == 2)
    try MemoStore<Errand>(timeline).expectIndexesInStep("written meanwhile")
  }

  /// A decision by a key that nobody had is made again when somebody has it.
  @Test func aLookUpOfATransactionIsACondition() throws {
    let store = MemoStore<Errand>.inMemory()
    try store.writeNow { errands throws(MemoError) in try errands.insert(Errand(id: 9)) }
    for (index, key) in [(Errand.byNumber, [4]), (Errand.byPriority, [4, "milk"])]
      as [(MemoIndex<Errand>, [MemoIndexValue])]
    {
      var found: [Bool] = []
      try store.writeNow { errands throws(MemoError) in
        found.append(try errands.memo(at: key, in: index) != nil)
        try errands.update(9) { $0.text += "!" }
        guard found.count == 1 else { return }
        try store.writeNow { others throws(MemoError) in
          let isNumber = index.name == "number"
          try others.insert(
            isNumber ? Errand(id: 1, number: 4) : Errand(id: 2, priority: 4))
        }
      }
      #expect(found == [false, true], "\(index.name)")
      try store.expectIndexesInStep("\(index.name)")
    }
  }

  @Test func ofManyThreadsOneTakesAKey() throws {
    let store = MemoStore<Errand>.inMemory()
    for number in 0..<40 {
      let outcomes = Lock<[MemoError?]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { thread in
        do throws(MemoError) {
          try store.writeNow { errands throws(MemoError) in
            try errands.insert(Errand(id: number * 6 + thread, number: number))
          }
          outcomes.withLock { $0.append(nil) }
        } catch {
          outcomes.withLock { $0.append(error) }
        }
      }
      let holder = try #require(try store.memo(at: [.integer(number)], in: Errand.byNumber)?.id)
      let expected = MemoError.duplicateKey(index: "number", id: MemoID(Int64(holder)))
      #expect(outcomes.withLock { $0.map { $0 } }.filter { $0 == nil }.count == 1)
      #expect(outcomes.withLock { $0.map { $0 } }.filter { $0 == expected }.count == 5)
    }
    try store.expectIndexesInStep("after the threads")
  }

  @Test(arguments: Thoroughness.seeds(3))
  func aBuildAndWritersDoNotMissEachOther(seed: UInt64) throws {
    let timeline = MemoTimeline.inMemory()
    try MemoStore<OldErrand>(timeline).writeNow { errands throws(MemoError) in
      for id in 0..<600 { try errands.insert(OldErrand(id: id, number: id, priority: id % 3)) }
    }
    let store = MemoStore<Errand>(timeline)
    let failures = Lock<[any Error]>([])
    let isReady = Lock(false)
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      var generator = SeededGenerator(seed: seed &* 8 &+ UInt64(thread))
      do {
        while thread > 0, !isReady.withLock({ $0 }) {
          let id = Int(generator.next() % 300) * 2 + thread - 1
          try store.writeNow { errands throws(MemoError) in
            if generator.next() % 9 == 0 {
              _ = try errands.edits.delete(id.memoID)
            } else {
              let number = id + 600 * Int(generator.next() % 3)
              try errands.upsert(
                Errand(id: id, number: number, priority: Int(generator.next() % 9)))
            }
          }
        }
        if thread == 0 { while try !timeline.buildIndexes(atMost: 8) {} }
      } catch {
        failures.withLock { $0.append(error) }
      }
      if thread == 0 { isReady.withLock { $0 = true } }
    }
    #expect(failures.withLock { $0.count } == 0, "seed \(seed)")
    #expect(try timeline.indexTable().states.map(\.conflictCount) == [0, 0], "seed \(seed)")
    try store.expectIndexesInStep("seed \(seed)")
  }

  @Test func ofTwoProcessesOneTakesAKey() async throws {
    let folder = try KVTestSupport.StoreFolder(on: .memory)
    func open(_ process: Int32) throws -> MemoStore<Errand> {
      MemoStore(try MemoTimeline(at: folder.path + "/store", in: folder.process(process)))
    }
    let (first, second) = (try open(1), try open(2))
    #expect(try second.memo(at: [1], in: Errand.byNumber) == nil)
    try await first.insert(Errand(id: 1, number: 1))
    try await first.close()
    await #expect(throws: MemoError.duplicateKey(index: "number", id: MemoID(1))) {
      try await second.insert(Errand(id: 2, number: 1))
    }
    try await second.insert(Errand(id: 2, number: 2))
    try second.expectIndexesInStep("second process")
    try await second.close()
  }
}
