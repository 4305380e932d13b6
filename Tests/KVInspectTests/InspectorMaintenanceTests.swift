import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// `space`, `compact` and `checkpoint`.
@Suite struct InspectorMaintenanceTests {
  private func object(_ words: String...) throws -> [String: Any] {
    try #require(try InspectorRun(words + ["--json"]).outputObjects().first)
  }

  private func number(_ name: String, _ object: [String: Any]) -> Int {
    object[name] as? Int ?? -1
  }

  @Test func theSumOfAllRolesIsTheFolder() throws {
    let store = try TestStore(memos(0..<600), segments: 4, logged: memos(600..<650))
    try Data(count: 77).write(to: URL(fileURLWithPath: store.path + "/notes.txt"))
    try Data(count: 33).write(to: URL(fileURLWithPath: store.path + "/000099.seg"))
    let space = try object("space", store.path)
    // The MANIFEST has two names.
    let names = try store.contents().filter { $0.key != "MANIFEST" }
    let folder = names.values.reduce(0) { $0 + $1.count }
    #expect(number("totalBytes", space) == folder)
    let roles = ["segment", "log", "manifest", "reserve", "retired", "pinned", "unfinished"]
    #expect(roles.reduce(77) { $0 + number($1 + "Bytes", space) } == folder)
    #expect(number("foreignBytes", space) == 77 && number("unfinishedBytes", space) == 33)
    let timeline = try MemoTimeline(at: store.path)
    let statistics = try timeline.database.statistics()
    #expect(number("segmentBytes", space) == statistics.segmentByteCount)
    #expect(number("segments", space) == statistics.segmentCount)
    #expect(number("logBytes", space) == (try timeline.storeSummary().logByteCount))
    // Other files that are not live are there already when the store is summed up.
    let replaced = try timeline.storeSummary().replacedByteCount
    let expected = ["retired", "reserve", "unfinished", "pinned"]
    #expect(expected.reduce(0) { $0 + number($1 + "Bytes", space) } == replaced)
  }

  @Test func liveMemosAreCountedAsTheEngineCountsThem() throws {
    let store = try TestStore(memos(0..<400), segments: 2)
    let timeline = try MemoTimeline(at: store.path)
    for id in 0..<100 { _ = try timeline.delete(MemoID(Int64(id))) }
    let count = try timeline.count()
    try timeline.close()
    let before = try object("space", store.path)
    let spaces = try #require(before["spaces"] as? [[String: Any]])
    #expect(spaces.map { $0["name"] as? String } == ["memos", "ids"])
    #expect(spaces[0]["live"] as? Int == count && count == 300)
    #expect(spaces[0]["liveIsExact"] as? Bool == true)
    #expect(spaces[1]["liveIsExact"] as? Bool == false)
    #expect(number("liveBytes", before) < number("dataBytes", before))
    #expect(try InspectorRun("compact", store.path).code == .fine)
    let after = try object("space", store.path)
    #expect(number("liveBytes", after) == number("dataBytes", after))
  }

  @Test func compactMergesAndSaysSo() throws {
    let store = try TestStore(memos(0..<600), segments: 6, logged: memos(600..<650))
    let before = Set(try store.memos())
    let compacted = try object("compact", store.path)
    let first = try #require(compacted["before"] as? [String: Any])
    let last = try #require(compacted["after"] as? [String: Any])
    #expect(number("segments", first) == 6 && number("segments", last) == 2)
    // One for each space.
    #expect(number("entries", last) == 1300 && number("compactions", compacted) >= 1)
    #expect(try Set(store.memos()) == before)
    #expect(try InspectorRun("verify", store.path).code == .fine)
    let again = try InspectorRun("compact", store.path)
    #expect(again.code == .fine && again.outputLines.count == 3)
    #expect(again.outputLines[0].dropFirst(8) == again.outputLines[1].dropFirst(8))
  }

  @Test func compactWaitsForNobody() throws {
    let store = try TestStore(memos(0..<10))
    let timeline = try MemoTimeline(at: store.path)
    _ = try timeline.importBatch(memos(10..<20))
    let run = try InspectorRun("compact", store.path)
    #expect(run.code == .system && run.output.isEmpty)
    #expect(run.errorText.contains("only one writer at a time"))
    try timeline.close()
  }

  @Test func aCheckpointIsAStoreOfItsOwn() throws {
    let store = try TestStore(memos(0..<300), segments: 3, logged: memos(300..<310))
    let target = store.directory.path("copy")
    let before = try store.contents()
    let made = try object("checkpoint", store.path, target)
    #expect(try store.contents() == before)
    let totals = try #require(made["checkpoint"] as? [String: Any])
    #expect(number("segments", totals) == 4 && number("entries", totals) == 620)
    #expect(try InspectorRun("verify", target).code == .fine)
    #expect(
      try InspectorRun("scan", target).output == InspectorRun("scan", store.path).output)
    // Never into a folder that is there.
    let again = try InspectorRun("checkpoint", store.path, target)
    #expect(again.code == .system && again.output.isEmpty && again.errorLines.count == 1)
  }

  @Test func aCheckpointWorksWhileAnotherHandleWrites() throws {
    let store = try TestStore(memos(0..<50))
    let timeline = try MemoTimeline(at: store.path)
    _ = try timeline.importBatch(memos(50..<60))
    let target = store.directory.path("copy")
    #expect(try InspectorRun("checkpoint", store.path, target).code == .fine)
    _ = try timeline.importBatch(memos(60..<70))
    try timeline.close()
    #expect(try InspectorRun("scan", target).outputLines.count == 60)
  }
}
