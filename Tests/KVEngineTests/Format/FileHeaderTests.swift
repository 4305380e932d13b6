import Testing

@testable import KVEngine

/// The common head of all files.
@Suite struct FileHeaderTests {
  private let header = FileHeader(
    kind: .segment, identity: StoreIdentity(high: 0x0102_0304_0506_0708, low: 9), number: 77)

  private func isRefused(_ bytes: [UInt8], as kind: FileKind = .segment) -> Bool {
    do throws(DatabaseError) {
      _ = try FileHeader.read(bytes.rawBytes, kind: kind, fileName: "000077.seg")
      return false
    } catch {
      guard case .damaged(let corruption) = error else { return false }
      return corruption.fileName == "000077.seg" && corruption.structure == "file header"
    }
  }

  @Test(arguments: FileKind.allCases) func aHeaderComesBack(kind: FileKind) throws {
    var header = header
    header.kind = kind
    let bytes = header.encode()
    #expect(bytes.count == FileHeader.byteCount)
    #expect(Array(bytes.prefix(7)) == Array("MemoKV".utf8) + [0x1A])
    let read = try FileHeader.read(bytes.rawBytes, kind: kind, fileName: "")
    #expect(read == header)
    let longer = try FileHeader.read((bytes + [1, 2]).rawBytes, kind: kind, fileName: "")
    #expect(longer == header)
  }

  @Test func everyFlippedBitIsRefused() {
    var bytes = header.encode()
    for bit in 0..<(8 * bytes.count) {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(isRefused(bytes), "bit \(bit)")
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
  }

  @Test func everyShorterHeaderIsRefused() {
    let bytes = header.encode()
    for count in 0..<bytes.count {
      #expect(isRefused(Array(bytes.prefix(count))), "\(count) bytes")
    }
  }

  @Test(arguments: FileKind.allCases) func anotherKindOfFileIsRefused(kind: FileKind) {
    #expect(isRefused(header.encode(), as: kind) == (kind != .segment))
  }

  /// A header changed on purpose, its checksum right.
  private func changed(at offset: Int, to byte: UInt8) -> [UInt8] {
    var bytes = header.encode()
    bytes[offset] = byte
    bytes.removeLast(4)
    bytes.append(u32: CRC32C.checksum(bytes.rawBytes))
    return bytes
  }

  @Test func anotherVersionIsToldFromDamage() {
    #expect(
      throws: DatabaseError.unsupportedFormat(fileName: "000077.seg", found: 0x0102, known: 0)
    ) {
      var bytes = changed(at: 8, to: 2)
      bytes[9] = 1
      bytes.removeLast(4)
      bytes.append(u32: CRC32C.checksum(bytes.rawBytes))
      _ = try FileHeader.read(bytes.rawBytes, kind: .segment, fileName: "000077.seg")
    }
  }

  @Test(arguments: [(7, 0x58), (10, 1), (11, 1), (12, 1), (15, 1), (40, 1), (43, 0x80)])
  func reservedFieldsAndUnknownKindsAreRefused(offset: Int, byte: UInt8) {
    #expect(isRefused(changed(at: offset, to: byte)))
  }

  @Test func identitiesAreRandomAndWrittenAsDigits() {
    #expect(StoreIdentity.random() != StoreIdentity.random())
    #expect(header.identity.text == "01020304050607080000000000000009")
    #expect(StoreIdentity(high: .max, low: 0).text.utf8.count == 32)
  }
}
