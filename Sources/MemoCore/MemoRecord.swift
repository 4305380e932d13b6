package import KVEngine

// FORMAT.md section 10.2: the value of a memo. Everything that a tool needs to show a memo without
// the app that wrote it:
//
//   version  flags  createdAt offset  [changedAt - createdAt  changedAt offset]  id  text
//   [payload]
//
// Numbers are varints, signed ones zigzag; id, text and payload have their byte count in front. The
// instant of createdAt stands in the key only, so the two cannot disagree. A payload is kept as it
// is; who wants its fields decodes it (10.4).
// Every number has one form and nothing is optional but by a flag, so a record that decodes is the
// one that encoding makes (the one exception, a text that is not UTF-8, cannot be written by us).

/// Stores memos as the values of the memo space.
package enum MemoRecord {
  /// The version of this envelope; later ones are refused.
  package static let version: UInt64 = 0

  /// The bits of the flags, each by its value.
  ///
  /// Never renumber (FORMAT.md 13).
  package enum Flag: UInt64, CaseIterable, Sendable {
    case changedAt = 1
    case payload = 2
  }

  /// The stored form of a memo.
  package static func encode(_ memo: Memo) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      32 + memo.id.encodedByteCount + memo.body.utf8.count + memo.payload.count)
    append(memo, to: &bytes)
    return bytes
  }

  /// Appends the stored form of a memo.
  package static func append(_ memo: Memo, to bytes: inout [UInt8]) {
    bytes.append(varint: version)
    bytes.append(
      varint: (memo.changedAt == nil ? 0 : Flag.changedAt.rawValue)
        | (memo.payload.isEmpty ? 0 : Flag.payload.rawValue))
    bytes.append(zigzag: Int64(memo.createdAt.offsetSeconds))
    if let changedAt = memo.changedAt {
      // Cannot overflow: MemoTimestamp.supportedMicroseconds.
      bytes.append(zigzag: changedAt.microseconds - memo.createdAt.microseconds)
      bytes.append(zigzag: Int64(changedAt.offsetSeconds))
    }
    bytes.append(varint: UInt64(memo.id.encodedByteCount))
    memo.id.appendEncoded(to: &bytes)
    bytes.append(varint: UInt64(memo.body.utf8.count))
    bytes.append(contentsOf: memo.body.utf8)
    if !memo.payload.isEmpty {
      bytes.append(varint: UInt64(memo.payload.count))
      bytes.append(contentsOf: memo.payload)
    }
  }

  /// Reads a stored memo.
  ///
  /// A text that is not UTF-8 is repaired, not refused: a memo that can be read in part is worth
  /// more than an error.
  ///
  /// - Parameters:
  ///   - value: The bytes under the memo's key.
  ///   - key: That key.
  /// - Returns: The memo.
  /// - Throws: `FormatError` when the bytes are not exactly one record, or one of a later version.
  /// - Complexity: O(bytes), about 0.3 microseconds for a memo of usual size.
  package static func decode(_ value: RawSpan, key: MemoKey) throws(FormatError) -> Memo {
    var reader = ByteReader(value, structure: "memo record")
    let head = try reader.memoHead(key)
    let text = try reader.take(try reader.count(maximum: Limits.Value.maximumByteCount))
    let body = unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    var payload: [UInt8] = []
    if head.flags & Flag.payload.rawValue != 0 {
      let count = try reader.count(maximum: Limits.Value.maximumByteCount)
      guard count > 0 else { throw reader.failure("payload is empty") }
      payload = try reader.takeArray(count)
    }
    guard reader.isAtEnd else { throw reader.failure("bytes follow the record") }
    return Memo(
      id: head.id, createdAt: head.createdAt, changedAt: head.changedAt, body: body,
      payload: payload)
  }
}

/// What stands in a stored memo in front of its text.
struct MemoHead {
  let flags: UInt64
  let createdAt: MemoTimestamp
  let changedAt: MemoTimestamp?
  let id: MemoID
}

extension ByteReader {
  /// What a memo's record begins with.
  @_lifetime(self: copy self)
  mutating func memoHead(_ key: MemoKey) throws(FormatError) -> MemoHead {
    let found = try varint()
    guard found == MemoRecord.version else {
      throw failure("has version \(found); a newer program can read it")
    }
    let flags = try varint()
    let changedAtFlag = MemoRecord.Flag.changedAt.rawValue
    guard flags & ~(changedAtFlag | MemoRecord.Flag.payload.rawValue) == 0 else {
      throw failure("has unknown flags \(flags); a newer program can read it")
    }
    let offsetSeconds = try zigzag()
    guard let createdAt = MemoTimestamp(key.microseconds, offsetSeconds) else {
      throw failure("createdAt is out of range")
    }
    var changedAt: MemoTimestamp?
    if flags & changedAtFlag != 0 {
      let difference = try zigzag()
      let (microseconds, overflow) = key.microseconds.addingReportingOverflow(difference)
      let offsetSeconds = try zigzag()
      changedAt = overflow ? nil : MemoTimestamp(microseconds, offsetSeconds)
      guard changedAt != nil else { throw failure("changedAt is out of range") }
    }
    let idByteCount = try count(maximum: 1 + MemoID.maximumByteCount)
    let id = try MemoID(encoded: try take(idByteCount))
    return MemoHead(flags: flags, createdAt: createdAt, changedAt: changedAt, id: id)
  }
}

extension MemoTimestamp {
  fileprivate init?(_ microseconds: Int64, _ offsetSeconds: Int64) {
    guard let offsetSeconds = Int32(exactly: offsetSeconds) else { return nil }
    self.init(microseconds: microseconds, offsetSeconds: offsetSeconds)
  }
}
