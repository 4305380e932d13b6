import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// The hand-made files through `import` and back, each row by what it expects.
@Suite struct EdgeFileTests {
  /// The large rows are in the shared file only.
  private static let sharedEdge = Corpus.path("memos-edge.jsonl")

  @Test func rowsOfTheFixtureBehaveAsTheyExpect() throws {
    try check(Fixture.edge)
  }

  @Test(.enabled(if: Corpus.exists(sharedEdge), "needs ../shared/data/memos-edge.jsonl"))
  func rowsOfTheWholeFileBehaveAsTheyExpect() throws {
    try check(Self.sharedEdge)
  }

  /// A row as the file has it.
  private struct Row {
    let number: Int
    let expect: String
    let kind: String
    let body: String
    /// What an import makes of it; `nil` for a refused row.
    let memo: Memo?
  }

  private func rows(_ path: String) throws -> [Row] {
    try Fixture.lines(path).enumerated().map { index, line in
      guard case .object(let members) = try JSONParser.parse(line),
        case .string(let expect) = members["expect"], case .string(let kind) = members["kind"],
        case .string(let body) = members["body"]
      else { throw OtherThanJSON(line: "line \(index + 1)") }
      let parsed = try? MemoLine.parse(line, number: index + 1)
      return Row(
        number: index + 1, expect: expect.text, kind: kind.text, body: body.text,
        memo: parsed?.memo)
    }
  }

  private func check(_ path: String) throws {
    let rows = try rows(path)
    let store = try TestStore()
    let run = try InspectorRun("import", store.path, path, "--json")
    #expect(run.code == .damage && run.errors.isEmpty)
    let objects = try run.outputObjects()
    let refused = objects.filter { $0["refused"] != nil }.compactMap { $0["line"] as? Int }
    let counts = try #require(objects.last)

    // One refused line for each row that makes no memo, and no other.
    #expect(refused == rows.filter { $0.memo == nil }.map(\.number))
    let repaired = rows.filter { $0.expect == "repair-or-quarantine" && $0.memo != nil }
    #expect(counts["repaired"] as? Int == repaired.count && repaired.count > 0)

    let (order, stored) = try scanned(store)
    let taken = rows.filter { $0.memo != nil }
    #expect(stored.count == Set(taken.compactMap(\.memo?.id)).count)
    for row in rows { try check(row, among: taken, stored: stored) }
    checkOrder(order, of: taken)

    let before = try store.contents()
    let again = try InspectorRun("import", store.path, path, "--json")
    #expect(again.code == .damage)
    let total = try #require(try again.outputObjects().last)
    #expect(total["inserted"] as? Int == 0 && total["replaced"] as? Int == 0)
    #expect(total["unchanged"] as? Int == taken.count - (total["outdated"] as? Int ?? 0))
    #expect(try store.contents() == before)
    #expect(try InspectorRun("verify", store.path).code == .fine)
  }

