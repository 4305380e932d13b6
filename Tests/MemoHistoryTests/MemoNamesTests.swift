import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// The table of names: each name once, whoever adds to it at the same time.
@Suite struct MemoNamesTests {
  private struct Left: MemoEntity {
    var id: Int
    var createdAt = MemoTimestamp.now
    var text = ""
    var left = "l"
    var both = 1
  }

  private struct Right: MemoEntity {
    var id: Int
    var createdAt = MemoTimestamp.now
    var text = ""
    var both = 2
    var right = ["r"]
  }

  private func names(_ timeline: MemoTimeline) throws -> [String?] {
    let table = try timeline.reloadedNames()
    return (0..<table.count).map { table[$0] }
  }

  @Test func twoHandlesThatTakeTurnsGiveEachNameOneNumber() async throws {
    let folder = try KVTestSupport.StoreFolder(on: .memory)
    func open(_ process: Int32) throws -> MemoTimeline {
      try MemoTimeline(at: folder.path + "/store", in: folder.process(process))
    }
    let (one, two) = (try open(1), try open(2))
    let (left, right) = (MemoStore<Left>(one), MemoStore<Right>(two))
    // Both know an empty table before either has written.
    #expect(try one.names().count == 0 && two.names().count == 0)
    try await left.insert(Left(id: 1))
    try one.database.suspend()
    try await right.insert(Right(id: 2))
    try two.database.suspend()
    try one.database.resume()
    try await left.insert(Left(id: 3))
    #expect(try names(one) == ["id", "createdAt", "text", "left", "both", "right"])
    #expect(try left.memo(for: 1)?.left == "l")
    // A number that this handle has not seen yet.
    try one.database.suspend()
    try two.database.resume()
    #expect(try right.memo(for: 2)?.right == ["r"])
    #expect(try two.verify().isSound)
  }

  @Test func anUnknownNumberIsReadOnceMore() async throws {
    let folder = try KVTestSupport.StoreFolder(on: .memory)
    func open(_ process: Int32) throws -> MemoTimeline {
      try MemoTimeline(at: folder.path + "/store", in: folder.process(process))
    }
    let writer = MemoStore<Right>(try open(1))
    try await writer.insert(Right(id: 1))
    let reader = MemoStore<Sample<Int>>(try open(2))
    #expect(try reader.timeline.names().count == 5)
    try await MemoStore<Sample<Int>>(writer.timeline).insert(Sample(id: 2, value: 5))
    #expect(try reader.memo(for: 2)?.value == 5)
  }

  @Test func manyThreadsGiveEachNameOneNumber() async throws {
    for timeline in [MemoTimeline.inMemory(), MemoTimeline.inMemory()] {
      let (left, right) = (MemoStore<Left>(timeline), MemoStore<Right>(timeline))
      await withThrowingTaskGroup(of: Void.self) { group in
        for id in 0..<20 {
          group.addTask { try await left.insert(Left(id: id)) }
          group.addTask { try await right.insert(Right(id: 100 + id)) }
        }
      }
      let found = try names(timeline).compactMap { $0 }
      #expect(found.sorted() == ["both", "createdAt", "id", "left", "right", "text"])
      #expect(try timeline.count() == 40)
      #expect(try timeline.verify().isSound)
    }
  }

  @Test func namesAreToldApartByTheirBytes() throws {
    var names = MemoNames()
    #expect(names.number(adding: "caf\u{E9}") == 0)
    #expect(names.number(adding: "cafe\u{301}") == 1)
    #expect(names.number(adding: "") == 2)
    #expect(names.number(adding: "caf\u{E9}") == 0)
    #expect(names.number(of: "cafe\u{301}") == 1)
    #expect(names.number(of: "x") == nil && names[3] == nil && names[-1] == nil)
    #expect(names.number(adding: String(repeating: "x", count: 1024)) == 3)
    #expect(names.number(adding: String(repeating: "x", count: 1025)) == nil)
  }

  @Test func theTableIsBounded() throws {
    let timeline = MemoTimeline.inMemory()
    var batch = WriteBatch()
    batch.put(
      Array("last".utf8), forKey: MemoNames.key(of: MemoNames.maximumCount - 1),
      in: MemoSpace.meta)
    try timeline.database.write(batch)
    #expect(try timeline.numbers(of: ["last"]) == [MemoNames.maximumCount - 1])
    #expect(throws: MemoError.self) { try timeline.numbers(of: ["one more"]) }
  }

