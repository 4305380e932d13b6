import MemoCore
import Testing

@testable import KVInspectCore

@Suite struct MemoLineTests {
  private static let time = "\"createdAt\":\"2024-05-01T12:00:00+09:00\""

  private func read(_ text: String, number: Int = 2) throws -> MemoLine? {
    try MemoLine.parse(Array(text.utf8), number: number)
  }

  @Test func readsAMemo() throws {
    let line = try #require(
      try read(
        """
        {"x":[1,{}],"body":"mi\\u006ck\\n","changedAt":"2024-05-02T00:00Z","id":"a7",\(Self.time)}
        """))
    #expect(line.memo.id == (try MemoID("a7")))
    #expect(line.memo.createdAt.description == "2024-05-01T12:00:00+09:00")
    #expect(line.memo.changedAt?.description == "2024-05-02T00:00:00Z")
    #expect(line.memo.body == "milk\n")
    #expect(line.replacementCount == 0)
  }

  @Test(arguments: ["", " ", "\r", " \t \r"]) func skipsBlankLines(text: String) throws {
    #expect(try read(text) == nil)
  }

  @Test func skipsAByteOrderMarkOnLineOneOnly() throws {
    let text = "\u{FEFF}{\"id\":\"a\",\(Self.time),\"body\":\"\"}"
    #expect(try read(text, number: 1)?.memo.id == MemoID("a"))
    #expect(try read("\u{FEFF}", number: 1) == nil)
    let refused = RefusedLine("not JSON at byte 0: a value does not begin like this")
    #expect(throws: refused) { try read(text, number: 2) }
  }

  @Test(arguments: [
    ("{", "not JSON at byte 1: expected a name in double quotes"),
    ("[]", "the line is an array, not an object"), ("null", "the line is null, not an object"),
    ("\"x\"", "the line is a string, not an object"), ("1", "the line is a number, not an object"),
    ("{}", "body is missing"),
    ("{\"id\":\"a\",\(time)}", "body is missing"),
    ("{\"id\":\"a\",\(time),\"body\":null}", "body is null, not a string"),
    ("{\"id\":\"a\",\(time),\"body\":{}}", "body is an object, not a string"),
    ("{\"id\":\"a\",\"body\":\"\"}", "createdAt is missing"),
    ("{\"id\":\"a\",\"createdAt\":null,\"body\":\"\"}", "createdAt is null, not a string"),
    ("{\"id\":\"a\",\"createdAt\":true,\"body\":\"\"}", "createdAt is a boolean, not a string"),
    (
      "{\"id\":\"a\",\"createdAt\":5,\"body\":\"\"}",
      "createdAt is a number; seconds or milliseconds is not said"
    ),
    (
      "{\"id\":\"a\",\"createdAt\":\"2024-05-01T12:00\",\"body\":\"\"}",
      "createdAt: the time has no zone"
    ),
    (
      "{\"id\":\"a\",\(time),\"changedAt\":7,\"body\":\"\"}",
      "changedAt is a number; seconds or milliseconds is not said"
    ),
    ("{\"id\":\"a\",\(time),\"changedAt\":\"\",\"body\":\"\"}", "changedAt: the time is empty"),
    ("{\(time),\"body\":\"\"}", "id is missing"),
    ("{\"id\":\"\",\(time),\"body\":\"\"}", "the id is empty"),
    ("{\"id\":null,\(time),\"body\":\"\"}", "id is null, not a string"),
    ("{\"id\":[1],\(time),\"body\":\"\"}", "id is an array, not a string"),
    ("{\"id\":1.5,\(time),\"body\":\"\"}", "id is a number that is no integer of 64 bits"),
    (
      "{\"id\":9223372036854775808,\(time),\"body\":\"\"}",
      "id is a number that is no integer of 64 bits"
    ),
    ("{\"id\":\"x\\ud800\",\(time),\"body\":\"\"}", "id has half of a surrogate pair"),
    (
      "{\"id\":\"zz\",\"idKind\":\"uuid\",\(time),\"body\":\"\"}",
      "id is not of the kind that idKind says"
    ),
    (
      "{\"id\":\"abc\",\"idKind\":\"bytes\",\(time),\"body\":\"\"}",
      "id is not of the kind that idKind says"
    ),
    (
      "{\"id\":\"a\",\"idKind\":\"text\",\(time),\"body\":\"\"}", "idKind is neither uuid nor bytes"
    ),
    ("{\"id\":\"a\",\"idKind\":1,\(time),\"body\":\"\"}", "idKind is neither uuid nor bytes"),
  ])
  func refusesWithAReason(text: String, reason: String) {
    #expect(throws: RefusedLine(reason)) { try read(text) }
  }

  @Test func acceptsNullForAChangeTimeThatIsNotThere() throws {
    let line = try read("{\"id\":-3,\(Self.time),\"changedAt\":null,\"body\":\"\"}")
    #expect(line?.memo.id == MemoID(-3))
    #expect(line?.memo.changedAt == nil)
  }

  @Test func refusesAnIDThatIsTooLong() throws {
    let line = { (count: Int) in
      "{\"id\":\"\(String(repeating: "y", count: count))\",\(Self.time),\"body\":\"\"}"
    }
    #expect(try read(line(65_535)) != nil)
    #expect(throws: RefusedLine("the id has 65536 bytes; the most is 65535")) {
      try read(line(65_536))
    }
  }

  @Test func writesTheDocumentedForm() throws {
    let memo = Memo(
      id: try MemoID("a\"7"), createdAt: try MemoTimestamp(iso8601: "2024-05-01T12:00:00+09:00"),
      body: "milk\n\u{1B}")
    var output: [UInt8] = []
    MemoLine.append(memo, to: &output)
    #expect(
      String(decoding: output, as: UTF8.self)
        == "{\"id\":\"a\\\"7\",\(Self.time),\"body\":\"milk\\n\\u001b\"}\n")
  }

  @Test func everyKindOfMemoComesBack() throws {
    let time = try MemoTimestamp(iso8601: "1887-12-31T15:00:00.000001+09:18:59")
    let ids = [
      try MemoID("caf\u{E9}"), try MemoID("cafe\u{301}"), try MemoID("12"), MemoID(12),
      MemoID(.min), try MemoID(bytes: [0, 0xFF]),
      MemoID(uuid: (high: 0x0A1B_2C3D_4E5F_4071, low: 0x8293_A4B5_C6D7_E8F9)),
      try MemoID("0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9"),
    ]
    for (position, id) in ids.enumerated() {
      let memo = Memo(
        id: id, createdAt: time, changedAt: position.isMultiple(of: 2) ? nil : time,
        body: "\u{0}e\u{301}\u{202E}\r\n")
      var output: [UInt8] = []
      MemoLine.append(memo, to: &output)
      let line = try MemoLine.parse(output, number: 1)
      #expect(line?.memo == memo)
    }
  }
}
