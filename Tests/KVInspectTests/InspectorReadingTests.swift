import Foundation
import KVEngine
import MemoCore
import Testing

@testable import KVInspectCore

/// `latest`, `get`, `scan`, `summary`, `help` and `version`, in text and JSON.
@Suite struct InspectorReadingTests {
  private static let odd = [
    memo(MemoID(7), at: 3, "line one\nline two"),
    memo(MemoID(uuid: (high: 1, low: 2)), at: 2, "\u{1B}[2J\u{7}\u{9B}31m\u{202E}x\r\u{8}"),
    memo(MemoID(-5), at: 1, ""),
  ]

  /// Exactly the newest `count`, each on one line, and nothing else on standard output.
  @Test(arguments: [1, 3, 150, 400, 500])
  func latestPrintsTheNewest(count: Int) throws {
    let store = try TestStore(memos(0..<300), segments: 3, logged: memos(300..<400))
    let newest = Array(memos(0..<400).reversed().prefix(count))
    let text = try InspectorRun("latest", store.path, "\(count)")
    #expect(text.code == .fine)
    #expect(text.outputLines == newest.map { "\($0.createdAt)  \($0.body)" })
    #expect(text.errorLines.count == 1)
    #expect(text.errorText.hasPrefix("\(newest.count) memo"))

    let json = try InspectorRun("latest", store.path, "\(count)", "--json")
    #expect(json.code == .fine)
    #expect(try json.outputObjects().map { $0["body"] as? String } == newest.map(\.body))
    let times = try #require(try objects(json.errorLines).first)
    #expect(times["count"] as? Int == newest.count)
    #expect(times["openMicroseconds"] is Int && times["readMicroseconds"] is Int)
  }

  @Test func latestWithoutANumberIs200() throws {
    let store = try TestStore(memos(0..<250))
    #expect(try InspectorRun("latest", store.path).outputLines.count == 200)
  }

  @Test func scanPrintsEveryMemoOnce() throws {
    let store = try TestStore(memos(0..<3000), segments: 4, logged: memos(3000..<3500))
    let newest = memos(0..<3500).reversed()
    let text = try InspectorRun("scan", store.path)
    #expect(text.code == .fine && text.errors.isEmpty)
    #expect(text.outputLines == newest.map { "\($0.createdAt)  \($0.body)" })
    let json = try InspectorRun("scan", store.path, "--json")
    #expect(json.code == .fine && json.errors.isEmpty)
    #expect(try json.outputObjects().map { $0["id"] as? Int64 } == (0..<3500).reversed())
  }

  @Test(arguments: ["latest", "scan"])
  func whatIsPrintedAsJSONCanBeImported(command: String) throws {
    let memos =
      Self.odd + [
        memo(try MemoID(bytes: [0xAB, 0]), at: 0, "caf\u{E9} cafe\u{301}\u{FEFF}\0"),
        memo(try MemoID("\"\\\n\u{202E}"), at: 0, "\u{2028}"),
      ]
    let store = try TestStore(memos)
    let printed = try InspectorRun(command, store.path, "--json")
    let file = try store.file("printed.jsonl", printed.outputText)
    let copy = try TestStore()
    #expect(try InspectorRun("import", copy.path, file).outputText == "5 new\n")
    #expect(try Set(copy.memos()) == Set(memos))
  }

  @Test(.bug(id: "B109")) func textAndMessagesNeverSteerATerminal() throws {
    let store = try TestStore(Self.odd)
    let id = "0000000000000001-0000-000000000002"
    let escape = "\u{1B}[2J\u{9B}"
    let runs = [
      try InspectorRun("latest", store.path), try InspectorRun("latest", store.path, "--json"),
      try InspectorRun("scan", store.path), try InspectorRun("scan", store.path, "--json"),
      try InspectorRun("get", store.path, "00000000-0000-0001-0000-000000000002"),
      try InspectorRun("get", store.path, id + escape), try InspectorRun(escape),
      try InspectorRun("--\(escape)"), try InspectorRun("latest", store.path + escape),
      try InspectorRun("latest", store.path, escape), try InspectorRun("import", escape, escape),
      try InspectorRun("import", store.path, store.path, "--rejected", store.path + escape + "/x"),
      try InspectorRun("verify", escape), try InspectorRun("summary", store.path, escape),
    ]
    #expect(runs[4].outputText.contains("\\u{1B}[2J"))
    for run in runs {
      for text in [run.outputText, run.errorText] {
        let bad = text.unicodeScalars.first { $0 != "\n" && $0.isControlling }
        #expect(bad == nil, "\(text.debugDescription)")
      }
    }
  }