  private func check(_ row: Row, among taken: [Row], stored: [MemoID: Memo]) throws {
    let comment: Comment = "line \(row.number), \(row.kind)"
    guard let memo = row.memo else {
      let mustBeKept = ["keep", "keep-both", "idempotent", "replace-or-conflict", "keep-or-clamp"]
      #expect(!mustBeKept.contains(row.expect), comment)
      return
    }
    let versions = taken.filter { $0.memo?.id == memo.id }
    let kept = try #require(stored[memo.id], comment)
    switch row.expect {
    case "keep", "keep-both", "keep-or-clamp", "idempotent", "replace-or-conflict":
      let isRepeated = ["idempotent", "replace-or-conflict"].contains(row.expect)
      #expect(isRepeated ? versions.count > 1 : true, comment)
      // Of several versions the one with the latest createdAt stays, whole.
      let newest = versions.max {
        ($0.memo?.createdAt ?? memo.createdAt) < ($1.memo?.createdAt ?? memo.createdAt)
      }
      #expect(kept == newest?.memo, comment)
      #expect(kept.body.utf8.elementsEqual(newest?.body.utf8 ?? row.body.utf8), comment)
      if row.expect == "keep-both" { #expect(versions.count == 1 && kept == memo, comment) }
    case "repair-or-quarantine": #expect(kept.body.contains("\u{FFFD}"), comment)
    case "reject-with-reason": Issue.record("was taken", sourceLocation: #_sourceLocation)
    default: #expect(kept == memo, comment)
    }
  }

  /// The memos of `scan --json`, in its order; each must be what `get --json` prints too.
  private func scanned(_ store: TestStore) throws -> ([MemoID], [MemoID: Memo]) {
    let run = try InspectorRun("scan", store.path, "--json")
    #expect(run.code == .fine)
    var order: [MemoID] = []
    var memos: [MemoID: Memo] = [:]
    for line in run.output.split(separator: UInt8(ascii: "\n")) {
      let memo = try #require(try MemoLine.parse(Array(line), number: 2)?.memo)
      #expect(memos.updateValue(memo, forKey: memo.id) == nil, "\(memo.id) twice")
      order.append(memo.id)
      // The command line of a process has no zero bytes; in this process it may.
      let found = try InspectorRun("get", store.path, "--json", "--", "\(memo.id)")
      #expect(found.output.split(separator: UInt8(ascii: "\n")).contains(line))
    }
    return (order, memos)
  }

  /// Newest first; of equal instants the later line first, where no id came twice.
  private func checkOrder(_ order: [MemoID], of taken: [Row]) {
    let counts = Dictionary(grouping: taken.compactMap(\.memo?.id)) { $0 }.mapValues(\.count)
    let expected = taken.filter { row in row.memo.map { counts[$0.id] == 1 } ?? false }
      .sorted { left, right in
        let times = [left, right].map { $0.memo?.createdAt.microseconds ?? 0 }
        return times[0] == times[1] ? left.number > right.number : times[0] > times[1]
      }.compactMap(\.memo?.id)
    #expect(expected.count > 300)
    #expect(order.filter { counts[$0] == 1 } == expected)
  }

  // MARK: - Broken lines

  @Test func everyGoodLineAmongBrokenOnesIsTaken() throws {
    let store = try TestStore()
    let run = try InspectorRun("import", store.path, Fixture.broken)
    #expect(run.code == .damage)
    #expect(run.outputText == "28 new, 22 lines refused\n")
    let numbers = run.errorLines.compactMap { line in
      line.split(separator: ":").first.flatMap { Int($0.dropFirst("line ".count)) }
    }
    // All even lines but the blank ones, the one that ends with a carriage return, and the last
    // one, which has no line feed.
    #expect(numbers == stride(from: 2, to: 52, by: 2).filter { ![30, 32, 48].contains($0) })
    #expect(run.errorLines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } })
    let ids = try Set(store.memos().map(\.id))
    for number in 0..<26 { #expect(ids.contains(try MemoID("ok-\(number)"))) }
    let before = try store.contents()
    #expect(try InspectorRun("import", store.path, Fixture.broken).code == .damage)
    #expect(try store.contents() == before)
  }

  /// A file that is cut anywhere gives its whole lines, and the whole file later the rest.
  @Test(.bug(id: "B103")) func aFileCutAnywhereCanBeImportedAgainWhole() throws {
    let whole = try Data(contentsOf: URL(fileURLWithPath: Fixture.edge)).prefix(40_000)
    let store = try TestStore()
    let file = store.directory.path("cut.jsonl")
    var count = 0
    for end in stride(from: 0, to: whole.count, by: 1777) {
      try whole.prefix(end).write(to: URL(fileURLWithPath: file))
      let run = try InspectorRun("import", store.path, file)
      #expect(run.code == .fine || run.errorLines.count == 1, "\(end) bytes")
      if end > 0 {
        let now = try store.memos().count
        #expect(now >= count, "\(end) bytes")
        count = now
      }
    }
    try whole.write(to: URL(fileURLWithPath: file))
    _ = try InspectorRun("import", store.path, file)
    let once = try TestStore()
    _ = try InspectorRun("import", once.path, file)
    #expect(try Set(store.memos()) == Set(once.memos()))
    #expect(try once.memos().count >= count && count > 50)
  }
}
