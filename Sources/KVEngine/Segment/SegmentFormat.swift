// FORMAT.md section 7: every number of the segment file except those of blocks' insides.
//
//  segment file
//  +--------+-------- - -+------------+---------- - -+------------+-------+--------+
//  | header | data frames | dictionary | filter frames | properties | index | footer |
//  +--------+-------- - -+------------+---------- - -+------------+-------+--------+
//    48 B                                                                   72 B
//
// A frame is a head of 24 bytes and the stored bytes of one block; the next frame follows directly.
// The head says all that is needed to decode the block, so a scan from the file's start needs
// neither footer nor index. Only dense segments have a dictionary (`SegmentDictionary`); a gram
// frame behind the filters has its code reserved.

/// What a block is for.
///
/// Never renumber (FORMAT.md 13).
package enum BlockKind: UInt8, CaseIterable, Sendable {
  case data = 1
  case index = 2
  case filter = 3
  case properties = 4
  case dictionary = 5
  case grams = 6

  /// Whether all of such a block belongs to one space.
  var belongsToSpace: Bool { self == .data || self == .filter }
}

/// How a block's bytes are stored.
///
/// Never renumber (FORMAT.md 13).
package enum BlockCodecID: UInt8, CaseIterable, Sendable {
  case stored = 0
  case lz4 = 1
  /// Matches reach into the segment's dictionary.
  case lz4WithDictionary = 2
}

/// Where a frame is in its file, head included.
package struct BlockHandle: Hashable, Sendable {
  package let offset: Int
  package let byteCount: Int

  package init(offset: Int, byteCount: Int) {
    self.offset = offset
    self.byteCount = byteCount
  }

  package var range: Range<Int> { offset..<offset + byteCount }
}

/// The first 24 bytes of a frame.
package struct FrameHead: Equatable, Sendable {
  package static let byteCount = 24

  package let kind: BlockKind
  package let codec: BlockCodecID
  /// Space of all entries of the block; 0 for a block that is not of one space.
  package let spaceCode: UInt8
  package let storedByteCount: Int
  package let decodedByteCount: Int
  /// CRC32C of the stored bytes.
  package let bodyChecksum: UInt32

  /// Bytes of the whole frame.
  package var frameByteCount: Int { Self.byteCount + storedByteCount }

  /// The head's bytes, bound to the segment and the place by their checksum.
  package func encode(at offset: Int, of identity: StoreIdentity) -> [UInt8] {
    var bytes = [kind.rawValue, codec.rawValue, 0, spaceCode]  // transform id 0
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(u32: 0)  // key id
    bytes.append(u32: UInt32(storedByteCount))
    bytes.append(u32: UInt32(decodedByteCount))
    bytes.append(u32: bodyChecksum)
    bytes.append(u32: Self.checksum(of: bytes.rawBytes, at: offset, of: identity))
    return bytes
  }

  /// Decodes a head; lengths are believed only after the checksum.
  ///
  /// No frame goes beyond `limit`, the place in the file where frames end.
  package static func decode(
    _ bytes: RawSpan, at offset: Int, of identity: StoreIdentity, limit: Int
  ) throws(FormatError) -> FrameHead {
    var reader = ByteReader(bytes, structure: "frame head")
    guard bytes.byteCount >= byteCount else { throw reader.failure("ends too early") }
    let covered = bytes.extracting(first: byteCount - 4)
    var end = ByteReader(bytes.extracting(byteCount - 4..<byteCount), structure: "frame head")
    guard try end.u32() == checksum(of: covered, at: offset, of: identity) else {
      throw reader.failure("checksum does not match")
    }
    guard let kind = BlockKind(rawValue: try reader.u8()) else {
      throw reader.failure("unknown kind of block")
    }
    guard let codec = BlockCodecID(rawValue: try reader.u8()) else {
      throw reader.failure("unknown codec")
    }
    guard try reader.u8() == 0 else { throw reader.failure("unknown transform") }
    let spaceCode = try reader.u8()
    guard (spaceCode != 0) == kind.belongsToSpace else { throw reader.failure("wrong space") }
    guard try reader.u32() == 0 else { throw reader.failure("unknown key id") }
    let stored = Int(try reader.u32())
    let decoded = Int(try reader.u32())
    let maximum = Limits.Block.maximumByteCount
    guard decoded <= maximum, codec == .stored ? stored == decoded : stored < decoded,
      stored <= limit - offset - byteCount
    else { throw reader.failure("byte counts are out of range") }
    if codec == .lz4WithDictionary {
      guard kind == .data, decoded <= Limits.Block.dictionaryBlockByteCount else {
        throw reader.failure("such a block has no dictionary")
      }
    }
    return FrameHead(
      kind: kind, codec: codec, spaceCode: spaceCode, storedByteCount: stored,
      decodedByteCount: decoded, bodyChecksum: try reader.u32())
  }

  /// A checksum of the place comes first, so a valid frame in another place does not verify.
  private static func checksum(
    of bytes: RawSpan, at offset: Int, of identity: StoreIdentity
  ) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(u64: identity.high)
    checksum.update(u64: identity.low)
    if !isPlanted(.misplacedBlock) { checksum.update(u64: UInt64(offset)) }
    checksum.update(bytes)
    return checksum.value
  }
}

