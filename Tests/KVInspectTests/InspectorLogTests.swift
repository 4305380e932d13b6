import Foundation
import KVEngine
import MemoCore
import Testing

@testable import KVInspectCore

/// `log` and `manifest`.
@Suite struct InspectorLogTests {
  private func object(_ words: String...) throws -> [String: Any] {
    try #require(try InspectorRun(words + ["--json"]).outputObjects().first)
  }

  private func records(_ store: TestStore) throws -> [[String: Any]] {
    let logs = try #require(try object("log", store.path)["logs"] as? [[String: Any]])
    return try #require(logs.last?["records"] as? [[String: Any]])
  }

  /// A store whose log has one record for each memo.
  private func store(_ count: Int) throws -> TestStore {
    let store = try TestStore()
    let timeline = try MemoTimeline(at: store.path)
    for memo in memos(0..<count) { _ = try timeline.importBatch([memo]) }
    try timeline.close()
    return store
  }

  @Test func everyRecordIsListedWithItsSequences() throws {
    let store = try store(5)
    let records = try records(store)
    #expect(records.map { $0["firstSequence"] as? Int } == [1, 3, 5, 7, 9])
    #expect(records.map { $0["lastSequence"] as? Int } == [2, 4, 6, 8, 10])
    #expect(records.map { $0["durableSequence"] as? Int } == [0, 2, 4, 6, 8])
    #expect(records.allSatisfy { $0["spaces"] as? [Int] == [1, 2] })
    let log = try #require((try object("log", store.path)["logs"] as? [[String: Any]])?.first)
    let summary = try MemoTimeline(at: store.path).storeSummary()
    #expect(log["bytes"] as? Int == summary.logByteCount)
    #expect(log["entries"] as? Int == summary.logEntryCount && log["cleanEnd"] as? Bool == true)
    let text = try InspectorRun("log", store.path)
    #expect(text.outputLines.count == 2 + 1 + 1 + 5 + 1, "\(text.outputText)")
  }

  @Test func deletionsAreCounted() throws {
    let store = try store(1)
    let timeline = try MemoTimeline(at: store.path)
    _ = try timeline.delete(MemoID(0))
    try timeline.close()
    #expect(try records(store).map { $0["deletions"] as? Int } == [0, 2])
  }

  /// What was durable and does not verify is damage; the records in front of it are shown.
  @Test(arguments: [0, 2, 8])
  func recordsInFrontOfDamageAreShown(position: Int) throws {
    let store = try store(10)
    let name = try #require(try store.names(".log").first)
    let offset = try #require(try records(store)[position]["offset"] as? Int)
    try store.patch(name) { $0[offset + 41] ^= 1 }
    let run = try InspectorRun("log", store.path)
    #expect(run.code == .damage && run.errors.isEmpty)
    #expect(run.outputText.contains("damaged: \(name) at byte \(offset): log record: "))
    #expect(!run.outputText.contains(secret))
    #expect(try records(store).count == position)
    let found = try InspectorRun("find", store.path, "0")
    #expect(found.code == .damage && found.outputText.contains("damaged: \(name)"))
    #expect(found.outputText.contains("insertion, sequence 1,") == (position > 0))
    #expect(try InspectorRun("space", store.path).code == .damage)
    #expect(try InspectorRun("segments", store.path).code == .fine)
  }

  /// A torn last record is how a log may end, not damage.
  @Test func aTornTailIsNoDamage() throws {
    let store = try store(4)
    let name = try #require(try store.names(".log").first)
    let offset = try #require(try records(store)[3]["offset"] as? Int)
    try store.patch(name) { $0[offset + 41] ^= 1 }
    let run = try InspectorRun("log", store.path)
    #expect(run.code == .fine)
    #expect(run.outputText.contains("behind byte \(offset): what a crash left"))
    #expect(try records(store).count == 3)
  }

  @Test func aLogThatIsMissingOrNoLogIsDamage() throws {
    let store = try store(4)
    let name = try #require(try store.names(".log").first)
    try store.patch(name) { $0 = $0.prefix(10) }
    let cut = try InspectorRun("log", store.path)
    #expect(cut.code == .damage && cut.outputText.contains("damaged: \(name)"))
    try FileManager.default.removeItem(atPath: store.path + "/" + name)
    let missing = try InspectorRun("log", store.path)
    #expect(missing.code == .damage && missing.outputText.contains("is missing though"))
  }

  // MARK: - MANIFEST

  @Test func theManifestIsPrintedWithThoseBeforeIt() throws {
    let store = try TestStore(memos(0..<300), segments: 3)
    let summary = try MemoTimeline(at: store.path).storeSummary()
    let manifest = try object("manifest", store.path)
    #expect(manifest["store"] as? String == summary.identity)
    #expect(manifest["generation"] as? Int == Int(summary.generation))
    #expect(manifest["flushedSequence"] as? Int == Int(summary.sequence))
    let segments = try #require(manifest["segments"] as? [[String: Any]])
    #expect(segments.count == 3)
    #expect(
      segments.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) } == summary.segmentByteCount)
    let logs = try store.names(".log").suffix(1)
    #expect(manifest["logs"] as? [String] == Array(logs))
    let earlier = try #require(manifest["earlier"] as? [[String: Any]])
    #expect(earlier.map { $0["generation"] as? Int } == [3, 2, 1])
    #expect(earlier.allSatisfy { $0["whole"] as? Bool == true })
    let text = try InspectorRun("manifest", store.path).outputText
    #expect(text.contains("store       \(summary.identity), format 0\n"))
  }

  @Test func aDamagedCopyIsReportedAndTheOtherRead() throws {
    let store = try TestStore(memos(0..<10))
    try store.patch("MANIFEST") { $0[60] ^= 1 }
    let run = try InspectorRun("manifest", store.path)
    #expect(run.code == .damage && run.errors.isEmpty)
    #expect(
      run.outputText.contains("damaged: MANIFEST") && run.outputText.contains("generation  2"))
    #expect(try InspectorRun("segments", store.path).code == .fine)
  }

  @Test func withoutAManifestTheEarlierOnesAreListed() throws {
    let store = try TestStore(memos(0..<10))
    try FileManager.default.removeItem(atPath: store.path + "/MANIFEST")
    let run = try InspectorRun("manifest", store.path)
    #expect(run.code == .damage && run.errors.isEmpty)
    #expect(run.outputText.contains("damaged: MANIFEST at byte 0: MANIFEST: is missing"))
    #expect(run.outputText.contains("  MANIFEST-000001: "))
    let object = try object("manifest", store.path)
    #expect(object["generation"] == nil && (object["earlier"] as? [Any])?.count == 2)
  }

  @Test func namesOfSpacesNeverSteerATerminal() throws {
    let store = try UserSpaces.store()
    let run = try InspectorRun("manifest", store.path)
    #expect(run.outputText.contains("space       'dra\\u{1B}fts', code 65\n"))
    let spaces = try #require(try object("manifest", store.path)["spaces"] as? [[String: Any]])
    #expect(spaces.map { $0["name"] as? String } == ["dra\u{1B}fts"])
  }
}
