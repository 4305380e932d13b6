import KVEngine
import KVTestSupport
import MemoCore
import Testing

@Suite struct MemoKeysTests {
  @Test func memoKeyHasTheDocumentedBytes() {
    let key = MemoKey(microseconds: 1, arrival: 2)
    #expect(
      key.encode() == [
        0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFD,
      ])
  }

  @Test func idKeyHasTheDocumentedBytes() {
    let key = IDKey(hash: 0x0102_0304_0506_0708, memoKey: MemoKey(microseconds: 1, arrival: 2))
    #expect(
      key.encode() == [
        1, 2, 3, 4, 5, 6, 7, 8, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
      ])
    #expect(key.encode().starts(with: IDKey.prefix(hash: key.hash)))
    #expect(IDKey.prefix(hash: key.hash).count == IDKey.prefixByteCount)
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func memoKeysSortNewestFirst(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let left = MemoKey.any(using: &generator)
      let right = MemoKey.any(using: &generator)
      let order = compareBytes(left.encode().rawBytes, right.encode().rawBytes)
      let expected = (right.microseconds, right.arrival) < (left.microseconds, left.arrival)
      #expect((order < 0) == expected, "seed \(seed) \(left) \(right)")
      #expect((order == 0) == (left == right), "seed \(seed)")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>) func keysComeBack(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let key = MemoKey.any(using: &generator)
      let idKey = IDKey(hash: generator.next(), memoKey: key)
      #expect(try MemoKey.decode(key.encode().rawBytes) == key, "seed \(seed)")
      #expect(try IDKey.decode(idKey.encode().rawBytes) == idKey, "seed \(seed)")
      #expect(key.encode().count == MemoKey.byteCount)
      #expect(idKey.encode().count == IDKey.byteCount)
    }
  }

  @Test func arrivalSlotsAreWhereTheySay() {
    var memoKey = MemoKey(microseconds: 5, arrival: 0).encode()
    memoKey.replace(bigEndian: ~77, at: MemoKey.arrivalOffset)
    #expect(memoKey == MemoKey(microseconds: 5, arrival: 77).encode())
    var idKey = IDKey(hash: 3, memoKey: MemoKey(microseconds: 5, arrival: 0)).encode()
    idKey.replace(bigEndian: 77, at: IDKey.arrivalOffset)
    #expect(idKey == IDKey(hash: 3, memoKey: MemoKey(microseconds: 5, arrival: 77)).encode())
  }

  @Test(arguments: [0, 15, 17, 24]) func refusesMemoKeysOfAnotherLength(count: Int) {
    let bytes = [UInt8](repeating: 0x80, count: count)
    #expect(throws: FormatError("memo key", at: 0, "has \(count) bytes")) {
      try MemoKey.decode(bytes.rawBytes)
    }
  }

  @Test(arguments: [0, 16, 23, 25]) func refusesIDKeysOfAnotherLength(count: Int) {
    let bytes = [UInt8](repeating: 0x80, count: count)
    #expect(throws: FormatError("id key", at: 0, "has \(count) bytes")) {
      try IDKey.decode(bytes.rawBytes)
    }
  }

  @Test(arguments: [UInt8(0), 0xFF]) func refusesInstantsOutOfRange(byte: UInt8) {
    let memoKey = [UInt8](repeating: byte, count: MemoKey.byteCount)
    #expect(throws: FormatError("memo key", at: 0, "instant is out of range")) {
      try MemoKey.decode(memoKey.rawBytes)
    }
    let idKey = [UInt8](repeating: byte, count: IDKey.byteCount)
    #expect(throws: FormatError("id key", at: 8, "instant is out of range")) {
      try IDKey.decode(idKey.rawBytes)
    }
  }
}

extension MemoKey {
  /// Few different instants and arrivals, so that ties are frequent.
  static func any(using generator: inout SeededGenerator) -> MemoKey {
    let timestamp =
      generator.coin()
      ? MemoTimestamp.any(using: &generator) : MemoTimestamp.small(using: &generator)
    return MemoKey(
      microseconds: timestamp.microseconds, arrival: UInt64.random(in: 0..<3, using: &generator))
  }
}
