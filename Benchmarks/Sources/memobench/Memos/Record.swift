/// How a memo is laid out in the stores of keys and values: the key is time and arrival, the value
/// is the id, the zone and the text.
enum Record {
  static let keyByteCount = 16
  static let headByteCount = 20

  /// Time and arrival as bytes that sort like them; inverted for newest first.
  static func key(_ microseconds: Int64, _ arrival: Int, isInverted: Bool) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: keyByteCount) { buffer, count in
      let mask: UInt64 = isInverted ? .max : 0
      let time = UInt64(bitPattern: microseconds) ^ (1 << 63) ^ mask
      let place = UInt64(arrival) ^ mask
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      bytes.storeBytes(of: time.bigEndian, as: UInt64.self)
      bytes.storeBytes(of: place.bigEndian, toByteOffset: 8, as: UInt64.self)
      count = keyByteCount
    }
  }

  /// The first key that is not newer than a time, in the order of the keys.
  static func boundary(_ microseconds: Int64, isInverted: Bool) -> [UInt8] {
    key(microseconds, Int.max, isInverted: isInverted)
  }

  static func microseconds(_ key: UnsafeRawBufferPointer, isInverted: Bool) -> Int64 {
    let time = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    return Int64(bitPattern: time ^ (1 << 63) ^ (isInverted ? .max : 0))
  }

  static func key(of id: Identity) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      bytes.storeBytes(of: id.high.bigEndian, as: UInt64.self)
      bytes.storeBytes(of: id.low.bigEndian, toByteOffset: 8, as: UInt64.self)
      count = 16
    }
  }

  static func valueByteCount(_ memo: NewMemo) -> Int { headByteCount + memo.body.count }

  /// Writes a value into space for exactly that.
  static func store(_ memo: NewMemo, in bytes: UnsafeMutableRawBufferPointer) {
    bytes.storeBytes(of: memo.id.high.bigEndian, as: UInt64.self)
    bytes.storeBytes(of: memo.id.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    bytes.storeBytes(of: memo.zoneSeconds.bigEndian, toByteOffset: 16, as: Int32.self)
    UnsafeMutableRawBufferPointer(rebasing: bytes[headByteCount...]).copyMemory(from: memo.body)
  }

  static func value(_ memo: NewMemo) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: valueByteCount(memo)) { buffer, count in
      count = valueByteCount(memo)
      store(
        memo,
        in: UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(
            start: buffer.baseAddress, count: count)[...]))
    }
  }

  static func decode(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, isInverted: Bool
  ) -> SampleMemo {
    SampleMemo(
      id: Identity(
        high: UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt64.self))),
      microseconds: microseconds(key, isInverted: isInverted),
      zoneSeconds: Int32(bigEndian: value.loadUnaligned(fromByteOffset: 16, as: Int32.self)),
      body: String(decoding: value.dropFirst(headByteCount), as: UTF8.self))
  }

  @inline(__always)
  static func tally(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, isInverted: Bool,
    into tally: inout Tally
  ) {
    tally.add(
      microseconds: microseconds(key, isInverted: isInverted),
      idHead: UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)),
      body: UnsafeRawBufferPointer(rebasing: value.dropFirst(headByteCount)))
  }
}
