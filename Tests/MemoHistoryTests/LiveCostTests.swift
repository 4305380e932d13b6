import Foundation
import KVEngine
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// What a list costs, counted and not timed.
@MainActor @Suite(.serialized) struct LiveCostTests {
  /// A memo that counts how often it is decoded, and says where it is coded.
  private struct Probe: MemoEntity {
    struct Calls {
      var decodings = 0
      var encodings = 0
      var onMainThread = 0
    }

    static let calls = SharedLock(Calls())
    var id: Int64
    var createdAt = MemoTimestamp.now
    var text: String

    init(id: Int64, text: String) {
      self.id = id
      self.text = text
    }

    private enum CodingKeys: CodingKey { case id, createdAt, text }

    init(from decoder: any Decoder) throws {
      Self.calls.withLock { $0.decodings += 1 }
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int64.self, forKey: .id)
      createdAt = try container.decode(MemoTimestamp.self, forKey: .createdAt)
      text = try container.decode(String.self, forKey: .text)
    }

    func encode(to encoder: any Encoder) throws {
      Self.calls.withLock { calls in
        calls.encodings += 1
        if Thread.isMainThread { calls.onMainThread += 1 }
      }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(createdAt, forKey: .createdAt)
      try container.encode(text, forKey: .text)
    }
  }

  private func decodings(_ body: () async throws -> Void) async rethrows -> Int {
    let before = Probe.calls.withLock { $0.decodings }
    try await body()
    return Probe.calls.withLock { $0.decodings } - before
  }

  private let clock = ManualClock()

  @Test func aChangeDecodesWhatHasChanged() async throws {
    let store = MemoStore<Probe>.inMemory(clock: clock)
    try await store.insert(contentsOf: (1...50).map { Probe(id: $0, text: "memo \($0)") })
    let history = LiveHistory(store)
    #expect(await decodings { _ = history.items } == 50)
    #expect(history.items.count == 50)
    try await store.insert(Probe(id: 51, text: "new"))
    #expect(await decodings { await clock.advance(by: .seconds(1)) } == 1)
    #expect(history.items.count == 51)
    try await store.delete(7)
    #expect(await decodings { await clock.advance(by: .seconds(1)) } == 0)
    #expect(history.items.count == 50)
    try await store.update(9) { $0.text = "changed" }
    #expect(await decodings { await clock.advance(by: .seconds(1)) } == 1)
    #expect(history.items.first { $0.id == 9 }?.text == "changed")
  }

  @Test func nothingIsEncodedOnTheMainThread() async throws {
    let store = MemoStore<Probe>.inMemory(clock: clock)
    let before = Probe.calls.withLock { ($0.encodings, $0.onMainThread) }
    let history = LiveHistory(store)
    for id in 1...200 { history.insert(Probe(id: Int64(id), text: "memo")) }
    for id in 1...200 { history.update(Int64(id)) { $0.text = "changed" } }
    await history.settle()
    try await store.insert(Probe(id: 201, text: "memo"))
    try await store.update(201) { $0.text = "changed" }
    try await store.upsert(Probe(id: 201, text: "again"))
    try await store.perform { probes in
      try probes.update(201) { $0.text = "in a transaction" }
    }
    let after = Probe.calls.withLock { ($0.encodings, $0.onMainThread) }
    #expect(after.0 - before.0 >= 404)
    #expect(after.1 == before.1)
    #expect(try store.latest(300).allSatisfy { $0.text != "memo" })
  }
}
