import Foundation
import KVEngine
import KVTestSupport
import MemoHistory
import Testing

/// What an app is told when the newest state of its memos is not there.
@Suite struct MemoStoreConditionTests {
  private func makeStore(in directory: TemporaryDirectory) async throws -> String {
    let path = directory.path("memos")
    let store = try MemoStore<Memo>(at: path)
    try await store.insert(Memo(id: try MemoID("1"), body: "milk"))
    #expect(store.condition == .open)
    try await store.close()
    return path
  }

  @Test func aStoreWithoutItsManifestOpensAndSaysSo() async throws {
    let directory = try TemporaryDirectory()
    let path = try await makeStore(in: directory)
    try FileManager.default.removeItem(atPath: path + "/MANIFEST")
    let store = try MemoStore<Memo>(at: path)
    #expect(try store.latest(10).map(\.body) == ["milk"])
    guard case .openEarlierState(let report) = store.condition else {
      Issue.record("\(store.condition)")
      return
    }
    #expect(report.generation == 1 && report.missingSequences == nil)
    try await store.insert(Memo(id: try MemoID("2"), body: "tea"))
    try await store.close()
    let again = try MemoStore<Memo>(at: path)
    #expect(again.condition == .open)
    #expect(try again.count() == 2)
  }

  @Test func whereNoStateIsCompleteTheStoreIsDamaged() async throws {
    let directory = try TemporaryDirectory()
    let path = try await makeStore(in: directory)
    for name in ["MANIFEST", "MANIFEST-000001"] {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
    #expect(throws: MemoError.self) { try MemoStore<Memo>(at: path) }
  }
}
