import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// `import`: counts, refused lines, repeats, and what it leaves when it fails.
@Suite struct InspectorImportTests {
  private func rows(_ ids: Range<Int>) -> String {
    ids.map { #"{"id":\#($0),"createdAt":"2024-05-01T12:00:00Z","body":"\#(secret) \#($0)"}"# }
      .joined(separator: "\n") + "\n"
  }

  @Test func countsAreSaidInTextAndJSON() throws {
    let store = try TestStore()
    let first = try store.file("first.jsonl", rows(0..<3))
    let text = try InspectorRun("import", store.path, first)
    #expect(text.code == .fine && text.errors.isEmpty)
    #expect(text.outputText == "3 new\n")

    let second = try store.file(
      "second.jsonl",
      rows(2..<4) + #"{"id":0,"createdAt":"2025-05-01T12:00:00Z","body":"later"}"# + "\n\n"
        + #"{"id":1,"createdAt":"2023-05-01T12:00:00Z","body":"earlier"}"# + "\n"
        + #"{"id":"half","createdAt":"2023-05-01T12:00:00Z","body":"\ud83d"}"# + "\n{bad\n")
    let json = try InspectorRun("import", store.path, second, "--json")
    #expect(json.code == .damage && json.errors.isEmpty)
    #expect(
      json.outputLines == [
        #"{"line":7,"refused":"not JSON at byte 1: expected a name in double quotes"}"#,
        #"{"committed":5,"line":7}"#,
        #"{"inserted":2,"replaced":1,"unchanged":1,"outdated":1,"repaired":1,"refused":1}"#,
      ])
    let again = try InspectorRun("import", store.path, second)
    #expect(again.code == .damage)
    #expect(
      again.outputText
        == "4 there already, 1 older than what is there, 1 with half characters repaired,"
        + " 1 line refused\n")
    #expect(
      again.errorText == "line 7: not JSON at byte 1: expected a name in double quotes\n")
    #expect(try store.memos().count == 5)
  }

  /// What is in the file comes back newest first, of equal times the later line first.
  @Test func linesArriveInTheirOrder() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<2500))
    let run = try InspectorRun("import", store.path, file, "--json")
    let committed = try run.outputObjects().compactMap { $0["committed"] as? Int }
    #expect(committed == [1000, 2500])
    #expect(try store.memos().map(\.id) == (0..<2500).reversed().map { MemoID(Int64($0)) })
  }

  @Test func theSecondImportWritesNothing() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<1200))
    #expect(try InspectorRun("import", store.path, file).code == .fine)
    let before = try store.contents()
    let run = try InspectorRun("import", store.path, file)
    #expect(run.code == .fine)
    #expect(run.outputText == "1200 there already\n")
    #expect(try store.contents() == before)
  }

  @Test(arguments: ["", "\n \n\r\n"])
  func aFileWithoutMemosCreatesNoStore(text: String) throws {
    let store = try TestStore()
    let run = try InspectorRun("import", store.path, try store.file("empty.jsonl", text))
    #expect(run.code == .fine && run.errors.isEmpty)
    #expect(run.outputText == "no memos\n")
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  @Test func aMissingFileCreatesNoStore() throws {
    let store = try TestStore()
    let run = try InspectorRun("import", store.path, store.directory.path("missing.jsonl"))
    #expect(run.code == .system && run.output.isEmpty)
    #expect(run.errorText == "kvinspect: open of missing.jsonl failed: No such file or directory\n")
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  @Test func aFolderIsNoFile() throws {
    let store = try TestStore()
    let run = try InspectorRun("import", store.path, store.directory.path)
    #expect(run.code == .system && run.output.isEmpty)
    #expect(run.errorLines.count == 1)
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  // MARK: - Refused lines

  @Test func refusedLinesAreWrittenAsTheyWere() throws {
    let store = try TestStore()
    let bad = ["{bad \(secret)", "  [1]\r", #"{"id":"x","body":"\#(secret)"}"#]
    let file = try store.file(
      "rows.jsonl", rows(0..<2) + bad.joined(separator: "\n") + "\n" + rows(2..<3))
    let rejected = store.directory.path("rejected.jsonl")
    let run = try InspectorRun("import", store.path, file, "--rejected", rejected)
    #expect(run.code == .damage)
    #expect(run.outputText == "3 new, 3 lines refused\n")
    #expect(run.errorLines.map { $0.prefix(7) } == ["line 3:", "line 4:", "line 5:"])
    #expect(!run.errorText.contains(secret))
    let kept = try String(decoding: Data(contentsOf: URL(fileURLWithPath: rejected)), as: UTF8.self)
    #expect(kept == bad.joined(separator: "\n") + "\n")
  }

  @Test func manyRefusedLinesAreAllKept() throws {
    let store = try TestStore()
    let bad = (0..<5000).map { "{\"number\": \($0), \"\(String(repeating: "x", count: 30))\": 1}" }
    let file = try store.file("rows.jsonl", bad.joined(separator: "\n"))
    let rejected = store.directory.path("rejected.jsonl")
    let run = try InspectorRun("import", store.path, file, "--rejected", rejected, "--json")
    #expect(run.code == .damage)
    #expect(try run.outputObjects().compactMap { $0["line"] as? Int } == Array(1...5000))
    #expect(try Data(contentsOf: URL(fileURLWithPath: rejected)).count == file.bytes + 1)
  }

  @Test func anExistingFileOfRefusedLinesIsLeftAlone() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<2) + "{bad\n")
    let rejected = try store.file("rejected.jsonl", "mine")
    let run = try InspectorRun("import", store.path, file, "--rejected", rejected)
    #expect(run.code == .system)
    #expect(run.errorText == "kvinspect: open of rejected.jsonl failed: File exists\n")
    #expect(try String(contentsOfFile: rejected, encoding: .utf8) == "mine")
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  /// An import that is repeated must not fail because of its own empty file.
  @Test func noFileIsLeftWhenNoLineIsRefused() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<2))
    let rejected = store.directory.path("rejected.jsonl")
    for _ in 0..<2 {
      #expect(try InspectorRun("import", store.path, file, "--rejected", rejected).code == .fine)
      #expect(!FileManager.default.fileExists(atPath: rejected))
    }
    let holder = try MemoTimeline(at: store.path)
    try holder.insert(memo(MemoID(99), at: 1, ""))
    let refused = try InspectorRun("import", store.path, file, "--rejected", rejected)
    #expect(refused.code == .system)
    #expect(!FileManager.default.fileExists(atPath: rejected))
    try holder.close()
  }

  @Test func aMemoThatIsTooLargeIsALineRefused() throws {
    let store = try TestStore()
    let body = String(repeating: "x", count: Limits.Value.maximumByteCount)
    let large = #"{"id":"large","createdAt":"2024-05-01T12:00:00Z","body":"\#(body)"}"#
    let file = try store.file("rows.jsonl", rows(0..<2) + large + "\n" + rows(2..<4))
    let run = try InspectorRun("import", store.path, file)
    #expect(run.code == .damage)
    #expect(run.errorText == "line 3: the memo is larger than a store can hold\n")
    #expect(run.outputText == "4 new, 1 line refused\n")
    #expect(try store.memos().count == 4)
  }

  /// A thousand large ids and one large memo together are more than one commit can take.
  @Test func largeIDsDoNotMakeABatchTooLarge() throws {
    let store = try TestStore()
    func row(_ id: String, _ body: String) -> String {
      #"{"id":"\#(id)","createdAt":"2024-05-01T12:00:00Z","body":"\#(body)"}"# + "\n"
    }
    let ids = (0..<700).map { String(repeating: "i", count: 65_000) + "\($0)" }
    let large = row("large", String(repeating: "x", count: 60 << 20))
    let file = try store.file("rows.jsonl", ids.map { row($0, "") }.joined() + large)
    let run = try InspectorRun("import", store.path, file)
    #expect(run.code == .fine)
    #expect(run.outputText == "701 new\n")
  }

  // MARK: - Other writers

  @Test func aSecondWriterIsRefusedAndChangesNothing() throws {
    let store = try TestStore(memos(0..<10))
    let holder = try MemoTimeline(at: store.path)
    try holder.insert(memo(MemoID(100), at: 100, "held"))
    let file = try store.file("rows.jsonl", rows(0..<20))
    let before = try store.contents()
    for format in [[], ["--json"]] as [[String]] {
      let run = try InspectorRun(["import", store.path, file] + format)
      #expect(run.code == .system && run.output.isEmpty)
      #expect(
        run.errorText == "kvinspect: the store is open for writing elsewhere; only one writer"
          + " at a time\n")
      #expect(try store.contents() == before)
    }
    // Readers are not in its way.
    #expect(try InspectorRun("latest", store.path, "1").outputText.hasSuffix("held\n"))
    #expect(try InspectorRun("verify", store.path).code == .fine)
    try holder.close()
    #expect(try InspectorRun("import", store.path, file).code == .fine)
  }

  /// Lines that were read before the source failed are taken, and the failure is said.
  @Test func whatWasCommittedBeforeAFailureIsSaid() throws {
    let store = try TestStore()
    let file = try store.file("rows.jsonl", rows(0..<1500))
    let rejected = store.directory.path("missing/rejected.jsonl")
    let run = try InspectorRun("import", store.path, file, "--rejected", rejected)
    #expect(run.code == .system && run.errorLines.count == 1)
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }
}

extension String {
  /// Bytes of the file with this path.
  fileprivate var bytes: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: self)
    return (attributes?[.size] as? Int) ?? -1
  }
}
