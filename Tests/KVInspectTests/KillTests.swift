import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// The real program, killed in the middle of an import again and again: what it acknowledged stays.
@Suite(.serialized) struct KillTests {
  private static let killCount = Thoroughness.count(quick: 8, push: 60, nightly: 600)
  private static let rowCount = Thoroughness.isLarge ? 20_000 : 2000

  /// Rows of mixed sizes; so many bytes that the log is full once before the end.
  private func makeFile(in directory: TemporaryDirectory) throws -> String {
    var generator = SeededGenerator(seed: 7)
    var text = ""
    for row in 0..<Self.rowCount {
      let count = Int.random(in: 1..<200, using: &generator)
      let body = String(repeating: "memo \(row) ", count: count)
      text += #"{"id":\#(row),"createdAt":"2024-05-01T12:00:00Z","body":"\#(body)"}"# + "\n"
    }
    let path = directory.path("rows.jsonl")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// The number of rows that the last complete line before the kill acknowledged.
  private func acknowledged(_ result: Executable.Result) throws -> Int {
    var complete = result.output
    while let last = complete.last, last != UInt8(ascii: "\n") { complete.removeLast() }
    return try objects(lines(of: complete)).compactMap { $0["committed"] as? Int }.last ?? 0
  }

  @Test func whatAKilledImportAcknowledgedIsThere() throws {
    let directory = try TemporaryDirectory()
    let file = try makeFile(in: directory)
    let program = try Executable.path()
    func start(_ store: TestStore) throws -> Executable.Child {
      try Executable.Child(program, ["import", store.path, file, "--json"])
    }

    // How long a whole run takes: the kills are spread over that time.
    var store = try TestStore()
    let begin = ContinuousClock.now
    let whole = try start(store).wait()
    var duration = ContinuousClock.now - begin
    #expect(whole.status == 0)
    #expect(try acknowledged(whole) == Self.rowCount)

    var generator = SeededGenerator(seed: 11)
    var known = 0
    var killCount = 0
    var round = 0
    while killCount < Self.killCount, round < 5 * Self.killCount {
      // Every third kill hits a run that continues what an earlier one has left.
      if round % 3 != 2 {
        store = try TestStore()
        known = 0
      }
      let child = try start(store)
      let share = Double.random(in: 0..<1, using: &generator)
      Thread.sleep(forTimeInterval: duration / .seconds(1) * share)
      child.kill()
      let result = child.wait()
      if result.wasKilled {
        killCount += 1
      } else {
        // Faster than the first one: the next kills come earlier.
        #expect(result.status == 0)
        duration = duration * 0.9
      }
      let comment: Comment = "round \(round), killed after \(Int(share * 100)) % of \(duration)"
      known = max(known, try acknowledged(result))
      try check(store, known: &known, comment)
      round += 1
    }
    #expect(killCount == Self.killCount)
    ProofTally.count("T10", "kills", killCount)

    // The last store is finished as if nothing had happened.
    #expect(try start(store).wait().status == 0)
    var all = Self.rowCount
    try check(store, known: &all, "after the last run")
  }

  private func check(_ store: TestStore, known: inout Int, _ comment: Comment) throws {
    let verify = try Executable.run("verify", store.path)
    let latest = try Executable.run("latest", store.path, "5")
    if known == 0, verify.status == 3 {
      // Killed before there was a store.
      let message = String(decoding: verify.errors, as: UTF8.self)
      #expect(message.contains("there is no store at "), comment)
      return
    }
    #expect(verify.status == 0, "\(comment): \(verify.outputText)")
    #expect(latest.status == 0, comment)
    // Rows are taken in their order and in whole batches: what is there is a front part of them.
    let ids = try store.memos().map(\.id)
    #expect(ids == (0..<ids.count).reversed().map { MemoID(Int64($0)) }, comment)
    #expect(ids.count >= known, comment)
    // Batches begin with 1,000 rows and double: at most the next one came after the last answer.
    #expect(ids.count <= 2 * known + 1000, comment)
    #expect(latest.outputLines.count == min(5, ids.count), comment)
    known = ids.count
  }
}