  @Test func namesFromElsewhereGetNumbersOfThisStore() throws {
    let timeline = MemoTimeline.inMemory()
    #expect(try timeline.numbers(of: ["a", "b", "a"]) == [0, 1, 0])
    #expect(try timeline.numbers(of: ["b", "c"]) == [1, 2])
    #expect(try names(timeline) == ["a", "b", "c"])
  }

  @Test(
    arguments: [
      ([0, 0, 0, 9], [0xFF], "is not UTF-8 of a permitted length"),
      ([0, 0, 0, 9], Array("both".utf8), "is there twice"),
      ([0, 1, 0, 0], Array("x".utf8), "is out of range"),
      ([0, 0, 0, 9, 9], Array("x".utf8), "is out of range"),
      ([0, 0], Array("x".utf8), "ends too early"),
      ([0xFF], [0x80], "ends too early"),
      ([0xFC], [1], "is not one number"),
      ([0xFD], [1], "has 1 bytes"),
      ([0xFE], [1], "has version 1; a newer program can read it"),
    ] as [([UInt8], [UInt8], String)])
  func damageIsFoundAndDoesNotKeepFromReading(
    key: [UInt8], value: [UInt8], reason: String
  ) async throws {
    let timeline = MemoTimeline.inMemory()
    let store = MemoStore<Left>(timeline)
    try await store.insert(Left(id: 1))
    var batch = WriteBatch()
    batch.put(value, forKey: key, in: MemoSpace.meta)
    try timeline.database.write(batch)
    let report = try timeline.verify()
    #expect(report.damage.map(\.reason) == [reason])
    _ = try timeline.reloadedNames()
    #expect(try store.memo(for: 1)?.left == "l")
    try await MemoStore<Right>(timeline).insert(Right(id: 2))
    #expect(try MemoStore<Right>(timeline).memo(for: 2)?.right == ["r"])
  }

  /// A number whose name is lost is not given to another one, which would show old values as new.
  @Test func aLostNameLeavesItsFieldUnknown() async throws {
    let folder = try KVTestSupport.StoreFolder(on: .memory)
    func open() throws -> MemoTimeline {
      try MemoTimeline(at: folder.path + "/store", in: folder.process(1))
    }
    let intact = MemoStore<Left>(try open())
    try await intact.insert(Left(id: 1, both: 7))
    var batch = WriteBatch()
    for number in 3...4 { batch.delete(MemoNames.key(of: number), in: MemoSpace.meta) }
    try intact.timeline.database.write(batch)
    try await intact.close()

    let timeline = try open()
    #expect(try timeline.verify().damage.map(\.reason) == ["has a field without a name"])
    let error = #expect(throws: MemoError.self) { try MemoStore<Left>(timeline).memo(for: 1) }
    #expect(error == .unreadable(MemoID(1), reason: "field left is missing"))
    let store = MemoStore<Counted>(timeline)
    try await store.update(1) { $0.value = 5 }
    #expect(try timeline.names().number(of: "value") == 5)
    let memo = try #require(try timeline.memo(for: MemoID(1)))
    let payload = try MemoPayload(encoded: memo.payload.rawBytes)
    #expect(payload.record[3] == .text("l") && payload.record[4] == .unsigned(7))
  }

  private struct Counted: MemoEntity {
    var id = 1
    var createdAt = MemoTimestamp.now
    var text = ""
    var value: Int?
  }

  @Test func salvageKeepsNamesAndPayloads() async throws {
    let directory = try TemporaryDirectory()
    let store = try MemoStore<Left>(at: directory.path("store"))
    let memo = Left(id: 1, text: "milk", left: "x", both: 9)
    try await store.insert(memo)
    try await store.close()
    _ = try MemoTimeline.salvage(storeAt: directory.path("store"), to: directory.path("saved"))
    let saved = try MemoStore<Left>(at: directory.path("saved"))
    #expect(try saved.memo(for: 1) == memo)
    #expect(try saved.timeline.verify().isSound)
    try await saved.close()
  }

  /// The launch of plain memos does without the table.
  @Test func plainMemosDoNotReadTheTable() async throws {
    let store = MemoStore.inMemory()
    try await store.insert(Memo(id: MemoID(1), body: "milk"))
    _ = try store.latest(200)
    try await store.update(MemoID(1)) { $0.body = "tea" }
    #expect(try store.timeline.hasReadNames == false)
    _ = try store.timeline.names()
    #expect(try store.timeline.hasReadNames)
  }
}
