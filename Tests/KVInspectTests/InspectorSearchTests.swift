import Foundation
import KVEngine
import MemoCore
import Testing

@testable import KVInspectCore

/// `search`: which memos it prints, and how.
@Suite struct InspectorSearchTests {
  /// Held by the suite: its folder goes with it.
  private let store: TestStore

  init() throws {
    store = try TestStore(
      memos(0..<200) + [
        memo(MemoID(1000), at: 1000, "Oat \u{FF2D}ilk\n\u{1B}[2J caf\u{E9}"),
        memo(MemoID(1001), at: 1001, "milk and cafe\u{301} and MILK"),
        memo(MemoID(1002), at: 1002, "cafe"),
      ], segments: 3, logged: [memo(MemoID(1003), at: 1003, "milk")])
  }

  private func ids(_ words: String...) throws -> [Int] {
    try InspectorRun(["search"] + words + ["--json"]).outputObjects().map { $0["id"] as? Int ?? -1 }
  }

  @Test func memosAreFoundNewestFirst() throws {
    let path = store.path
    #expect(try ids(path, "milk") == [1003, 1001, 1000])
    #expect(try ids(path, "MILK caf\u{E9}") == [1001, 1000])
    #expect(try ids(path, "\"milk and\"") == [1001])
    #expect(try ids(path, "cafe") == [1002])
    #expect(try ids(path, "cafe", "--folding", "marks") == [1002, 1001, 1000])
    #expect(try ids(path, "milk", "--folding=exact") == [1003, 1001])
    #expect(try ids(path, "number", "--limit", "3") == [199, 198, 197])
    #expect(try ids(path, " ").count == 204)
  }

  @Test func textIsThatOfLatestAndSteersNoTerminal() throws {
    let path = store.path
    let run = try InspectorRun("search", path, "ilk \u{1B}")
    #expect(run.code == .fine && run.errors.isEmpty)
    #expect(
      run.outputLines == [
        "1970-01-01T00:16:40Z  Oat \u{FF2D}ilk\\n\\u{1B}[2J caf\u{E9}"
      ])
    for words in [["milk"], ["milk", "--json"], ["\u{1B}"]] {
      let text = try InspectorRun(["search", path] + words).outputText
      #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isControlling }, "\(words)")
    }
  }

  @Test func jsonHasTheMemoAndTheRangesInItsBytes() throws {
    let run = try InspectorRun("search", store.path, "caf\u{E9} milk", "--json")
    for object in try run.outputObjects() {
      let body = Array(try #require(object["body"] as? String).utf8)
      let ranges = try #require(object["ranges"] as? [[Int]])
      let found = ranges.map { String(decoding: body[$0[0]..<$0[1]], as: UTF8.self) }
      let expected =
        object["id"] as? Int == 1000
        ? ["\u{FF2D}ilk", "caf\u{E9}"] : ["milk", "cafe\u{301}", "MILK"]
      #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }
    let copy = try TestStore()
    let file = try copy.file("found.jsonl", run.outputText)
    #expect(try InspectorRun("import", copy.path, file).outputText == "2 new\n")
  }

  @Test func theTrashIsSearchedByItself() throws {
    let timeline = try MemoTimeline(at: store.path)
    _ = try timeline.delete(
      MemoID(1001), at: 5_000_000, undoMicroseconds: 1, trashMicroseconds: 1 << 40)
    try timeline.close()
    #expect(try ids(store.path, "milk") == [1003, 1000])
    let run = try InspectorRun("search", store.path, "milk", "--trash", "--json")
    let object = try #require(try run.outputObjects().first)
    #expect(object["id"] as? Int == 1001 && (object["ranges"] as? [Any])?.count == 2)
    #expect((object["deletedAt"] as? String)?.hasPrefix("1970-01-01T00:00:05") == true)
  }

  @Test func nothingFoundAndWrongWordsHaveTheirExitCodes() throws {
    let path = store.path
    let nothing = try InspectorRun("search", path, "bread")
    #expect(nothing.code == .damage && nothing.output.isEmpty)
    #expect(nothing.errorText == "kvinspect: nothing is found\n")
    for words in [
      ["milk", "--limit", "0"], ["milk", "--limit", "x"], ["milk", "--folding", "most"], [""], [],
      ["a", "b"], [String(repeating: "x", count: 1 << 20)],
      [(0...40).map(String.init).joined(separator: "\u{3000}")],
    ] {
      let run = try InspectorRun(["search", path] + words)
      #expect(
        run.code == .usage && run.output.isEmpty && !run.errors.isEmpty, "\(words.first ?? "")")
    }
    #expect(try InspectorRun("search", path + "x", "milk").code == .system)
    for odd in ["\u{301}", "\u{3099}\u{309A}", "\u{85}\u{9B}", "\u{FFFD}"] {
      #expect(try InspectorRun("search", path, odd).output.isEmpty)
    }
  }

  // MARK: - On a terminal

  private func highlighted(_ text: String, _ found: [String], _ limit: Int?) -> String {
    var output: [UInt8] = []
    var ranges: [Range<Int>] = []
    let bytes = Array(text.utf8)
    for part in found {
      let rest = bytes[(ranges.last?.upperBound ?? 0)...]
      if let range = rest.firstRange(of: Array(part.utf8)) { ranges.append(range) }
    }
    HighlightedText.append(text, ranges, limit: limit, to: &output)
    return String(decoding: output, as: UTF8.self)
      .replacing("\u{1B}[1;31m", with: "<").replacing("\u{1B}[0m", with: ">")
  }

  @Test func matchesStandOutOnATerminal() {
    #expect(highlighted("oat milk, milk", ["milk", "milk"], nil) == "oat <milk>, <milk>")
    #expect(highlighted("a\u{1B}b\n", ["\u{1B}"], 40) == "a<\\u{1B}>b\\n")
    #expect(highlighted("milk", [], 40) == "milk")
    #expect(highlighted("", [], 40) == "")
    #expect(highlighted("milk", ["milk"], 10) == "<milk>")
    let long = String(repeating: "a", count: 100)
    #expect(
      highlighted(long + "milk" + long, ["milk"], 30)
        == "\u{2026}aaaaaaaaaa<milk>aaaaaaaaaaaaaa\u{2026}")
    #expect(highlighted("012345milk" + long, ["milk"], 15) == "012345<milk>aaaa\u{2026}")
    #expect(highlighted(long, ["aaa"], 10) == "<aaa>aaaaaa\u{2026}")
    #expect(highlighted(long, [long], 10) == "<aaaaaaaaa\u{2026}>")
  }
}
