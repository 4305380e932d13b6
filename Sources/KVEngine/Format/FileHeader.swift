// FORMAT.md section 5: the common head of log, segment and MANIFEST.

/// The kinds of files with a header.
///
/// Never renumber (FORMAT.md 13).
package enum FileKind: UInt8, CaseIterable, Sendable {
  case log = 0x4C  // L
  case segment = 0x53  // S
  case manifest = 0x4D  // M
}

/// The version of the whole format; files of a newer one are refused untouched.
package enum FormatVersion {
  package static let current: UInt16 = 0
}

/// A 16-byte random identity of a store or of a segment.
package struct StoreIdentity: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new random identity.
  package static func random() -> StoreIdentity {
    var generator = SystemRandomNumberGenerator()
    return StoreIdentity(high: generator.next(), low: generator.next())
  }

  /// The identity as 32 hexadecimal digits.
  package var text: String {
    [high, low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The first 48 bytes of log, segment and MANIFEST copy.
package struct FileHeader: Equatable, Sendable {
  package static let byteCount = 48
  private static let magic: [UInt8] = Array("MemoKV".utf8) + [0x1A]

  package var kind: FileKind
  /// Store (log, MANIFEST) or segment.
  package var identity: StoreIdentity
  /// File number (log, segment) or generation (MANIFEST).
  package var number: UInt64

  package init(kind: FileKind, identity: StoreIdentity, number: UInt64) {
    self.kind = kind
    self.identity = identity
    self.number = number
  }

  package func encode() -> [UInt8] {
    var bytes = Self.magic
    bytes.append(kind.rawValue)
    bytes.append(u16: FormatVersion.current)
    bytes.append(contentsOf: [0, 0])  // transform id, reserved
    bytes.append(u32: 0)  // key id
    bytes.append(u64: identity.high)
    bytes.append(u64: identity.low)
    bytes.append(u64: number)
    bytes.append(u32: 0)  // reserved
    bytes.append(u32: CRC32C.checksum(bytes.rawBytes))
    return bytes
  }

  /// What a file's first bytes turned out to be.
  package enum Finding {
    case header(FileHeader)
    /// A file of ours, undamaged as far as its header goes, of another format version.
    case otherVersion(UInt16)
  }

  package static func decode(_ bytes: RawSpan, kind: FileKind) throws(FormatError) -> Finding {
    var reader = ByteReader(bytes, structure: "file header")
    guard bytes.byteCount >= byteCount else {
      throw reader.failure("file is shorter than a header")
    }
    let head = try reader.takeArray(magic.count)
    guard head == magic else { throw FormatError("file header", at: 0, "not a MemoKV file") }
    guard let found = FileKind(rawValue: try reader.u8()) else {
      throw FormatError("file header", at: magic.count, "unknown kind of file")
    }
    let version = try reader.u16()
    let transform = try reader.u8()
    try reader.zeros(1)
    let keyID = try reader.u32()
    let identity = StoreIdentity(high: try reader.u64(), low: try reader.u64())
    let number = try reader.u64()
    try reader.zeros(4)
    let covered = bytes.extracting(first: byteCount - 4)
    guard try reader.u32() == CRC32C.checksum(covered) else {
      throw FormatError("file header", at: byteCount - 4, "checksum does not match")
    }
    guard version == FormatVersion.current else { return .otherVersion(version) }
    guard found == kind else { throw FormatError("file header", at: 7, "another kind of file") }
    guard transform == 0, keyID == 0 else {
      throw FormatError("file header", at: 10, "unknown transform")
    }
    return .header(FileHeader(kind: found, identity: identity, number: number))
  }

  /// Decodes the header of a file of which the name is known.
  ///
  /// - Throws: ``DatabaseError/unsupportedFormat(fileName:found:known:)`` for another version,
  ///   ``DatabaseError/damaged(_:)`` for anything else that does not hold.
  package static func read(
    _ bytes: RawSpan, kind: FileKind, fileName: String
  ) throws(DatabaseError) -> FileHeader {
    let finding: Finding
    do throws(FormatError) {
      finding = try decode(bytes, kind: kind)
    } catch {
      throw .damaged(Corruption(error, fileName: fileName))
    }
    switch finding {
    case .header(let header): return header
    case .otherVersion(let version):
      throw .unsupportedFormat(
        fileName: fileName, found: version, known: FormatVersion.current)
    }
  }
}
