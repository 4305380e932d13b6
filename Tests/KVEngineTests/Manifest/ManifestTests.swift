import KVTestSupport
import Testing

@testable import KVEngine

/// The state of a store as bytes.
@Suite struct ManifestTests {
  /// Where the first copy ends, without its padding.
  private func contentByteCount(_ manifest: Manifest) -> Int {
    FileHeader.byteCount + 4 + ManifestSample.body(of: manifest).count + 4
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func statesComeBack(seed: UInt64) throws {
    let manifest = ManifestSample.random(seed: seed)
    #expect(manifest.brokenInvariant == nil)
    let bytes = manifest.encode()
    #expect(bytes.count.isMultiple(of: 1024))
    #expect(bytes.prefix(bytes.count / 2).elementsEqual(bytes.suffix(bytes.count / 2)))
    #expect(try ManifestSample.decode(bytes) == manifest)
    #expect(Manifest.damagedCopies(bytes.rawBytes, fileName: "MANIFEST").isEmpty)
  }

  @Test func aFlippedBitInOneCopyIsSurvivedByTheOther() throws {
    let manifest = ManifestSample.random(seed: 3)
    var bytes = manifest.encode()
    for bit in 0..<(8 * bytes.count) {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(try ManifestSample.decode(bytes) == manifest, "bit \(bit)")
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
  }

  @Test func theVerificationNamesTheCopyThatIsDamaged() {
    let bytes = ManifestSample.random(seed: 3).encode()
    let half = bytes.count / 2
    for offset in stride(from: 0, to: bytes.count, by: 13) {
      var bytes = bytes
      bytes[offset] ^= 0x40
      let damage = Manifest.damagedCopies(bytes.rawBytes, fileName: "MANIFEST")
      #expect(damage.count == 1, "byte \(offset)")
      #expect(damage.first.map { $0.offset >= half } == (offset >= half), "byte \(offset)")
    }
  }

  @Test func flippedBitsInBothCopiesAreDamage() {
    let original = ManifestSample.random(seed: 3).encode()
    var random = SeededGenerator(seed: 31)
    for bit in 0..<(4 * original.count) {
      var bytes = original
      let other = 4 * original.count + Int.random(in: 0..<(4 * original.count), using: &random)
      for bit in [bit, other] { bytes[bit / 8] ^= 1 << UInt8(bit % 8) }
      let error = #expect(throws: DatabaseError.self, "bits \(bit) and \(other)") {
        try ManifestSample.decode(bytes)
      }
      #expect(isDamaged(error))
    }
  }

  @Test func everyTruncationThatLeavesACopyIsSurvivedAndEveryOtherIsDamage() throws {
    let manifest = ManifestSample.random(seed: 5)
    let bytes = manifest.encode()
    let content = contentByteCount(manifest)
    for count in 0..<bytes.count {
      let part = Array(bytes.prefix(count))
      if count >= content {
        #expect(try ManifestSample.decode(part) == manifest, "\(count) bytes")
        let damage = Manifest.damagedCopies(part.rawBytes, fileName: "MANIFEST")
        #expect(!damage.isEmpty, "\(count) bytes")
      } else {
        let error = #expect(throws: DatabaseError.self, "\(count) bytes") {
          try ManifestSample.decode(part)
        }
        #expect(isDamaged(error))
      }
    }
  }

  @Test func whatStandsBehindTheCopiesDoesNotHideTheFirst() throws {
    let manifest = ManifestSample.random(seed: 6)
    var random = SeededGenerator(seed: 61)
    for count in [1, 2, 511, 512, 1024, 5000] {
      #expect(try ManifestSample.decode(manifest.encode() + random.bytes(count)) == manifest)
    }
  }

  @Test(arguments: [1, 7, 0x0102] as [UInt16])
  func anotherVersionIsToldFromDamageInEitherCopy(version: UInt16) {
    var other = ManifestSample.empty().encode()
    for start in [0, other.count / 2] {
      var header = Array(other[start..<(start + FileHeader.byteCount - 4)])
      header[8] = UInt8(truncatingIfNeeded: version)
      header[9] = UInt8(version >> 8)
      header.append(u32: CRC32C.checksum(header.rawBytes))
      other.replaceSubrange(start..<(start + header.count), with: header)
    }
    let expected = DatabaseError.unsupportedFormat(
      fileName: "MANIFEST", found: version, known: FormatVersion.current)
    #expect(throws: expected) { try ManifestSample.decode(other) }
    var damagedFirst = other
    damagedFirst[100] ^= 1
    damagedFirst[3] ^= 1
    #expect(throws: expected) { try ManifestSample.decode(damagedFirst) }
  }

  @Test(.bug(id: "B01"), arguments: [0, 1, 47, 48, 511, 1024, 4096])
  func aFileOfZerosIsDamage(count: Int) {
    let error = #expect(throws: DatabaseError.self) {
      try ManifestSample.decode([UInt8](repeating: 0, count: count))
    }
    #expect(isDamaged(error))
  }

  @Test func aFileOfAnotherKindIsDamage() {
    var bytes = ManifestSample.empty().encode()
    let header = FileHeader(kind: .log, identity: ManifestSample.store, number: 1).encode()
    for start in [0, bytes.count / 2] {
      bytes.replaceSubrange(start..<(start + header.count), with: header)
    }
    let error = #expect(throws: DatabaseError.self) { try ManifestSample.decode(bytes) }
    #expect(isDamaged(error))
  }

  @Test func theFilesThatAreLiveAreLogsAndSegments() {
    let manifest = ManifestSample.random(seed: 9)
    let names =
      manifest.logs.map { FileName.log($0) } + manifest.segments.map { .segment($0.number) }
    #expect(manifest.fileNames == Set(names))
    #expect(manifest.fileNames.count == names.count)
  }
}
