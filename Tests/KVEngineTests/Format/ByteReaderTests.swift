import KVTestSupport
import Testing

@testable import KVEngine

/// Decoding of fields from bytes that nobody vouches for.
@Suite struct ByteReaderTests {
  /// One field of each kind, with the bytes it takes.
  enum Field: CaseIterable {
    case u8, u16, u32, u64, varint, zigzag, array, skip, zeros

    /// Bytes of a field that is there as a whole.
    var bytes: [UInt8] {
      switch self {
      case .u8: [0xAB]
      case .u16: [0x34, 0x12]
      case .u32: [0x78, 0x56, 0x34, 0x12]
      case .u64: [8, 7, 6, 5, 4, 3, 2, 1]
      case .varint, .zigzag: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
      case .array, .skip: [1, 2, 3, 4, 5]
      case .zeros: [0, 0, 0]
      }
    }

    /// Reads the field; the number is what it says, 0 where it says nothing.
    func read(_ bytes: [UInt8]) throws(FormatError) -> (value: UInt64, offset: Int) {
      var reader = ByteReader(bytes.rawBytes, structure: "field")
      let value: UInt64
      switch self {
      case .u8: value = UInt64(try reader.u8())
      case .u16: value = UInt64(try reader.u16())
      case .u32: value = UInt64(try reader.u32())
      case .u64: value = try reader.u64()
      case .varint: value = try reader.varint()
      case .zigzag: value = UInt64(bitPattern: try reader.zigzag())
      case .array: value = UInt64(try reader.takeArray(5).reduce(0) { $0 + Int($1) })
      case .skip:
        try reader.skip(5)
        value = 0
      case .zeros:
        try reader.zeros(3)
        value = 0
      }
      return (value, reader.offset)
    }
  }

  @Test(arguments: Field.allCases) func everyFieldIsReadAndEveryPartOfItRefused(
    field: Field
  ) throws {
    let whole = try field.read(field.bytes + [0xEE])
    let expected: [Field: UInt64] = [
      .u8: 0xAB, .u16: 0x1234, .u32: 0x1234_5678, .u64: 0x0102_0304_0506_0708,
      .varint: .max, .zigzag: UInt64(bitPattern: .min), .array: 15, .skip: 0, .zeros: 0,
    ]
    #expect(whole.value == expected[field])
    #expect(whole.offset == field.bytes.count)
    for count in 0..<field.bytes.count {
      let part = Array(field.bytes.prefix(count))
      let error = #expect(throws: FormatError.self, "\(count) bytes") { try field.read(part) }
      #expect(error?.structure == "field")
    }
  }

  @Test(
    arguments: [
      [0x80, 0x00],
      [0x81, 0x00],
      [0xFF, 0x80, 0x00],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x00],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ] as [[UInt8]])
  func aVarintInAnyFormButTheShortestIsRefused(bytes: [UInt8]) {
    #expect(throws: FormatError.self) { try Field.varint.read(bytes) }
  }

  @Test func aCountStopsAtItsMaximum() throws {
    func count(_ bytes: [UInt8], maximum: Int) throws -> Int {
      var reader = ByteReader(bytes.rawBytes, structure: "field")
      return try reader.count(maximum: maximum)
    }
    #expect(try count([0x7F], maximum: 127) == 127)
    #expect(try count([0x80, 0x01], maximum: 128) == 128)
    #expect(throws: FormatError.self) { try count([0x80, 0x01], maximum: 127) }
    #expect(throws: FormatError.self) { try count(Field.varint.bytes, maximum: .max) }
    #expect(throws: FormatError.self) { try count([1], maximum: 0) }
    #expect(try count([0], maximum: 0) == 0)
  }

  @Test func lengthsThatMakeNoSenseAreRefused() {
    for length in [-1, Int.min, 4, Int.max] {
      #expect(throws: FormatError.self, "\(length)") {
        var reader = ByteReader([1, 2, 3].rawBytes, structure: "field")
        try reader.skip(length)
      }
      #expect(throws: FormatError.self, "\(length)") {
        var reader = ByteReader([1, 2, 3].rawBytes, structure: "field")
        _ = try reader.takeArray(length)
      }
      #expect(throws: FormatError.self, "\(length)") {
        var reader = ByteReader([1, 2, 3].rawBytes, structure: "field")
        _ = try reader.take(length).byteCount
      }
    }
  }

  @Test func aReservedByteThatIsNotZeroIsRefusedWhereverItIs() throws {
    for position in 0..<3 {
      var bytes: [UInt8] = [0, 0, 0]
      bytes[position] = 0x80
      #expect(throws: FormatError.self, "\(position)") { try Field.zeros.read(bytes) }
    }
  }

  @Test func anErrorTellsWhereItWasMet() {
    var reader = ByteReader([1, 2, 3].rawBytes, structure: "field")
    do throws(FormatError) {
      try reader.skip(2)
      _ = try reader.u32()
      Issue.record("three bytes were enough for six")
    } catch {
      #expect(error == FormatError("field", at: 2, "ends too early"))
    }
  }

  @Test func arbitraryBytesNeverTrap() {
    var random = SeededGenerator(seed: 1)
    for round in 0..<2000 {
      let bytes = random.bytes(Int.random(in: 0...24, using: &random))
      let field = Field.allCases[round % Field.allCases.count]
      guard let read = try? field.read(bytes) else { continue }
      #expect(read.offset <= bytes.count, "round \(round)")
    }
  }
}
