package import KVEngine

// FORMAT.md section 10.9: what became of memos, one entry for each memo of a commit, by ascending
// numbers without a gap. Only a store whose changes somebody follows has entries, and then at least
// one: so the count of its space, which costs nothing, says whether there is anything to record.

/// What became of a memo in one commit.
package struct FeedEntry: Sendable, Hashable {
  /// Never renumber (FORMAT.md 13).
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// Recording began here; concerns no memo.
    case began = 0
    case inserted = 1
    case updated = 2
    case deleted = 3
  }

  /// The version of the record.
  package static let version: UInt64 = 0
  /// How many entries are kept.
  package static let maximumCount = 10_000
  /// For how long entries are kept, in microseconds: 30 days.
  package static let maximumAge: Int64 = 30 * 86_400 * 1_000_000

  package let kind: Kind
  /// When it was written, by the wall clock, in microseconds since 1970.
  package let microseconds: Int64
  /// Which memo; `nil` for the beginning alone.
  package let id: MemoID?
  /// Who wrote.
  package let origin: String?

  package init(kind: Kind, microseconds: Int64, id: MemoID?, origin: String?) {
    self.kind = kind
    let range = MemoTimestamp.supportedMicroseconds
    self.microseconds = min(max(microseconds, range.lowerBound), range.upperBound)
    self.id = id
    self.origin = origin
  }

  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: Self.version)
    bytes.append(kind.rawValue)
    bytes.append(zigzag: microseconds)
    // One more than its length, so that none and an empty one differ.
    bytes.append(varint: origin.map { UInt64($0.utf8.count) + 1 } ?? 0)
    if let origin { bytes += origin.utf8 }
    id?.appendEncoded(to: &bytes)
    return bytes
  }

  package static func decode(_ value: RawSpan) throws(FormatError) -> FeedEntry {
    var reader = ByteReader(value, structure: "feed entry")
    let found = try reader.varint()
    guard found == version else {
      throw reader.failure("has version \(found); a newer program can read it")
    }
    let code = try reader.u8()
    guard let kind = Kind(rawValue: code) else { throw reader.failure("unknown kind \(code)") }
    let microseconds = try reader.zigzag()
    guard MemoTimestamp.supportedMicroseconds.contains(microseconds) else {
      throw reader.failure("its time is out of range")
    }
    var origin: String?
    let originCount = try reader.count(maximum: Limits.Value.maximumByteCount)
    if originCount > 0 {
      let bytes = try reader.take(originCount - 1)
      origin = unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
      if origin == nil { throw reader.failure("its origin is not UTF-8") }
    }
    if kind == .began {
      guard reader.isAtEnd else { throw reader.failure("bytes follow the entry") }
      return FeedEntry(kind: kind, microseconds: microseconds, id: nil, origin: origin)
    }
    let id = try MemoID(encoded: try reader.take(reader.remaining))
    return FeedEntry(kind: kind, microseconds: microseconds, id: id, origin: origin)
  }
}

/// What tells the entries of a store from those of any other one, and of an earlier recording.
package struct FeedIdentity: Sendable, Hashable {
  /// The key in the space of names.
  ///
  /// Written whenever entries begin or go otherwise than with a change, so whoever records needs no
  /// other condition.
  package static let key: [UInt8] = [0xFD]
  static let byteCount = 16

  let high: UInt64
  let low: UInt64

  /// One that no other recording has.
  static func random() -> FeedIdentity {
    FeedIdentity(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }

  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
    return bytes
  }

  package static func decode(_ value: RawSpan) throws(FormatError) -> FeedIdentity {
    guard value.byteCount == byteCount, let high = value.bigEndianUInt64(at: 0),
      let low = value.bigEndianUInt64(at: 8)
    else { throw FormatError("feed identity", at: 0, "has \(value.byteCount) bytes") }
    return FeedIdentity(high: high, low: low)
  }
}

/// The key of an entry: its number.
package enum FeedKey {
  /// Above every number, with room to count on.
  static let numberLimit: UInt64 = 1 << 62

  package static func encode(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number)
    return bytes
  }

  package static func decode(_ key: RawSpan) throws(FormatError) -> UInt64 {
    guard key.byteCount == 8, let number = key.bigEndianUInt64(at: 0),
      number < numberLimit
    else {
      throw FormatError("feed key", at: 0, "is no number")
    }
    return number
  }
}

/// Behind which entry of which recording somebody has read.
///
/// It knows its entry by a checksum as well as by its number: when a store was set back and written
/// on, as by a restored backup, another entry has the number.
package struct FeedToken: Sendable, Hashable {
  package let identity: FeedIdentity
  package let number: UInt64
  let checksum: UInt32

  init(_ identity: FeedIdentity, _ number: UInt64, entry: RawSpan) {
    self.identity = identity
    self.number = number
    var checksum = CRC32C()
    checksum.update(u64: number)
    checksum.update(entry)
    self.checksum = checksum.value
  }

  /// Reads a token from its text.
  ///
  /// - Returns: `nil` for what is not the text of one.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 32, parts[2].count == 8,
      let high = UInt64(Substring(parts[0].prefix(16)), radix: 16),
      let low = UInt64(Substring(parts[0].suffix(16)), radix: 16),
      let number = UInt64(Substring(parts[1])),
      let checksum = UInt32(Substring(parts[2]), radix: 16)
    else { return nil }
    identity = FeedIdentity(high: high, low: low)
    self.number = number
    self.checksum = checksum
  }
}

extension FeedToken: CustomStringConvertible {
  /// Letters, digits and two hyphens.
  package var description: String {
    "\(Self.hexadecimal(identity.high, 16))\(Self.hexadecimal(identity.low, 16))-\(number)-"
      + Self.hexadecimal(UInt64(checksum), 8)
  }

  private static func hexadecimal(_ value: UInt64, _ digitCount: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digitCount - digits.utf8.count)) + digits
  }
}
