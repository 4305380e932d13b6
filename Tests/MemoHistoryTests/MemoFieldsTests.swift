import Foundation
import MemoCore
import Testing

@testable import MemoHistory

/// What an upgrade can do to the fields of a memo.
@Suite struct MemoFieldsTests {
  private let memo = Memo(id: MemoID(uuid: (high: 1, low: 2)), body: "milk")

  private var fields: MemoFields {
    var names = MemoNames()
    let values: [(String, PayloadValue)] = [
      ("id", .reference(.id)), ("text", .reference(.text)), ("at", .reference(.createdAt)),
      ("big", .unsigned(.max)), ("half", .float(0.5)), ("none", .null),
      ("map", .map([PayloadValue.Entry(key: "k", value: .negative(-1))])),
    ]
    let fields = values.compactMap { name, value in
      names.number(adding: name).map { PayloadRecord.Field(number: $0, value: value) }
    }
    return MemoFields(PayloadRecord(fields), names, of: memo)
  }

  @Test func valuesAreShownWithoutTheirTypes() {
    #expect(fields.names == ["id", "text", "at", "big", "half", "none", "map"])
    #expect(fields["id"] == .bytes([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]))
    #expect(fields["text"] == .text("milk"))
    #expect(fields["at"] == .timestamp(memo.createdAt))
    #expect(fields["big"] == .text("18446744073709551615"))
    #expect(fields["half"] == .double(0.5))
    #expect(fields["none"] == .null)
    #expect(fields["map"] == .map(["k": .integer(-1)]))
    #expect(fields["other"] == nil)
    #expect(fields.contains("none") && !fields.contains("other"))
  }

  @Test(
    arguments: [
      .null, .bool(true), .integer(.min), .integer(5), .double(.infinity), .text("caf\u{E9}"),
      .bytes([1]), .timestamp(MemoTimestamp(microseconds: 5) ?? .now), .list([.null, .list([])]),
      .record(["a": .record(["b": .integer(1)]), "new": .null]),
      .map(["b": .null, "a": .bool(false)]),
    ] as [MemoFieldValue])
  func whatIsSetIsThere(value: MemoFieldValue) {
    var fields = fields
    fields["new"] = value
    #expect(fields["new"] == value)
    fields["big"] = value
    #expect(fields["big"] == value)
    #expect(!fields.isOverfull)
  }

  @Test func fieldsAreRenamedAndRemoved() {
    var fields = fields
    fields.rename("half", to: "whole")
    #expect(fields["half"] == nil && fields["whole"] == .double(0.5))
    fields.rename("whole", to: "none")
    #expect(fields["none"] == .double(0.5) && !fields.contains("whole"))
    fields.rename("nowhere", to: "text")
    #expect(fields["text"] == .text("milk"))
    fields.remove("text")
    fields["map"] = nil
    fields.remove("nowhere")
    #expect(fields.names.sorted() == ["at", "big", "id", "none"])
    // What has no other form stays as it is stored.
    #expect(fields.record.fields.map(\.value).contains(.unsigned(.max)))
  }

  @Test func aNameThatIsTooLongIsNotLostInSilence() async throws {
    struct Long: MemoEntity {
      var id = 1
      var createdAt = MemoTimestamp.now
      var text = ""
      static let schema = MemoSchema<Long>(version: 2) { fields, _ in
        fields[String(repeating: "x", count: 1025)] = .null
      }
    }
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(Memo(id: MemoID(1), body: "milk"))
    let store = MemoStore<Long>(timeline)
    #expect(throws: MemoError.self) { try store.latest(1) }
  }

  /// What an upgrade sets is read by the types that would have written it.
  @Test func whatAnUpgradeSetsIsRead() async throws {
    struct Wide: MemoEntity {
      var id = 1
      var createdAt = MemoTimestamp(microseconds: 0) ?? .now
      var text = ""
      var uuid: UUID
      var time: MemoTimestamp
      var big: UInt64
      var half: Float
      var whole: Double
      static let schema = MemoSchema<Wide>(version: 2) { fields, _ in
        fields["uuid"] = .bytes([UInt8](repeating: 1, count: 16))
        fields["time"] = .text("1970-01-01T00:00:01Z")
        fields["big"] = .text("18446744073709551615")
        fields["half"] = .double(0.5)
        fields["whole"] = .integer(3)
      }
    }
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(Memo(id: MemoID(1), body: "milk"))
    let found = try #require(try MemoStore<Wide>(timeline).memo(for: 1))
    #expect(found.uuid.uuidString == "01010101-0101-0101-0101-010101010101")
    #expect(found.time.microseconds == 1_000_000 && found.text == "milk")
    #expect(found.big == .max && found.half == 0.5 && found.whole == 3)
  }
}
