import Testing

@testable import KVEngine

@Suite struct SegmentFormatTests {
  private let identity = StoreIdentity(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)
  private let head = FrameHead(
    kind: .data, codec: .lz4, spaceCode: 64, storedByteCount: 1000, decodedByteCount: 4000,
    bodyChecksum: 0xDEAD_BEEF)

  private func decode(
    _ bytes: [UInt8], at offset: Int = 500, limit: Int = 5000
  ) throws(FormatError) -> FrameHead {
    try FrameHead.decode(bytes.rawBytes, at: offset, of: identity, limit: limit)
  }

  /// A head with any bytes in front of a checksum that holds.
  private func sealed(_ bytes: [UInt8], at offset: Int = 500) -> [UInt8] {
    var checksum = CRC32C()
    checksum.update(u64: identity.high)
    checksum.update(u64: identity.low)
    checksum.update(u64: UInt64(offset))
    let front = Array(bytes.prefix(20))
    checksum.update(front.rawBytes)
    var sealed = front
    sealed.append(u32: checksum.value)
    return sealed
  }

  @Test func aHeadComesBack() throws {
    let bytes = head.encode(at: 500, of: identity)
    #expect(bytes.count == 24)
    #expect(bytes == sealed(bytes))
    #expect(try decode(bytes) == head)
  }

  @Test func aHeadWithAnyBitChangedIsRefused() {
    let bytes = head.encode(at: 500, of: identity)
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: FormatError.self, "bit \(bit)") { try decode(changed) }
    }
    for count in 0..<bytes.count {
      #expect(throws: FormatError.self) { try decode(Array(bytes.prefix(count))) }
    }
  }

  @Test func aHeadHoldsAtItsPlaceInItsSegmentOnly() {
    let bytes = head.encode(at: 500, of: identity)
    #expect(throws: FormatError.self) { try decode(bytes, at: 501) }
    let other = StoreIdentity(high: identity.high, low: identity.low ^ 1)
    #expect(throws: FormatError.self) {
      try FrameHead.decode(bytes.rawBytes, at: 500, of: other, limit: 5000)
    }
  }

  @Test func aHeadBeyondTheFramesIsRefused() throws {
    let bytes = head.encode(at: 500, of: identity)
    #expect(try decode(bytes, limit: 1524) == head)
    for limit in [1523, 524, 500, 0] {
      #expect(throws: FormatError.self) { try decode(bytes, limit: limit) }
    }
  }

  @Test(arguments: [
    (0, 0), (0, 7), (1, 3), (1, 0xFF), (2, 1), (3, 0), (4, 1), (7, 1), (11, 0xFF), (15, 0xFF),
  ])
  func headsWithUnknownOrImpossibleFieldsAreRefused(place: Int, value: UInt8) throws {
    var bytes = head.encode(at: 500, of: identity)
    bytes[place] = value
    #expect(throws: FormatError.self) { try decode(sealed(bytes)) }
  }

  @Test func sizesMustFitTheCodec() {
    for (codec, stored, decoded) in [(0, 10, 11), (0, 11, 10), (1, 10, 10), (1, 11, 10)] {
      var bytes: [UInt8] = [1, UInt8(codec), 0, 9, 0, 0, 0, 0]
      bytes.append(u32: UInt32(stored))
      bytes.append(u32: UInt32(decoded))
      bytes.append(u32: 0)
      #expect(throws: FormatError.self) { try decode(sealed(bytes)) }
    }
  }

  @Test(arguments: [(BlockKind.data, 65_537), (.index, 1000), (.filter, 1000)])
  func onlyDataBlocksInReachHaveADictionary(kind: BlockKind, decoded: Int) {
    var bytes: [UInt8] = [kind.rawValue, 2, 0, kind.belongsToSpace ? 9 : 0, 0, 0, 0, 0]
    bytes.append(u32: 10)
    bytes.append(u32: UInt32(decoded))
    bytes.append(u32: 0)
    #expect(throws: FormatError.self) { try decode(sealed(bytes)) }
  }

  @Test func codesOfTheFormatStay() {
    #expect(BlockKind.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6])
    #expect(BlockCodecID.allCases.map(\.rawValue) == [0, 1, 2])
  }

  // MARK: Footer

  private func footer() -> (bytes: [UInt8], reference: SegmentReference) {
    let bytes = SegmentFooter(
      identity: identity, fileByteCount: 9000, index: BlockHandle(offset: 8000, byteCount: 900),
      properties: BlockHandle(offset: 7000, byteCount: 1000)
    ).encode()
    let reference = SegmentReference(
      number: 3, identity: identity, byteCount: 9000,
      footerChecksum: SegmentFooter.checksum(of: bytes.rawBytes))
    return (bytes, reference)
  }

  @Test func aFooterComesBack() throws {
    let (bytes, reference) = footer()
    #expect(bytes.count == 72)
    #expect(Array(bytes[64..<68]) == Array("MKVF".utf8))
    guard case .footer(let found) = try SegmentFooter.decode(bytes.rawBytes, of: reference) else {
      Issue.record("another version")
      return
    }
    #expect(found.index == BlockHandle(offset: 8000, byteCount: 900))
    #expect(found.properties == BlockHandle(offset: 7000, byteCount: 1000))
  }

  @Test func aFooterWithAnyBitChangedIsRefused() {
    let (bytes, reference) = footer()
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: FormatError.self, "bit \(bit)") {
        try SegmentFooter.decode(changed.rawBytes, of: reference)
      }
    }
  }

  @Test func theFooterOfAnotherSegmentIsRefused() {
    let (bytes, reference) = footer()
    for other in [
      SegmentReference(
        number: 3, identity: StoreIdentity(high: 1, low: 1), byteCount: 9000,
        footerChecksum: reference.footerChecksum),
      SegmentReference(
        number: 3, identity: identity, byteCount: 9001, footerChecksum: reference.footerChecksum),
      SegmentReference(number: 3, identity: identity, byteCount: 9000, footerChecksum: 1),
      SegmentReference(
        number: 3, identity: identity, byteCount: 10, footerChecksum: reference.footerChecksum),
    ] {
      #expect(throws: FormatError.self) {
        try SegmentFooter.decode(bytes.rawBytes, of: other)
      }
    }
  }

  @Test func aFooterOfANewerVersionIsNamedAsSuch() throws {
    var (bytes, reference) = footer()
    bytes.replaceSubrange(60..<62, with: [9, 1])
    bytes.removeLast(4)
    let checksum = CRC32C.checksum(bytes.rawBytes)
    bytes.append(u32: checksum)
    reference = SegmentReference(
      number: 3, identity: identity, byteCount: 9000, footerChecksum: checksum)
    guard case .otherVersion(0x109) = try SegmentFooter.decode(bytes.rawBytes, of: reference)
    else {
      Issue.record("not refused by its version")
      return
    }
  }
}
