import Foundation
import KVTestSupport
import Testing

@testable import KVInspectCore

/// Lines of JSON and command lines with changed bytes: T15 of the test plan (promise P10).
@Suite struct InputFuzzTests {
  private static func lines(of fixture: String) throws -> [[UInt8]] {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/\(fixture)")
    return try [UInt8](Data(contentsOf: url)).split(separator: UInt8(ascii: "\n")).map { Array($0) }
  }

  private func parse(_ line: [UInt8]) {
    do {
      if let parsed = try MemoLine.parse(line, number: 1) { _ = "\(parsed)" }
    } catch {
      #expect(!"\(error)".isEmpty)
    }
    if let value = try? JSONParser.parse(line) { _ = "\(value)" }
  }

  @Test(arguments: ["memos-edge.jsonl", "memos-edge-broken.jsonl"])
  func aLineIsAMemoOrRefused(fixture: String) throws {
    let lines = try Self.lines(of: fixture)
    let run = FuzzRun("json", count: 8000)
    for finding in run.findings { parse(finding.bytes) }
    for line in lines { parse(line) }
    run.run { seed in
      var mutator = ByteMutator(seed: seed)
      var line = mutator.mutated(lines[mutator.number(below: lines.count)])
      while mutator.generator.coin() { line = mutator.mutated(line) }
      parse(line)
    }
  }

  /// Deep nesting, long numbers and long texts do not end the process.
  @Test(arguments: [1, 100, 10_000, 1_000_000])
  func sizesDoNotEndTheProcess(count: Int) {
    for text in ["[", "{\"a\":", "9", "\"", "\\u0000", "-", "0.", "1e9"] {
      parse(Array(String(repeating: text, count: count).utf8))
      parse(Array(("{\"id\":" + String(repeating: text, count: count) + "}").utf8))
    }
  }

  @Test func aCommandLineIsACommandOrAMistake() {
    let words = [
      "latest", "get", "scan", "find", "import", "verify", "segment", "log", "manifest", "salvage",
      "compact", "checkpoint", "summary", "help", "space", "S", "20", "-1", "0x00", "--", "-",
      "--json", "--json=1", "--rejected", "--rejected=", "--space", "memos", "--help", "-h",
      "99999999999999999999", "", "\u{0}", "--version", "\u{1F600}", "=", "--=",
    ]
    let run = FuzzRun("arguments", count: 20_000)
    run.run { seed in
      var mutator = ByteMutator(seed: seed)
      let line = (0..<mutator.number(below: 7)).map { _ in
        let word = words[mutator.number(below: words.count)]
        if mutator.number(below: 4) > 0 { return word }
        return String(decoding: mutator.mutated(Array(word.utf8)), as: UTF8.self)
      }
      do {
        _ = "\(try Arguments.parse(line))"
      } catch {
        #expect(!"\(error)".isEmpty)
      }
    }
  }
}
