import KVTestSupport

@testable import KVEngine

/// States of stores, made at random.
enum ManifestSample {
  static let store = StoreIdentity(high: 0xAAAA_BBBB_CCCC_DDDD, low: 0x0123_4567_89AB_CDEF)

  /// The state of a store without segments.
  static func empty(generation: UInt64 = 1) -> Manifest {
    Manifest(
      store: store, generation: generation, publishedAt: 1_700_000_000_000_000,
      flushedSequence: 0, nextFileNumber: 2, logs: [1], segments: [], spaces: [])
  }

  /// A state with segments, some of several spaces, and with user spaces.
  static func random(seed: UInt64) -> Manifest {
    var random = SeededGenerator(seed: seed)
    var manifest = empty(generation: 1 + seed)
    manifest.publishedAt = Int64(seed) * 1_000_003 - 3_000_000
    var sequence: SequenceNumber = 0
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let lowest = sequence + 1
      sequence += UInt64.random(in: 1...1_000_000, using: &random)
      manifest.segments.append(
        segment(
          number: manifest.nextFileNumber, lowest: lowest, highest: sequence, random: &random))
      manifest.nextFileNumber += UInt64.random(in: 1...300, using: &random)
    }
    manifest.flushedSequence = sequence
    manifest.logs = (0..<UInt64.random(in: 1...3, using: &random)).map {
      manifest.nextFileNumber + $0
    }
    manifest.nextFileNumber += 3
    for index in 0..<Int.random(in: 0...3, using: &random) {
      let name = index == 0 ? [] : random.bytes(Int.random(in: 1...255, using: &random))
      manifest.spaces.append(NamedSpace(code: 64 + UInt8(index), name: name))
    }
    return manifest
  }

  private static func segment(
    number: UInt64, lowest: SequenceNumber, highest: SequenceNumber,
    random: inout SeededGenerator
  ) -> SegmentDescriptor {
    var spaces: [SpaceBounds] = []
    for code in [1, 2, 64, 200] as [UInt8] where random.coin() {
      let entryCount = Int.random(in: 1...Int(UInt32.max), using: &random)
      spaces.append(
        SpaceBounds(
          code: code, lower: [code] + random.bytes(Int.random(in: 0...63, using: &random)),
          upper: [code] + [UInt8](repeating: 0xFF, count: 63), entryCount: entryCount,
          tombstoneCount: Int.random(in: 0...entryCount, using: &random),
          change: Int.random(in: -entryCount...entryCount, using: &random),
          byteCount: Int.random(in: 0...Limits.Segment.maximumByteCount, using: &random)))
    }
    return SegmentDescriptor(
      number: number,
      identity: StoreIdentity(high: random.next(), low: random.next()),
      byteCount: Int.random(in: 0...Limits.Segment.maximumByteCount, using: &random),
      footerChecksum: UInt32.random(in: 0...UInt32.max, using: &random),
      tier: Int.random(in: 0...255, using: &random),
      lowestSequence: lowest, highestSequence: highest, spaces: spaces)
  }

  /// A file of two copies with this body, whatever it says; the checksums hold.
  static func file(body: [UInt8], generation: UInt64 = 1) -> [UInt8] {
    var copy = FileHeader(kind: .manifest, identity: store, number: generation).encode()
    copy.append(u32: UInt32(body.count))
    copy.append(contentsOf: body)
    copy.append(u32: CRC32C.checksum(copy.rawBytes))
    copy.pad(toMultipleOf: 512)
    return copy + copy
  }

  /// The part of an encoded state that its checksum covers and that is neither header nor length.
  static func body(of manifest: Manifest) -> [UInt8] {
    let bytes = manifest.encode()
    let start = FileHeader.byteCount + 4
    let count = bytes[FileHeader.byteCount..<start].reversed().reduce(0) { $0 << 8 | Int($1) }
    return Array(bytes[start..<(start + count)])
  }

  static func decode(_ bytes: [UInt8]) throws(DatabaseError) -> Manifest {
    try Manifest.decode(bytes.rawBytes, fileName: "MANIFEST")
  }
}
