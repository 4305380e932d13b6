package import KVEngine

// FORMAT.md section 10.1: keys of the spaces "memos" and "ids", behind the space byte. Each holds
// the arrival number in a slot of eight bytes, which the commit leader fills when it is new.

/// The key of a memo in the memo space: newest first, later arrivals first among equal instants.
package struct MemoKey: Hashable, Sendable {
  package static let byteCount = 16
  /// Where the slot of the inverted arrival begins.
  package static let arrivalOffset = 8

  /// The instant of createdAt, in microseconds since 1970.
  package let microseconds: Int64
  /// The number of the operation that inserted the memo.
  package let arrival: UInt64

  package init(microseconds: Int64, arrival: UInt64) {
    self.microseconds = microseconds
    self.arrival = arrival
  }

  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(bigEndian: ~MemoTimestamp.sortKey(ofMicroseconds: microseconds))
    bytes.append(bigEndian: ~arrival)
    return bytes
  }

  package static func decode(_ bytes: RawSpan) throws(FormatError) -> MemoKey {
    guard bytes.byteCount == byteCount, let inverted = bytes.bigEndianUInt64(at: 0),
      let invertedArrival = bytes.bigEndianUInt64(at: arrivalOffset)
    else { throw FormatError("memo key", at: 0, "has \(bytes.byteCount) bytes") }
    return MemoKey(
      microseconds: try supportedMicroseconds(sortKey: ~inverted, "memo key", at: 0),
      arrival: ~invertedArrival)
  }
}

/// The key of a memo in the id space: all memos whose id has one hash, oldest first.
package struct IDKey: Hashable, Sendable {
  package static let byteCount = 24
  /// Where the slot of the arrival begins.
  package static let arrivalOffset = 16
  /// Bytes of the hash in front, which every key of one id shares.
  package static let prefixByteCount = 8

  /// ``MemoID/hash64`` of the id.
  package let hash: UInt64
  /// The memo that may have the id.
  package let memoKey: MemoKey

  package init(hash: UInt64, memoKey: MemoKey) {
    self.hash = hash
    self.memoKey = memoKey
  }

  /// What all keys of an id begin with.
  package static func prefix(hash: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: hash)
    return bytes
  }

  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(bigEndian: hash)
    bytes.append(bigEndian: MemoTimestamp.sortKey(ofMicroseconds: memoKey.microseconds))
    bytes.append(bigEndian: memoKey.arrival)
    return bytes
  }

  package static func decode(_ bytes: RawSpan) throws(FormatError) -> IDKey {
    guard bytes.byteCount == byteCount, let hash = bytes.bigEndianUInt64(at: 0),
      let sortKey = bytes.bigEndianUInt64(at: prefixByteCount),
      let arrival = bytes.bigEndianUInt64(at: arrivalOffset)
    else { throw FormatError("id key", at: 0, "has \(bytes.byteCount) bytes") }
    let microseconds = try supportedMicroseconds(sortKey: sortKey, "id key", at: prefixByteCount)
    return IDKey(hash: hash, memoKey: MemoKey(microseconds: microseconds, arrival: arrival))
  }
}

/// The instant of a sort key that comes from disk.
private func supportedMicroseconds(
  sortKey: UInt64, _ structure: String, at offset: Int
) throws(FormatError) -> Int64 {
  let microseconds = MemoTimestamp.microseconds(ofSortKey: sortKey)
  guard MemoTimestamp.supportedMicroseconds.contains(microseconds) else {
    throw FormatError(structure, at: offset, "instant is out of range")
  }
  return microseconds
}
