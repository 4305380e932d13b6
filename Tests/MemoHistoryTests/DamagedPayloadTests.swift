import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Payloads with every bit flipped and cut at every byte, in a store whose checksums are right:
/// what a program with a fault, or one that means harm, could have written.
@Suite struct DamagedPayloadTests {
  private struct Rich: MemoEntity {
    var id = 1
    var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
    var text = "milk"
    var uuid = UUID()
    var tags: Set<String> = ["a", "b"]
    var counts = ["x": 1, "y": -300]
    var places = [Place(row: 1, column: 2): Optional("p")]
    var shape = Shape.group(.circle(radius: 2), name: nil)
    var address = Address()
    var bytes: [UInt8] = [1, 2, 3]
    var times = [MemoTimestamp(microseconds: 5)]
    var ratio: Float = 0.5
    static let schema = MemoSchema<Rich>(version: 2, defaults: Rich()) { fields, _ in
      fields.rename("tags", to: "labels")
      fields.rename("labels", to: "tags")
    }
  }

  /// Puts a payload under the memo with id 1 and reads it in every way.
  ///
  /// - Returns: Whether it was readable.
  private func read(
    _ payload: [UInt8], in store: MemoStore<Rich>, _ what: String
  ) throws -> Bool {
    var memo = try #require(try store.timeline.memo(for: MemoID(1)))
    memo.payload = payload
    try store.timeline.upsert(memo, durability: .lazy)
    var failure: MemoError?
    do {
      _ = try store.memo(for: 1)
    } catch {
      failure = error
    }
    let rest = try store.latest(10) { #expect($0 == failure, "\(what)") }
    #expect(rest.map(\.id) == (failure == nil ? [2, 1, 3] : [2, 3]), "\(what)")
    if let failure { #expect(!"\(failure)".contains("milk"), "\(what)") }
    return failure == nil
  }

  private func store() async throws -> (MemoStore<Rich>, payload: [UInt8]) {
    let store = MemoStore<Rich>.inMemory()
    for (id, second) in [(1, 2), (2, 3), (3, 1)] as [(Int, Int64)] {
      let time = try #require(MemoTimestamp(microseconds: second * 1_000_000))
      try await store.insert(Rich(id: id, createdAt: time))
    }
    let memo = try #require(try store.timeline.memo(for: MemoID(1)))
    return (store, memo.payload)
  }

  @Test func everyFlippedBitIsAnErrorOfOneMemoOrAValue() async throws {
    let (store, payload) = try await store()
    #expect(try read(payload, in: store, "whole"))
    var readable = 0
    for place in payload.indices {
      for bit in 0..<8 {
        var flipped = payload
        flipped[place] ^= 1 << bit
        if try read(flipped, in: store, "byte \(place) bit \(bit)") { readable += 1 }
      }
    }
    #expect(readable > 0 && readable < payload.count * 8)
  }

  @Test func everyTruncationIsAnErrorOfOneMemo() async throws {
    let (store, payload) = try await store()
    for count in 1..<payload.count {
      #expect(try !read(Array(payload[..<count]), in: store, "\(count)"))
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func anyChangeIsAnErrorOrAValue(seed: UInt64) async throws {
    let (store, payload) = try await store()
    var generator = SeededGenerator(seed: seed)
    for round in 0..<200 {
      var bytes = payload
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      _ = try read(bytes, in: store, "seed \(seed) round \(round)")
    }
  }

  @Test func aDamagedMemoCanBeDeletedAndIsFoundByVerify() async throws {
    let (store, payload) = try await store()
    _ = try read(Array(payload.dropLast()), in: store, "cut")
    #expect(try store.timeline.verify().damage.map(\.structure) == ["memo payload"])
    await #expect(throws: MemoError.self) { try await store.update(1) { $0.text = "x" } }
    await #expect(throws: MemoError.self) { try await store.upsert(Rich(id: 1)) }
    #expect(try await store.delete(1) != nil)
    #expect(try store.count() == 2)
    #expect(try store.timeline.verify().isSound)
  }
}
