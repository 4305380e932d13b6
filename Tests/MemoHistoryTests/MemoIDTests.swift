import KVEngine
import MemoCore
import Testing

@Suite struct MemoIDTests {
  private static let composed = "caf\u{E9}"
  private static let decomposed = "cafe\u{301}"

  @Test func refusesEmptyAndTooLongIDs() throws {
    let empty = MemoError.invalidID(reason: "is empty")
    #expect(throws: empty) { try MemoID("") }
    #expect(throws: empty) { try MemoID(bytes: []) }
    let tooLong = MemoError.invalidID(reason: "has 65536 bytes; the most is 65535")
    #expect(throws: tooLong) { try MemoID(String(repeating: "y", count: 65_536)) }
    #expect(throws: tooLong) { try MemoID(bytes: [UInt8](repeating: 0, count: 65_536)) }
    #expect(throws: tooLong) { try MemoID(String(repeating: "\u{304C}", count: 21_845) + "x") }
    #expect("\(empty)" == "the id is empty")
  }

  @Test(arguments: [1, 15, 16, 255, 256, 65_534, 65_535])
  func acceptsIDsUpToTheLimit(byteCount: Int) throws {
    let text = try MemoID(String(repeating: "y", count: byteCount))
    let bytes = try MemoID(bytes: [UInt8](repeating: 0xFF, count: byteCount))
    #expect(text.encodedByteCount == byteCount + 1)
    #expect(try MemoID(encoded: text.encoded.rawBytes) == text)
    #expect(try MemoID(encoded: bytes.encoded.rawBytes) == bytes)
  }

  @Test func comparesTextsByBytes() throws {
    #expect(Self.composed == Self.decomposed)
    let ids: Set = [try MemoID(Self.composed), try MemoID(Self.decomposed)]
    #expect(ids.count == 2)
    #expect(try MemoID(Self.composed) == MemoID("caf\u{E9}"))
    #expect(try MemoID("id\u{0}tail") != MemoID("id"))
    #expect(try MemoID("trailing ") != MemoID("trailing"))
    #expect(try MemoID("EDGE-CASE") != MemoID("edge-case"))
  }

  @Test func kindsAreNeverEqual() throws {
    let ids: Set = [
      MemoID(12), try MemoID("12"), try MemoID(bytes: [0x31, 0x32]),
      MemoID(uuid: (high: 0, low: 12)),
    ]
    #expect(ids.count == 4)
    #expect(Set(ids.map(\.hash64)).count == 4)
  }

  @Test func hasTheDocumentedStoredForm() throws {
    #expect(try MemoID("a7").encoded == [1, 0x61, 0x37])
    #expect(MemoID(-2).encoded == [2, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
    #expect(try MemoID(bytes: [9, 8]).encoded == [3, 9, 8])
    let uuid = MemoID(uuid: (high: 0x0A1B_2C3D_4E5F_4071, low: 0x8293_A4B5_C6D7_E8F9))
    #expect(
      uuid.encoded == [
        4, 0x0A, 0x1B, 0x2C, 0x3D, 0x4E, 0x5F, 0x40, 0x71, 0x82, 0x93, 0xA4, 0xB5, 0xC6, 0xD7,
        0xE8, 0xF9,
      ])
    #expect(MemoID.Kind.allCases.map(\.rawValue) == [1, 2, 3, 4])
  }

  /// Stored hashes must never change.
  ///
  /// The numbers were made with the xxhash package 4.1.0 of Python.
  @Test func hashIsXXH64OfTheStoredForm() throws {
    let id = try MemoID("a7")
    #expect(id.hash64 == XXH64.hash(id.encoded.rawBytes))
    #expect(id.hash64 == 0xAEFB_59E8_3B15_7493)
    #expect(MemoID(1).hash64 == 0x7BC7_59F3_A16F_D092)
    #expect(MemoID(uuid: (high: 1, low: 2)).hash64 == 0x94F9_2685_3E70_3C86)
  }

  @Test func describesItself() throws {
    #expect(try MemoID("a\u{0}b").description.utf8.elementsEqual("a\u{0}b".utf8))
    #expect(MemoID(.min).description == "-9223372036854775808")
    #expect(try MemoID(bytes: [0, 0xAB, 0xFF]).description == "00abff")
    let uuid = MemoID(uuid: (high: 0x0A1B_2C3D_4E5F_4071, low: 0x8293_A4B5_C6D7_E8F9))
    #expect(uuid.description == "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9")
    #expect(MemoID(uuid: (0, 1)).description == "00000000-0000-0000-0000-000000000001")
  }

  @Test func everyKindComesBack() throws {
    let ids = [
      try MemoID(Self.composed), try MemoID(Self.decomposed), try MemoID("\u{202E}id\u{0}"),
      MemoID(0), MemoID(.min), MemoID(.max), try MemoID(bytes: [0]),
      MemoID(uuid: (high: .max, low: 0)), MemoID(uuid: (high: 0, low: 1)),
    ]
    for id in ids {
      let decoded = try MemoID(encoded: id.encoded.rawBytes)
      #expect(decoded == id)
      #expect(decoded.hashValue == id.hashValue)
      #expect(decoded.encoded == id.encoded)
      #expect(id.encodedByteCount == id.encoded.count)
    }
  }

  @Test(
    arguments: [
      ([], 0, "ends too early"),
      ([0, 1], 0, "unknown kind 0"),
      ([5, 1], 0, "unknown kind 5"),
      ([1], 1, "has 0 bytes"),
      ([3], 1, "has 0 bytes"),
      ([1, 0xFF], 1, "text is not UTF-8"),
      ([1, 0xED, 0xA0, 0x80], 1, "text is not UTF-8"),
      ([2, 0, 0, 0, 0, 0, 0, 0], 1, "ends too early"),
      ([2, 0, 0, 0, 0, 0, 0, 0, 0, 0], 9, "bytes follow the id"),
      ([4, 0, 0, 0, 0, 0, 0, 0, 0, 0], 9, "ends too early"),
    ] as [([UInt8], Int, String)])
  func refusesOddBytes(bytes: [UInt8], offset: Int, reason: String) {
    #expect(throws: FormatError("memo id", at: offset, reason)) {
      try MemoID(encoded: bytes.rawBytes)
    }
  }

  @Test(arguments: [UInt8(1), 3]) func refusesTooManyBytes(kind: UInt8) {
    let bytes = [kind] + [UInt8](repeating: 0x61, count: 65_536)
    #expect(throws: FormatError("memo id", at: 1, "has 65536 bytes")) {
      try MemoID(encoded: bytes.rawBytes)
    }
  }
}
