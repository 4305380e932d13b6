import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// Input that wants more than to be stored: another folder, a reader that waits for ever, memory.
@Suite struct HostileInputTests {
  /// An id is text, never a path: whatever it is, nothing outside of the store is made or read.
  @Test(.bug(id: "B104")) func idsThatArePathsStayIds() throws {
    let store = try TestStore()
    let outside = store.directory.path("outside.txt")
    try Data("untouched".utf8).write(to: URL(fileURLWithPath: outside))
    let ids = [
      "../outside.txt", "../../x", outside, "/etc/passwd", "..\\\\x", "a\\u0000b", ".", "..", "~",
      "MANIFEST", "file:///etc/passwd", "$(touch x)", "x/../../y",
    ]
    let rows = ids.enumerated().map { number, id in
      #"{"id":"\#(id)","createdAt":"2024-05-01T12:00:00Z","body":"\#(number)"}"#
    }
    let file = try store.file("rows.jsonl", rows.joined(separator: "\n") + "\n")
    let before = try FileManager.default.subpathsOfDirectory(atPath: store.directory.path)
    let run = try Executable.run("import", store.path, file)
    #expect(run.status == 0 && run.outputText == "\(ids.count) new\n")
    let after = try FileManager.default.subpathsOfDirectory(atPath: store.directory.path)
    let made = Set(after).subtracting(before)
    let name = URL(fileURLWithPath: store.path).lastPathComponent
    #expect(made.filter { $0 != name && !$0.hasPrefix(name + "/") } == [])
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "untouched")
    let bodies = try objects(Executable.run("scan", store.path, "--json").outputLines)
      .compactMap { $0["body"] as? String }
    #expect(Set(bodies) == Set(ids.indices.map(String.init)))
    for id in ["../outside.txt", outside, "/etc/passwd"] {
      #expect(try Executable.run("get", store.path, id).status == 0)
    }
  }

  /// A store's files behind other kinds of files: refused with a reason, and nobody waits for a
  /// writer of a pipe that never comes.
  @Test(.bug(id: "B104"), arguments: ["MANIFEST", ".log", ".seg"])
  func aPipeInPlaceOfAFileIsRefusedAtOnce(ending: String) throws {
    let store = try TestStore([])
    let file = try store.file(
      "rows.jsonl", #"{"id":"1","createdAt":"2024-05-01T12:00:00Z","body":"x"}"# + "\n")
    #expect(try Executable.run("import", store.path, file).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.path).sorted()
    let path = store.path + "/" + (try #require(names.last { $0.hasSuffix(ending) }))
    try FileManager.default.removeItem(atPath: path)
    #expect(mkfifo(path, 0o600) == 0)
    let run = try Executable.shell(#"timeout 20 "$0" latest "$1""#, store.path)
    #expect([1, 3].contains(run.status), "\(run.status)")
    #expect(run.errorLines.count >= 1 && run.output.isEmpty)
  }

  /// What is printed is read as it is printed: a store of 48 MiB goes through a process that has
  /// 24 MiB more than one needs that prints a single memo.
  @Test(
    .bug(id: "B110"),
    .enabled(if: Thoroughness.isFull, "a sanitizer needs more address space than can be bounded"))
  func anExportNeedsNoMemoryForWhatIsStored() throws {
    let count = 48
    let large = try TestStore()
    let timeline = try MemoTimeline(at: large.path)
    var generator = SeededGenerator(seed: 1)
    for number in 0..<count {
      let letters = (0..<1 << 17).map { _ in String(generator.next() >> 32, radix: 16) }
      let body = letters.joined()
      try timeline.upsert(Memo(id: MemoID(Int64(number)), body: body))
    }
    try timeline.close()
    let small = try TestStore()
    let one = try MemoTimeline(at: small.path)
    try one.upsert(Memo(id: MemoID(1), body: "x"))
    try one.close()
    let script = #"ulimit -v "$2" && exec "$0" scan "$1" --json | wc -lc"#
    func works(_ path: String, kibibytes: Int) throws -> Bool {
      let run = try Executable.shell(script + #" | grep -q ."#, path, "\(kibibytes)")
      return run.errors.isEmpty && run.status == 0
    }
    var kibibytes = 16 << 10
    while try !works(small.path, kibibytes: kibibytes), kibibytes < 4 << 20 {
      kibibytes += 16 << 10
    }
    let run = try Executable.shell(script, large.path, "\(kibibytes + 24 << 10)")
    let counts = run.outputText.split(separator: " ").compactMap {
      Int($0.filter(\.isNumber))
    }
    #expect(run.errors.isEmpty, "\(String(decoding: run.errors, as: UTF8.self))")
    #expect(counts.count == 2 && counts[0] == count && counts[1] > count * 900_000, "\(counts)")
  }
}
