import Foundation
import KVEngine
import MemoCore
import Testing

/// The hand-made rows about times, order and ids, each by what the file expects of it.
@Suite struct MemoEdgeRowTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let id: String
    /// `nil` when it is not a string.
    let createdAt: String?
    let kind: String
    let note: String
    let expect: String

    var testDescription: String { "\(kind): \(note)" }
  }

  /// Rows that Foundation can read; it refuses those with half of a surrogate pair.
  static let rows: [Row] = {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../KVInspectTests/Fixtures/memos-edge.jsonl")
    let lines = (try? Data(contentsOf: path))?.split(separator: UInt8(ascii: "\n")) ?? []
    return lines.compactMap { line in
      guard
        let row = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
        let id = row["id"] as? String, let kind = row["kind"] as? String,
        let note = row["note"] as? String, let expect = row["expect"] as? String
      else { return nil }
      return Row(
        id: id, createdAt: row["createdAt"] as? String, kind: kind, note: note, expect: expect)
    }
  }()

  @Test func rowsAreThere() {
    #expect(Self.rows.filter { $0.kind.hasPrefix("time-") }.count == 111)
    #expect(Self.rows.filter { $0.kind == "id" }.count == 42)
    #expect(Self.rows.filter { $0.kind == "order" }.count == 12)
  }

  @Test(arguments: rows.filter { $0.expect == "keep" || $0.expect == "keep-or-clamp" })
  func timesToKeepAreReadAndComeBack(row: Row) throws {
    let createdAt = try #require(row.createdAt)
    let timestamp = try MemoTimestamp(iso8601: createdAt)
    #expect(try MemoTimestamp(iso8601: timestamp.description) == timestamp)
  }

  /// Of the odd forms, those with one meaning are converted and the others refused.
  @Test(arguments: rows.filter { $0.kind == "time-form" })
  func oddFormsAreConvertedOrRefused(row: Row) throws {
    let converted = [
      "space separated (git, Rails)": "2024-05-01T12:00:00+09:00",
      "lower case (allowed by RFC 3339)": "2024-05-01T12:00:00Z",
      "basic form (ENEX)": "2024-05-01T12:00:00Z",
      // The row says null but holds a proper time.
      "null": "2024-05-08T13:07:11+09:00",
    ]
    guard let createdAt = row.createdAt else { return }
    if let printed = converted[row.note] {
      #expect(try MemoTimestamp(iso8601: createdAt).description == printed)
    } else {
      #expect(throws: MemoError.self) { try MemoTimestamp(iso8601: createdAt) }
    }
  }

  @Test func clampedTimesStayInTheirMinute() throws {
    for row in Self.rows where row.kind == "time-leap" {
      let timestamp = try MemoTimestamp(iso8601: try #require(row.createdAt))
      let isMidnight = row.note.hasPrefix("24:00")
      let rest = timestamp.microseconds % 60_000_000
      #expect(rest == (isMidnight ? 0 : 59_999_999), "\(row.note)")
    }
  }

  @Test func equalInstantsAreEqual() throws {
    let rows = Self.rows.filter { $0.kind == "time-equal" }
    let times = try rows.map { try MemoTimestamp(iso8601: try #require($0.createdAt)) }
    #expect(Set(times.map(\.microseconds)).count == 1)
    #expect(Set(times).count == 3)
  }

  @Test func laterMicrosecondsSortLater() throws {
    let times = ["123456Z", "123457Z", "123456789Z", "123456788Z"].map {
      "2024-05-01T12:00:00." + $0
    }
    let parsed = try times.map { try MemoTimestamp(iso8601: $0).microseconds }
    #expect(parsed[0] < parsed[1])
    #expect(parsed[2] == parsed[0])
    #expect(parsed[3] == parsed[0])
  }

  @Test func idsAreKeptApart() throws {
    let rows = Self.rows.filter { $0.kind == "id" && !$0.id.isEmpty }
    let distinctBytes = Set(rows.map { Array($0.id.utf8) })
    let ids = try Set(rows.map { try MemoID($0.id) })
    #expect(ids.count == distinctBytes.count)
    for row in rows {
      let id = try MemoID(row.id)
      #expect(id.description.utf8.elementsEqual(row.id.utf8))
      #expect(try MemoID(encoded: id.encoded.rawBytes) == id)
    }
  }

  @Test func theEmptyIDIsRefused() throws {
    let row = try #require(Self.rows.first { $0.kind == "id" && $0.id.isEmpty })
    #expect(row.expect == "reject-with-reason")
    #expect(throws: MemoError.invalidID(reason: "is empty")) { try MemoID(row.id) }
  }
}