/// The last 72 bytes of a segment.
package struct SegmentFooter: Equatable, Sendable {
  package static let byteCount = 72
  private static let magic: UInt32 = 0x4656_4B4D  // "MKVF"

  package let identity: StoreIdentity
  package let fileByteCount: Int
  package let index: BlockHandle
  package let properties: BlockHandle
  /// The copy of the dictionary; `nil` in a segment that is not dense.
  package let dictionary: BlockHandle?

  package init(
    identity: StoreIdentity, fileByteCount: Int, index: BlockHandle, properties: BlockHandle,
    dictionary: BlockHandle? = nil
  ) {
    self.dictionary = dictionary
    self.identity = identity
    self.fileByteCount = fileByteCount
    self.index = index
    self.properties = properties
  }

  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(u64: identity.high)
    bytes.append(u64: identity.low)
    bytes.append(u64: UInt64(fileByteCount))
    bytes.append(u64: UInt64(index.offset))
    bytes.append(u32: UInt32(index.byteCount))
    bytes.append(u32: UInt32(properties.byteCount))
    bytes.append(u64: UInt64(properties.offset))
    bytes.append(u64: UInt64(dictionary?.offset ?? 0))
    bytes.append(u32: UInt32(dictionary?.byteCount ?? 0))
    bytes.append(u16: FormatVersion.current)
    bytes.append(u16: 0)  // reserved
    bytes.append(u32: Self.magic)
    bytes.append(u32: CRC32C.checksum(bytes.rawBytes))
    return bytes
  }

  /// The checksum at the end of a footer, which a MANIFEST keeps.
  package static func checksum(of footer: RawSpan) -> UInt32 {
    CRC32C.checksum(footer.extracting(first: byteCount - 4))
  }

  /// What a footer's bytes turned out to be.
  package enum Finding {
    case footer(SegmentFooter)
    case otherVersion(UInt16)
  }

  /// Decodes the footer of a segment and compares it with what names that segment.
  package static func decode(
    _ bytes: RawSpan, of reference: SegmentReference
  ) throws(FormatError) -> Finding {
    var reader = ByteReader(bytes, structure: "segment footer")
    guard bytes.byteCount == byteCount else { throw reader.failure("ends too early") }
    let found = StoreIdentity(high: try reader.u64(), low: try reader.u64())
    let foundByteCount = try reader.u64()
    let indexOffset = try reader.u64()
    let indexByteCount = Int(try reader.u32())
    let propertiesByteCount = Int(try reader.u32())
    let propertiesOffset = try reader.u64()
    let dictionaryOffset = try reader.u64()
    let dictionaryByteCount = Int(try reader.u32())
    let version = try reader.u16()
    let reserved = try reader.u16()
    guard try reader.u32() == magic else { throw reader.failure("not a segment footer") }
    let stored = try reader.u32()
    guard stored == Self.checksum(of: bytes) else {
      throw reader.failure("checksum does not match")
    }
    guard version == FormatVersion.current else { return .otherVersion(version) }
    guard found == reference.identity, stored == reference.footerChecksum else {
      throw reader.failure("footer of another segment")
    }
    guard foundByteCount == UInt64(clamping: reference.byteCount), reserved == 0 else {
      throw reader.failure("field is out of range")
    }
    let limit = reference.byteCount - byteCount
    let hasDictionary = (dictionaryOffset, dictionaryByteCount) != (0, 0)
    let dictionary = handle(dictionaryOffset, dictionaryByteCount, limit: limit)
    guard
      let index = handle(indexOffset, indexByteCount, limit: limit),
      let properties = handle(propertiesOffset, propertiesByteCount, limit: limit),
      !hasDictionary || dictionary != nil
    else { throw reader.failure("block is outside the file") }
    return .footer(
      SegmentFooter(
        identity: found, fileByteCount: reference.byteCount, index: index, properties: properties,
        dictionary: dictionary))
  }

  private static func handle(_ offset: UInt64, _ byteCount: Int, limit: Int) -> BlockHandle? {
    guard byteCount >= FrameHead.byteCount, byteCount <= limit,
      offset >= UInt64(FileHeader.byteCount), offset <= UInt64(limit - byteCount)
    else { return nil }
    return BlockHandle(offset: Int(offset), byteCount: byteCount)
  }
}

/// What names one segment beyond doubt: a MANIFEST holds this of each.
package struct SegmentReference: Hashable, Sendable {
  package let number: UInt64
  package let identity: StoreIdentity
  package let byteCount: Int
  package let footerChecksum: UInt32

  package init(number: UInt64, identity: StoreIdentity, byteCount: Int, footerChecksum: UInt32) {
    self.number = number
    self.identity = identity
    self.byteCount = byteCount
    self.footerChecksum = footerChecksum
  }
}
