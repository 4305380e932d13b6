import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// Fields of an app's own type go through export and import, by their names.
@Suite struct InspectorPayloadTests {
  /// A memo with two fields and one inside of a record, as a store with these names keeps it.
  private func store(naming names: [String]) throws -> TestStore {
    let store = try TestStore()
    let timeline = try MemoTimeline(at: store.path)
    let numbers = try timeline.numbers(of: names)
    var memo = memo(MemoID(1), at: 5, "milk")
    let fields = zip(names, numbers).map { name, number in
      PayloadRecord.Field(number: number, value: name == "text" ? .reference(.text) : .text(name))
    }
    let inner = PayloadRecord([PayloadRecord.Field(number: numbers[0], value: .bool(true))])
    var record = PayloadRecord(fields)
    record[numbers[1]] = .list([.map([PayloadValue.Entry(key: "k", value: .record(inner))])])
    memo.payload = MemoPayload(schemaVersion: 3, record: record).encoded
    _ = try timeline.importBatch([memo])
    try timeline.close()
    return store
  }

  /// The fields of the one memo of a store, by name.
  private func fields(of store: TestStore) throws -> [String: PayloadValue] {
    let timeline = try MemoTimeline(at: store.path)
    let names = try timeline.names()
    let memo = try #require(try timeline.latest(1).first)
    #expect(memo.body == "milk")
    #expect(try timeline.verify().isSound)
    let payload = try MemoPayload(encoded: memo.payload.rawBytes)
    #expect(payload.schemaVersion == 3)
    try timeline.close()
    return Dictionary(payload.record.fields.map { (names[$0.number] ?? "?", $0.value) }) { $1 }
  }

  @Test func anExportIsImportedWithItsFields() throws {
    let source = try store(naming: ["a", "b", "text"])
    let exported = try InspectorRun("scan", source.path, "--json").outputText
    #expect(exported.contains("\"fieldNames\":{\"0\":\"a\",\"1\":\"b\",\"2\":\"text\"}"))

    let target = try TestStore()
    let other = try MemoTimeline(at: target.path)
    #expect(try other.numbers(of: ["text", "other", "b"]) == [0, 1, 2])
    try other.close()
    let file = try target.file("export.jsonl", exported)
    for isFirst in [true, false] {
      let run = try InspectorRun("import", target.path, file, "--json")
      #expect(run.code == .fine)
      let last = try #require(try run.outputObjects().last)
      #expect(last[isFirst ? "inserted" : "unchanged"] as? Int == 1)
    }
    let found = try fields(of: target)
    #expect(found["a"] == .text("a") && found["text"] == .reference(.text))
    #expect(found.count == 3)
    let inner = PayloadRecord([PayloadRecord.Field(number: 3, value: .bool(true))])
    #expect(
      found["b"] == .list([.map([PayloadValue.Entry(key: "k", value: .record(inner))])]))
    #expect(try InspectorRun("scan", source.path, "--json").outputText == exported)
  }

  /// A line from elsewhere says nothing about the fields.
  @Test func aLineWithoutPayloadKeepsTheFields() throws {
    let store = try store(naming: ["a", "b", "text"])
    let line =
      "{\"id\":1,\"createdAt\":\"1970-01-01T00:00:05Z\",\"body\":\"milk\",\"payload\":{}}\n"
    let run = try InspectorRun("import", store.path, try store.file("import.jsonl", line), "--json")
    #expect(run.code == .fine)
    #expect(try fields(of: store)["a"] == .text("a"))
  }

  @Test(arguments: [
    ("0x0", "{}", "payload is not 0x and pairs of hexadecimal digits"),
    ("0x01", "{}", "payload: ends too early"),
    ("0x010100", "{}", "payload: ends too early"),
    ("0x0100", "{\"x\":\"a\"}", "fieldNames has something else than numbers and their names"),
    ("0x0100", "{\"0\":1}", "fieldNames has something else than numbers and their names"),
  ])
  func refusesOddPayloads(payload: String, names: String, reason: String) throws {
    let line =
      "{\"id\":1,\"createdAt\":\"1970-01-01T00:00:05Z\",\"body\":\"\","
      + "\"payload\":\"\(payload)\",\"fieldNames\":\(names)}"
    #expect(throws: RefusedLine(reason)) { try MemoLine.parse(Array(line.utf8), number: 1) }
  }

  @Test func getNamesTheFields() throws {
    let store = try store(naming: ["a", "b", "text"])
    let run = try InspectorRun("get", store.path, "1")
    #expect(run.outputLines.contains("fields     a, b, text"))
  }
}
