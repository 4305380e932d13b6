import KVTestSupport
import Testing

@testable import KVEngine

/// Encoding of fields, and that decoding gives back what went in.
@Suite struct ByteWriterTests {
  /// Numbers around every border of a varint.
  private static let numbers: [UInt64] =
    (0...63).flatMap { shift -> [UInt64] in
      let power = UInt64(1) << UInt64(shift)
      return [power &- 1, power, power &+ 1]
    } + [.max - 1, .max]

  @Test func varintsComeBackAndTakeAsFewBytesAsPossible() throws {
    for number in Self.numbers {
      var bytes: [UInt8] = []
      bytes.append(varint: number)
      var reader = ByteReader(bytes.rawBytes, structure: "field")
      let read = try reader.varint()
      let isAtEnd = reader.isAtEnd
      #expect(read == number && isAtEnd)
      let bits = 64 - number.leadingZeroBitCount
      #expect(bytes.count == max(1, (bits + 6) / 7), "\(number)")
    }
  }

  @Test func signedNumbersComeBackAndSmallOnesAreShort() throws {
    let signed = Self.numbers.map { Int64(bitPattern: $0) }
    for number in signed + signed.map({ 0 &- $0 }) {
      var bytes: [UInt8] = []
      bytes.append(zigzag: number)
      var reader = ByteReader(bytes.rawBytes, structure: "field")
      let read = try reader.zigzag()
      #expect(read == number)
    }
    let small: [(Int64, [UInt8])] = [(0, [0]), (-1, [1]), (1, [2]), (-64, [127]), (64, [128, 1])]
    for (number, expected) in small {
      var bytes: [UInt8] = []
      bytes.append(zigzag: number)
      #expect(bytes == expected)
    }
  }

  @Test func fixedFieldsAreLittleEndianAndComeBack() throws {
    for number in Self.numbers {
      var bytes: [UInt8] = []
      bytes.append(u16: UInt16(truncatingIfNeeded: number))
      bytes.append(u32: UInt32(truncatingIfNeeded: number))
      bytes.append(u64: number)
      var reader = ByteReader(bytes.rawBytes, structure: "field")
      let (short, middle, long) = (try reader.u16(), try reader.u32(), try reader.u64())
      #expect(short == UInt16(truncatingIfNeeded: number))
      #expect(middle == UInt32(truncatingIfNeeded: number))
      #expect(long == number)
      #expect(bytes[0] == UInt8(truncatingIfNeeded: number))
      #expect(bytes.count == 14)
    }
  }

  @Test func bigEndianNumbersSortAsTheNumbersDo() {
    let encoded = Self.numbers.sorted().map { number -> [UInt8] in
      var bytes: [UInt8] = []
      bytes.append(bigEndian: number)
      return bytes
    }
    for (smaller, larger) in zip(encoded, encoded.dropFirst()) where smaller != larger {
      #expect(compareBytes(smaller, larger) < 0)
    }
    for (number, bytes) in zip(Self.numbers.sorted(), encoded) {
      #expect(bytes.rawBytes.bigEndianUInt64(at: 0) == number)
    }
  }

  @Test func replacingEightBytesLeavesTheRest() {
    var bytes = [UInt8](repeating: 0xEE, count: 12)
    bytes.replace(bigEndian: 0x0102_0304_0506_0708, at: 2)
    #expect(bytes == [0xEE, 0xEE, 1, 2, 3, 4, 5, 6, 7, 8, 0xEE, 0xEE])
  }

  @Test(arguments: 0...17) func paddingEndsAtTheNextMultiple(count: Int) {
    var bytes = [UInt8](repeating: 0xEE, count: count)
    bytes.pad(toMultipleOf: 8)
    #expect(bytes.count == (count + 7) / 8 * 8)
    #expect(bytes.dropFirst(count).allSatisfy { $0 == 0 })
  }

  @Test func spansAreAppendedAsTheyAre() {
    var bytes: [UInt8] = [1]
    bytes.append(span: [2, 3].rawBytes)
    bytes.append(span: [UInt8]().rawBytes)
    #expect(bytes == [1, 2, 3])
    #expect([UInt8](copying: [UInt8]().rawBytes).isEmpty)
  }
}
