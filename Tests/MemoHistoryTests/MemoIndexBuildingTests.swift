import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Indexes of stores that have memos already, or that others have written.
@Suite struct MemoIndexBuildingTests {
  private let folder: KVTestSupport.StoreFolder

  init() throws { folder = try KVTestSupport.StoreFolder(on: .memory) }

  private func open(_ process: Int32 = 1) throws -> MemoTimeline {
    try MemoTimeline(at: folder.path + "/store", in: folder.process(process))
  }

  private func time(_ second: Int) -> MemoTimestamp {
    MemoTimestamp(microseconds: Int64(second) * 1_000_000) ?? .now
  }

  /// A store of a version of the app that had no indexes, with a number and order for each memo.
  private func oldTimeline(_ numbers: [Int?]) throws -> MemoTimeline {
    let timeline = try open()
    try MemoStore<OldErrand>(timeline).writeNow { errands throws(MemoError) in
      for (id, number) in numbers.enumerated() {
        try errands.insert(
          OldErrand(
            id: id, createdAt: time(id * 7 % 5), number: number, priority: id % 3))
      }
    }
    return timeline
  }

  private func isReady(_ store: MemoStore<Errand>) throws -> Bool {
    do throws(MemoError) {
      let edits = try MemoEdits(reading: store.timeline)
      for index in [Errand.byNumber, Errand.byPriority] {
        _ = try edits.memo(at: [1], in: index.declaration)
      }
      return true
    } catch .indexNotReady {
      return false
    }
  }

  @Test(arguments: [1, 4, 500])
  func anIndexIsBuiltInPartsBetweenWhichOthersWrite(count: Int) throws {
    let timeline = try oldTimeline((0..<30).map { $0 % 4 == 0 ? nil : $0 })
    let store = MemoStore<Errand>(timeline)
    var parts = 0
    while try !timeline.buildIndexes(atMost: count) {
      #expect(try !isReady(store) || timeline.indexTable().states.allSatisfy { $0.phase == .ready })
      let id = parts % 30
      try store.writeNow { errands throws(MemoError) in
        switch parts % 5 {
        case 0: try errands.delete(id)
        case 1: try errands.upsert(Errand(id: id, createdAt: time(3), number: id + 100))
        case 2: try errands.upsert(Errand(id: id, createdAt: time(id % 9), priority: 9))
        case 3: try errands.insert(Errand(id: 1000 + parts, createdAt: time(2), number: -parts))
        default: break
        }
      }
      parts += 1
    }
    #expect(parts >= 2 * 30 / count)
    #expect(try isReady(store))
    try store.expectIndexesInStep("parts of \(count)")
    #expect(try timeline.indexTable().states.map(\.conflictCount) == [0, 0])
    #expect(try timeline.verify().isSound)
  }

  @Test func aBuildGoesOnWhereItWasInterrupted() throws {
    var timeline = try oldTimeline((0..<40).map { $0 })
    var parts = 0
    while true {
      let store = MemoStore<Errand>(timeline)
      if try timeline.buildIndexes(atMost: 5) {
        try store.expectIndexesInStep("all parts")
        break
      }
      parts += 1
      try timeline.close()
      timeline = try open(Int32(parts))
    }
    // Eight parts and one that finds the end for each index; two that find nothing to clear.
    #expect(parts == 2 * (8 + 1 + 1))
  }

  @Test func openingBuildsWhatIsMissing() async throws {
    try oldTimeline((0..<700).map { $0 }).close()
    let store = try MemoStore<Errand>(opening: OpenStore(open()))
    try await store.indexesAreReady()
    #expect(try store.memo(at: [699], in: Errand.byNumber)?.id == 699)
    try store.expectIndexesInStep("opened")
    let before = try store.timeline.database.snapshot().sequence
    try await store.indexesAreReady()
    #expect(try store.timeline.database.snapshot().sequence == before)
    try await store.close()
  }