  @Test func getPrintsTheWholeMemo() throws {
    let store = try TestStore(Self.odd)
    let text = try InspectorRun("get", store.path, "7")
    #expect(text.code == .fine && text.errors.isEmpty)
    #expect(
      text.outputLines == [
        "id         7", "createdAt  1970-01-01T00:00:03Z", "", "line one", "line two",
      ])
    let json = try InspectorRun("get", store.path, "7", "--json")
    #expect(
      json.outputLines == [
        #"{"id":7,"createdAt":"1970-01-01T00:00:03Z","body":"line one\nline two"}"#
      ])
    let uuid = try InspectorRun("get", store.path, "00000000-0000-0001-0000-000000000002")
    #expect(uuid.code == .fine && uuid.outputLines.count == 4)
  }

  @Test func idsMayHaveOddCharacters() throws {
    let ids = [
      "-5x", "--json", "--", "-", "a b", "a\nb", "caf\u{E9}", "\u{1B}[2J", "=", "*", "../x", "\"",
      "\\", String(repeating: "i", count: 60_000),
    ]
    let store = try TestStore(
      try ids.enumerated().map { memo(try MemoID($1), at: 1, "body \($0)") })
    for (number, id) in ids.enumerated() {
      let run = try InspectorRun("get", store.path, "--json", "--", id)
      #expect(run.code == .fine, "id \(number)")
      #expect(try run.outputObjects().map { $0["body"] as? String } == ["body \(number)"])
    }
    let minus = try TestStore(Self.odd)
    #expect(try InspectorRun("get", minus.path, "--", "-5").code == .fine)
    #expect(try InspectorRun("get", minus.path, "-5").code == .usage)
    #expect(try InspectorRun("get", minus.path, "--", "-5", "--json").code == .usage)
  }

  /// Composed and decomposed ids are two; one is not found by the other.
  @Test func anIDIsFoundByItsBytesOnly() throws {
    let store = try TestStore([memo(try MemoID("caf\u{E9}"), at: 1, "x")])
    let run = try InspectorRun("get", store.path, "cafe\u{301}")
    #expect(run.code == .damage)
    #expect(run.errorText == "kvinspect: there is no memo with this id\n")
    #expect(run.output.isEmpty)
    #expect(try InspectorRun("get", store.path, "nothing", "--json").code == .damage)
  }

  @Test func everyMemoThatATypedIDCanMeanIsPrinted() throws {
    let store = try TestStore([
      memo(try MemoID("12"), at: 1, "text"), memo(MemoID(12), at: 2, "number"),
      memo(try MemoID(bytes: [0x12]), at: 3, "bytes"),
    ])
    let json = try InspectorRun("get", store.path, "12", "--json")
    #expect(json.code == .fine)
    #expect(
      try json.outputObjects().map { $0["body"] as? String } == ["text", "number", "bytes"])
    let text = try InspectorRun("get", store.path, "12")
    #expect(text.outputLines.filter { $0 == "id         12" }.count == 3)
  }

  @Test func summaryCountsWithoutReadingAll() throws {
    let store = try TestStore(memos(0..<300), segments: 3, logged: memos(300..<310))
    let json = try InspectorRun("summary", store.path, "--json")
    #expect(json.code == .fine && json.errors.isEmpty)
    let object = try #require(try json.outputObjects().first)
    #expect(object["memos"] as? Int == 310)
    #expect(object["segments"] as? Int == 3)
    #expect(object["logEntries"] as? Int == 20)
    #expect(object["newest"] as? String == "1970-01-01T00:05:09Z")
    #expect(object["oldest"] as? String == "1970-01-01T00:00:00Z")
    #expect((object["store"] as? String)?.count == 32)
    let text = try InspectorRun("summary", store.path).outputText
    #expect(text.contains("memos       310\n") && text.contains("segments    3, "))
    #expect(text.contains("log         20 entries, "))
  }

  @Test func aStoreWithoutMemosIsFine() throws {
    let store = try TestStore([])
    try MemoTimeline(at: store.path).flush()
    for command in ["latest", "scan", "summary", "verify"] {
      for format in [[], ["--json"]] as [[String]] {
        let run = try InspectorRun([command, store.path] + format)
        #expect(run.code == .fine, "\(command) \(format)")
      }
    }
    #expect(try InspectorRun("scan", store.path).output.isEmpty)
    #expect(try InspectorRun("latest", store.path, "--json").output.isEmpty)
    #expect(try InspectorRun("get", store.path, "x").code == .damage)
  }

  @Test func helpNamesWhatExists() throws {
    let overview = try InspectorRun("help")
    #expect(overview.code == .fine && overview.errors.isEmpty)
    #expect(try InspectorRun("--help").output == overview.output)
    for name in CommandName.allCases {
      #expect(overview.outputText.contains("  \(name.rawValue) "))
      let help = try InspectorRun("help", name.rawValue)
      #expect(help.code == .fine)
      #expect(help.outputText.hasPrefix("Usage: kvinspect \(name.rawValue) "))
      #expect(try InspectorRun(name.rawValue, "-h").output == help.output)
      for option in name.options { #expect(help.outputText.contains("  \(option.name) ")) }
      // Every option that the text names is one.
      for word in help.outputText.split(whereSeparator: { " \n;,.".contains($0) })
      where word.hasPrefix("--") {
        let known = ["--json", "--"] + name.options.map(\.name)
        #expect(known.contains(String(word)), "\(name.rawValue) \(word)")
      }
      #expect(help.outputLines.allSatisfy { $0.count <= 100 })
    }
    #expect(try InspectorRun("--version").outputText.hasPrefix("kvinspect \(Inspector.version)"))
  }
}
