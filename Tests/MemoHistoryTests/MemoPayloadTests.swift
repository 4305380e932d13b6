import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// The stored form of payloads: one for each value, and safe to read whatever the bytes are.
@Suite struct MemoPayloadTests {
  /// A payload with a value of every kind.
  static let everyKind: MemoPayload = {
    let time = MemoTimestamp(microseconds: -5, offsetSeconds: 3600) ?? .now
    let inner = PayloadRecord([
      PayloadRecord.Field(number: 300, value: .text("caf\u{E9}")),
      PayloadRecord.Field(number: 2, value: .null),
    ])
    let values: [PayloadValue] = [
      .null, .bool(false), .bool(true), .unsigned(0), .unsigned(.max), .negative(-1),
      .negative(.min), .float(1.5), .double(-.infinity), .text(""), .text("milk"),
      .bytes([0, 255]), .list([.unsigned(1), .list([]), .record(inner)]), .record(inner),
      .uuid(high: 1, low: .max),
      .map([
        PayloadValue.Entry(key: "", value: .null),
        PayloadValue.Entry(key: "a", value: .bool(true)),
      ]), .timestamp(time), .reference(.text), .reference(.id), .reference(.createdAt),
    ]
    let fields = values.enumerated().map {
      PayloadRecord.Field(number: $0.offset, value: $0.element)
    }
    return MemoPayload(schemaVersion: 300, record: PayloadRecord(fields))
  }()

  static func decode(_ bytes: [UInt8]) throws(FormatError) -> MemoPayload {
    try MemoPayload(encoded: bytes.rawBytes)
  }

  @Test func everyKindComesBack() throws {
    #expect(try Self.decode(Self.everyKind.encoded) == Self.everyKind)
    let tags = Set(Self.everyKind.record.fields.map(\.value.tag))
    #expect(tags == Set(PayloadValue.Tag.allCases))
  }

  /// A decoder that accepts two forms of one value would make two files of one store.
  private func expectOneForm(_ bytes: [UInt8], _ what: String) {
    guard let payload = try? Self.decode(bytes) else { return }
    #expect(payload.encoded == bytes, "\(what)")
  }

  @Test func everyTruncationIsRefused() {
    let bytes = Self.everyKind.encoded
    for count in 0..<bytes.count {
      #expect(throws: FormatError.self, "\(count)") { try Self.decode(Array(bytes[..<count])) }
    }
    #expect(throws: FormatError.self) { try Self.decode(bytes + [0]) }
  }

  @Test func everyFlippedBitGivesAnErrorOrAValueOfOneForm() {
    let bytes = Self.everyKind.encoded
    for place in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[place] ^= 1 << bit
        expectOneForm(flipped, "byte \(place) bit \(bit)")
      }
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>) func anyBytesGiveAnErrorOrAValueOfOneForm(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<3000 {
      var bytes = Self.everyKind.encoded
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: place)
        default: bytes.insert(UInt8.random(in: 0...20, using: &generator), at: place)
        }
      }
      expectOneForm(bytes, "seed \(seed)")
    }
  }

  @Test(
    arguments: [
      ([1], "ends too early"),
      ([1, 0, 0], "bytes follow the payload"),
      ([1, 1, 0, 17], "has a value of unknown kind 17; a newer program can read it"),
      ([1, 2, 5, 0, 5, 0], "fields do not ascend"),
      ([1, 2, 5, 0, 4, 0], "fields do not ascend"),
      ([1, 1, 0x80, 0x80, 0x04, 0], "count 65536 is over 65535"),
      ([1, 1, 0, 3, 0x80, 0], "varint is not in its shortest form"),
      (
        [1, 1, 0, 4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
        "number is out of range"
      ),
      ([1, 1, 0, 7, 1, 0xFF], "text is not UTF-8"),
      ([1, 1, 0, 7, 2, 0x61], "ends too early"),
      ([1, 1, 0, 9, 0xFF, 0xFF, 0xFF, 0x1F], "ends too early"),
      ([1, 1, 0, 11, 2, 1, 0x61, 0, 1, 0x61, 0], "keys do not ascend"),
      ([1, 1, 0, 11, 2, 1, 0x62, 0, 1, 0x61, 0], "keys do not ascend"),
      ([1, 1, 0, 13, 0, 0x82, 0xC6, 0x0A], "time is out of range"),
    ] as [([UInt8], String)])
  func refusesOddBytes(bytes: [UInt8], reason: String) {
    let error = #expect(throws: FormatError.self) { try Self.decode(bytes) }
    #expect(error?.reason == reason)
  }

  @Test(arguments: [9, 10, 11] as [UInt8]) func depthIsBounded(tag: UInt8) throws {
    func bytes(depth: Int) -> [UInt8] {
      let open: [UInt8] = tag == 9 ? [9, 1] : [tag, 1, 0]
      return [1, 1, 0] + (1..<depth).flatMap { _ in open } + [0]
    }
    let deepest = bytes(depth: PayloadValue.maximumDepth)
    #expect(try Self.decode(deepest).encoded == deepest)
    for depth in [PayloadValue.maximumDepth + 1, 100_000] {
      let error = #expect(throws: FormatError.self) { try Self.decode(bytes(depth: depth)) }
      #expect(error?.reason == "values lie deeper than 64")
    }
  }

  @Test func aRecordSortsItsFieldsAndKeepsTheLastOfANumber() {
    let record = PayloadRecord([
      PayloadRecord.Field(number: 2, value: .bool(true)),
      PayloadRecord.Field(number: 1, value: .null),
      PayloadRecord.Field(number: 2, value: .unsigned(5)),
    ])
    #expect(record.fields.map(\.number) == [1, 2])
    #expect(record[2] == .unsigned(5))
    #expect(record[0] == nil)
    #expect(record.highestNumber == 2)
  }

  @Test func valuesAreComparedByWhatIsStored() {
    #expect(PayloadValue.text("caf\u{E9}") != .text("cafe\u{301}"))
    #expect(PayloadValue.double(0) != .double(-0.0))
    #expect(PayloadValue.double(.nan) == .double(.nan))
    #expect(PayloadValue.unsigned(1) != .double(1))
    #expect(Set([PayloadValue.text("a"), .text("a"), .text("b")]).count == 2)
  }
}
