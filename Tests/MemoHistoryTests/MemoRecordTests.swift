import KVEngine
import KVTestSupport
import MemoCore
import Testing

@Suite struct MemoRecordTests {
  private static let key = MemoKey(microseconds: 1_714_532_400_000_000, arrival: 1)

  private func memo(
    _ created: String = "2024-05-01T12:00:00+09:00", changed: String? = nil, body: String = "milk"
  ) throws -> Memo {
    var changedAt: MemoTimestamp?
    if let changed { changedAt = try MemoTimestamp(iso8601: changed) }
    return Memo(
      id: try MemoID("a7"), createdAt: try MemoTimestamp(iso8601: created), changedAt: changedAt,
      body: body)
  }

  @Test func hasTheDocumentedBytes() throws {
    // Offset 32,400 is zigzag 64,800; the difference of one second is zigzag 2,000,000.
    #expect(
      try MemoRecord.encode(memo()) == [
        0, 0, 0xA0, 0xFA, 0x03, 3, 1, 0x61, 0x37, 4, 0x6D, 0x69, 0x6C, 0x6B,
      ])
    #expect(
      try MemoRecord.encode(memo(changed: "2024-05-01T03:00:01Z", body: "")) == [
        0, 1, 0xA0, 0xFA, 0x03, 0x80, 0x89, 0x7A, 0, 3, 1, 0x61, 0x37, 0,
      ])
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func memosComeBack(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let memo = try Memo.any(using: &generator)
      let key = MemoKey(microseconds: memo.createdAt.microseconds, arrival: generator.next())
      let bytes = MemoRecord.encode(memo)
      let decoded = try MemoRecord.decode(bytes.rawBytes, key: key)
      #expect(decoded == memo, "seed \(seed)")
      #expect(MemoRecord.encode(decoded) == bytes, "seed \(seed)")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func whatDecodesEncodesTheSame(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var decodedCount = 0
    for _ in 0..<1000 {
      var bytes = MemoRecord.encode(try Memo.any(using: &generator))
      let position = Int.random(in: 0..<min(bytes.count, 12), using: &generator)
      bytes[position] = UInt8.random(in: 0...255, using: &generator)
      guard let memo = try? MemoRecord.decode(bytes.rawBytes, key: Self.key),
        !memo.body.unicodeScalars.contains("\u{FFFD}")
      else { continue }
      decodedCount += 1
      #expect(MemoRecord.encode(memo) == bytes, "seed \(seed)")
    }
    #expect(decodedCount > 0, "seed \(seed)")
  }

  @Test func refusesEveryPrefix() throws {
    let bytes = MemoRecord.encode(try memo(changed: "2025-05-01T00:00Z"))
    for count in 0..<bytes.count {
      #expect(throws: FormatError.self, "\(count)") {
        try MemoRecord.decode(Array(bytes[..<count]).rawBytes, key: Self.key)
      }
    }
  }

  @Test(
    arguments: [
      ([1, 0, 0, 2, 1, 0x61, 0], 1, "has version 1; a newer program can read it"),
      ([0, 4, 0, 2, 1, 0x61, 0], 2, "has unknown flags 4; a newer program can read it"),
      ([0, 0x81, 0x01, 0, 2, 1, 0x61, 0], 3, "has unknown flags 129; a newer program can read it"),
      ([0x80, 0, 0, 0, 2, 1, 0x61, 0], 2, "varint is not in its shortest form"),
      ([0, 0, 0x80, 0xC6, 0x0A, 2, 1, 0x61, 0], 5, "createdAt is out of range"),
      ([0, 0, 0, 0, 0], 0, "ends too early"),
      ([0, 0, 0, 2, 1, 0x61, 1], 7, "ends too early"),
      ([0, 0, 0, 2, 1, 0x61, 0, 0], 7, "bytes follow the record"),
      ([0, 0, 0, 2, 9, 0x61, 0], 0, "unknown kind 9"),
      ([0, 0, 0, 0x81, 0x80, 0x04, 1], 6, "count 65537 is over 65536"),
      ([0, 0, 0, 2, 1, 0x61, 0x81, 0x80, 0x80, 0x20], 10, "count 67108865 is over 67108864"),
    ] as [([UInt8], Int, String)])
  func refusesOddBytes(bytes: [UInt8], offset: Int, reason: String) throws {
    let error = try #require(throws: FormatError.self) {
      try MemoRecord.decode(bytes.rawBytes, key: Self.key)
    }
    #expect(error.reason == reason)
    #expect(error.offset == offset)
  }

  @Test(arguments: [Int64.min, Int64.max, 4_000_000_000_000_000_000])
  func refusesAChangeTimeOutOfRange(difference: Int64) throws {
    var bytes: [UInt8] = [0, 1, 0]
    bytes.append(zigzag: difference)
    bytes += [0, 2, 1, 0x61, 0]
    let error = try #require(throws: FormatError.self) {
      try MemoRecord.decode(bytes.rawBytes, key: Self.key)
    }
    #expect(error.reason == "changedAt is out of range")
  }

  @Test func keepsTheWidestDifference() throws {
    let range = MemoTimestamp.supportedMicroseconds
    let first = try #require(MemoTimestamp(microseconds: range.lowerBound, offsetSeconds: -86_399))
    let last = try #require(MemoTimestamp(microseconds: range.upperBound, offsetSeconds: 86_399))
    for (created, changed) in [(first, last), (last, first)] {
      let memo = Memo(id: MemoID(1), createdAt: created, changedAt: changed, body: "")
      let key = MemoKey(microseconds: created.microseconds, arrival: 0)
      #expect(try MemoRecord.decode(MemoRecord.encode(memo).rawBytes, key: key) == memo)
    }
  }

  @Test func repairsATextThatIsNotUTF8() throws {
    let bytes: [UInt8] = [0, 0, 0, 2, 1, 0x61, 3, 0x61, 0xFF, 0x62]
    #expect(try MemoRecord.decode(bytes.rawBytes, key: Self.key).body == "a\u{FFFD}b")
  }

  @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, 65_536])
  func bodiesOfEverySizeComeBack(byteCount: Int) throws {
    let memo = try memo(body: String(repeating: "x", count: byteCount))
    let bytes = MemoRecord.encode(memo)
    #expect(try MemoRecord.decode(bytes.rawBytes, key: Self.key) == memo)
  }

  @Test func errorsDescribeThemselvesWithoutText() {
    let cause = FormatError("memo record", at: 3, "ends too early")
    let damaged = MemoError.damagedRecord(Corruption(cause, fileName: "000005.seg", base: 100))
    #expect(
      "\(damaged)" == "a memo is damaged: 000005.seg at byte 103: memo record: ends too early")
    #expect("\(MemoError.database(.closed))" == "the store is closed")
    #expect("\(MemoError.duplicateID)" == "there is a memo with this id already")
  }
}

extension Memo {
  /// Any memo: ids of all kinds, texts with combining marks, NUL, emoji and nothing.
  static func any(using generator: inout SeededGenerator) throws -> Memo {
    let pieces = [
      "", "milk", "\u{0}", "caf\u{E9}", "cafe\u{301}", "\u{1F468}\u{200D}\u{1F469}", "\n",
    ]
    var body = ""
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      body += pieces.randomElement(using: &generator) ?? ""
    }
    let id: MemoID
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: id = try MemoID("i" + body)
    case 1: id = MemoID(Int64(bitPattern: generator.next()))
    case 2: id = try MemoID(bytes: generator.bytes(Int.random(in: 1...40, using: &generator)))
    default: id = MemoID(uuid: (high: generator.next(), low: generator.next()))
    }
    return Memo(
      id: id, createdAt: .any(using: &generator),
      changedAt: generator.coin() ? .any(using: &generator) : nil, body: body)
  }
}