  @Test func aLookUpThatComesTooEarlySaysSoAndStartsTheBuild() async throws {
    let store = MemoStore<Errand>(try oldTimeline([5, 6]))
    #expect(throws: MemoError.indexNotReady(index: "number")) {
      try store.memo(at: [5], in: Errand.byNumber)
    }
    while try !isReady(store) { await Task.yield() }
    #expect(try store.memo(at: [5], in: Errand.byNumber)?.id == 0)
  }

  @Test(arguments: [1, 2, 3, 500])
  func ofTwoMemosWithOneKeyTheOlderArrivalKeepsIt(count: Int) async throws {
    let numbers = [5, nil, 5, 6, 5, 6, 7]
    let timeline = try oldTimeline(numbers)
    let store = MemoStore<Errand>(timeline)
    while try !timeline.buildIndexes(atMost: count) {}
    let ids = try [5, 6, 7].map { try store.memo(at: [$0], in: Errand.byNumber)?.id }
    #expect(ids == [0, 3, 6], "parts of \(count)")
    #expect(try store.conflictCount(of: Errand.byNumber) == 3)
    #expect(try store.conflictCount(of: Errand.byPriority) == 0)
    #expect(try store.count() == numbers.count)
    // Those that lost may be changed and deleted, and take nothing from the one that has the key.
    try await store.update(2) { $0.text = "tea" }
    try await store.delete(4)
    #expect(try store.memo(at: [5], in: Errand.byNumber)?.id == 0)
    await #expect(throws: MemoError.duplicateKey(index: "number", id: MemoID(0))) {
      try await store.insert(Errand(id: 100, number: 5))
    }
    try await store.update(2) { $0.number = 50 }
    try await store.update(5) { $0.number = nil }
    try store.expectIndexesInStep("conflicts resolved")
  }

  // MARK: - Other writers

  @Test func aWriterWithoutIndexesLeavesNoneSilentlyWrong() async throws {
    let store = MemoStore<Errand>(try open())
    for id in 0..<10 { try await store.insert(Errand(id: id, number: id, priority: id)) }
    try await store.delete(3)
    let entryCount = try store.timeline.entries(MemoSpace.uniqueKeys).count
    try await store.close()

    let other = try open(2)
    try other.emptyTrash()
    #expect(try other.indexTable().states.count == 2, "no memo was changed")
    try other.delete(MemoID(4))
    #expect(try other.indexTable().states.isEmpty)
    #expect(try other.entries(MemoSpace.uniqueKeys).count == entryCount)
    try MemoStore<OldErrand>(other).writeNow { errands throws(MemoError) in
      _ = try errands.update(5) { $0.number = 4 }
    }
    try other.close()

    let again = MemoStore<Errand>(try open(3))
    #expect(try !isReady(again))
    try await again.indexesAreReady()
    #expect(try again.memo(at: [4], in: Errand.byNumber)?.id == 5)
    #expect(try again.memo(at: [5], in: Errand.byNumber) == nil)
    try again.expectIndexesInStep("after the other writer")
  }

  @Test func whatSalvageMakesIsBuiltAgain() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    let timeline = try MemoTimeline(at: path)
    let whole = MemoStore<Errand>(timeline)
    try whole.writeNow { errands throws(MemoError) in
      for id in 0..<2000 {
        try errands.insert(
          Errand(id: id, text: "\(id * id * 7919)", number: id, priority: id % 9))
      }
    }
    try timeline.flush()
    try await whole.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    let segment = try #require(names.first { $0.hasSuffix(".seg") })
    // What was flushed stands in the log as well.
    for name in names where name.hasSuffix(".log") {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
    let url = URL(filePath: path + "/" + segment)
    var bytes = try Data(contentsOf: url)
    for place in stride(from: 5000, to: bytes.count - 5000, by: 20_000) { bytes[place] ^= 0xFF }
    try bytes.write(to: url)

    let saved = directory.path("saved")
    _ = try MemoTimeline.salvage(storeAt: path, to: saved)
    let store = MemoStore<Errand>(try MemoTimeline(at: saved))
    let count = try store.count()
    #expect(count > 0 && count < 2000)
    #expect(try !isReady(store))
    try await store.indexesAreReady()
    try store.expectIndexesInStep("salvaged")
    #expect(try store.timeline.verify().damage == [])
    try await store.close()
  }

  @Test func anIndexThatIsDeclaredNoMoreIsBuiltWhenItIsDeclaredAgain() async throws {
    struct Fewer: MemoEntity {
      var id: Int
      var createdAt = MemoTimestamp.now
      var text = ""
      var number: Int?
      static let schema = MemoSchema<Fewer>(
        indexes: [.unique("number") { $0.number.map { [.integer($0)] } }])
    }
    let timeline = try open()
    try await MemoStore<Errand>(timeline).insert(Errand(id: 1, number: 1, priority: 1))
    let fewer = MemoStore<Fewer>(timeline)
    try await fewer.indexesAreReady()
    let names = try timeline.names()
    #expect(try timeline.indexTable().states.map(\.number) == [names.number(of: "number")])
    try await fewer.update(1) { $0.number = 2 }
    let store = MemoStore<Errand>(timeline)
    #expect(try !isReady(store))
    try await store.indexesAreReady()
    try store.expectIndexesInStep("declared again")
  }

  @Test func aNewerSchemaMakesItsOwnKeys() async throws {
    struct Newer: MemoEntity {
      var id: Int
      var createdAt = MemoTimestamp.now
      var text = ""
      var number: Int?
      static let byNumber = MemoIndex<Newer>.unique("number") { $0.number.map { [.integer(-$0)] } }
      static let schema = MemoSchema<Newer>(version: 2, indexes: [byNumber])
    }
    let timeline = try open()
    let old = MemoStore<Errand>(timeline)
    try await old.insert(Errand(id: 1, number: 1))
    let new = MemoStore<Newer>(timeline)
    try await new.indexesAreReady()
    #expect(try new.memo(at: [-1], in: Newer.byNumber)?.id == 1)
    #expect(try timeline.entries(MemoSpace.uniqueKeys).count == 1)
    // The older version is still open somewhere and writes: it does not know the keys.
    _ = MemoStore<Errand>(timeline)
    try await old.insert(Errand(id: 2, number: 2))
    #expect(try timeline.indexTable().states.isEmpty)
  }

  @Test func aTableThatDoesNotDecodeIsBuiltAgain() async throws {
    let store = MemoStore<Errand>(try open())
    try await store.insert(Errand(id: 1, number: 1))
    var batch = WriteBatch()
    batch.put([9, 9], forKey: MemoIndexTable.key, in: MemoSpace.meta)
    try store.timeline.database.write(batch)
    #expect(try !store.timeline.verify().isSound)
    #expect(try !isReady(store))
    try await store.indexesAreReady()
    try store.expectIndexesInStep("built again")
    #expect(try store.timeline.verify().isSound)
  }
}
