import KVTestSupport
import MemoCore
import Testing

@testable import KVEngine

/// Single decoders with bytes that no checksum has looked at: T15 of the test plan (promise P10).
///
/// What they say does not matter; that they say it, within bounds, does.
@Suite struct DecoderFuzzTests {
  /// Decoders of bytes, each with an input that it takes.
  enum Decoder: String, CaseIterable, Sendable {
    case log, manifest, footer, block, index, filter, properties, lz4, memo, header, operations

    static let identity = StoreIdentity(high: 5, low: 6)

    var inputs: [[UInt8]] {
      get throws {
        let store = try SmallStore()
        let files = try store.files.storeFiles()
        let segment = files[FileName.segment(store.segmentNumbers[0]).text] ?? []
        switch self {
        case .log: return [files[FileName.log(store.logNumber).text] ?? []]
        case .manifest: return files.filter { $0.key.hasPrefix("MANIFEST") }.map(\.value)
        case .footer: return [Array(segment.suffix(SegmentFooter.byteCount))]
        case .header: return [Array(segment.prefix(FileHeader.byteCount))]
        case .block: return [Self.block(count: 40), Self.block(count: 3)]
        case .index: return [Self.indexBlock]
        case .filter: return [BloomFilter.encode(hashes: (0..<40).map { $0 &* 0x9E37_79B9 })]
        case .properties: return [Self.sampleProperties]
        case .lz4: return [Self.compressed]
        case .memo:
          return [
            MemoRecord.encode(
              Memo(id: MemoID(7), createdAt: .now, body: String(repeating: "memo ", count: 9)))
          ]
        case .operations:
          var batch = WriteBatch()
          batch.put([1, 2, 3], forKey: [1])
          batch.delete([2, 2])
          return [batch.bytes]
        }
      }
    }

    private static func block(count: Int) -> [UInt8] {
      var builder = BlockBuilder(hasZeroBase: false)
      for number in 0..<count {
        let key = [64, 1, UInt8(number)] + [UInt8](repeating: 5, count: number % 7)
        let value = [UInt8](repeating: 9, count: number % 20)
        let tag = EntryTag(sequence: UInt64(1000 - number), kind: .put)
        _ = builder.append(key: key.rawBytes, tag: tag, value: value.rawBytes)
      }
      var block: [UInt8] = []
      builder.finish(into: &block)
      return block
    }

    private static var indexBlock: [UInt8] {
      var builder = BlockBuilder(hasZeroBase: true)
      for number in 0..<20 as Range<UInt8> {
        let handle = BlockHandle(offset: 48 + Int(number) * 100, byteCount: 100)
        let value = IndexEntry(handle: handle, entryCount: 3, change: 0).encode()
        let key = [64, number] as [UInt8]
        let tag = EntryTag(sequence: 1, kind: .put)
        _ = builder.append(key: key.rawBytes, tag: tag, value: value.rawBytes)
      }
      var block: [UInt8] = []
      builder.finish(into: &block)
      return block
    }

    private static var sampleProperties: [UInt8] {
      var space = SpaceSummary(code: 64, firstKey: [64, 1])
      space.lastKey = [64, 9]
      let filter = FilterHandle(
        spaceCode: 64, prefixByteCount: 0, handle: BlockHandle(offset: 500, byteCount: 60))
      return Properties(
        lowestSequence: 1, highestSequence: 9, spaces: [space], filters: [filter]
      ).encode()
    }

    private static var compressed: [UInt8] {
      let source = (0..<400).map { UInt8($0 % 37 < 20 ? 3 : $0 % 251) }
      let target = ByteBuffer(byteCount: 800)
      let count = LZ4Codec.compress(source.rawBytes, into: target.storage) ?? 0
      return [UInt8](copying: target.bytes.extracting(first: count))
    }

    /// Decodes and looks at everything that came out.
    func decode(_ bytes: [UInt8]) throws {
      switch self {
      case .log:
        let manifest = bytes.count > 32 ? bytes : bytes + [UInt8](repeating: 0, count: 32)
        var reader = ByteReader(manifest.rawBytes, structure: "log")
        try reader.skip(16)
        let store = StoreIdentity(high: try reader.u64(), low: try reader.u64())
        let number = try reader.u64()
        _ = try? LogReader.readablePrefix(
          of: ByteBuffer(copying: bytes), number: number, stores: [store])
        _ = try LogReader.contents(of: ByteBuffer(copying: bytes), number: number, store: store)
      case .manifest:
        _ = Manifest.damagedCopies(bytes.rawBytes, fileName: "MANIFEST")
        _ = try Manifest.decode(bytes.rawBytes, fileName: "MANIFEST")
      case .footer:
        let reference = SegmentReference(
          number: 1, identity: Self.identity, byteCount: 2000,
          footerChecksum: SegmentFooter.checksum(of: (bytes + bytes + bytes).rawBytes))
        _ = try SegmentFooter.decode(bytes.rawBytes, of: reference)
      case .header: _ = try FileHeader.decode(bytes.rawBytes, kind: .segment)
      case .block: try walk(try Block(ByteBuffer(copying: bytes), structure: "data block"))
      case .index:
        let index = try IndexBlock(ByteBuffer(copying: bytes), offset: 900, limit: 4000)
        _ = try index.entry(forFirstAtOrAfter: ([64, 5] as [UInt8]).rawBytes, 1)
        try walk(index.block)
        _ = try IndexEntry.decode(bytes.rawBytes, limit: 4000)
      case .filter:
        let filter = try BloomFilter(ByteBuffer(copying: bytes), prefixByteCount: 0)
        for number in 0..<50 as Range<UInt8> { _ = filter.mayContain(key: [64, number].rawBytes) }
      case .properties: _ = try Properties.decode(bytes.rawBytes, limit: 4000)
      case .lz4:
        // In a buffer of its own, whose borders a sanitizer knows.
        let target = ByteBuffer(byteCount: 400)
        try LZ4Codec.decompress(bytes.rawBytes, into: target.storage)
      case .memo:
        _ = try MemoRecord.decode(bytes.rawBytes, key: MemoKey(microseconds: 5, arrival: 6))
      case .operations:
        var reader = OperationReader(bytes.rawBytes, count: 2)
        while let operation = try reader.next() {
          _ = bytes[operation.key].count + bytes[operation.value].count
        }
      }
    }

    private func walk(_ block: Block) throws {
      for isForward in [true, false] {
        var reader = BlockReader()
        reader.take(block)
        try isForward ? reader.seekToFirst() : reader.seekToLast()
        var count = 0
        while reader.isValid {
          _ = reader.key.byteCount + reader.value.byteCount
          try isForward ? reader.next() : reader.previous()
          count += 1
          guard count < 100_000 else { throw Problem("a walk has no end") }
        }
      }
      for key in [[64], [64, 1, 9], [64, 1, 200], [255]] as [[UInt8]] {
        var reader = BlockReader()
        reader.take(block)
        try reader.seek(toFirstAtOrAfter: key.rawBytes, 5)
        while reader.isValid { try reader.next() }
      }
    }
  }

  @Test(arguments: Decoder.allCases)
  func aDecoderEndsInsideOfItsInput(decoder: Decoder) throws {
    let inputs = try decoder.inputs
    let run = FuzzRun(decoder.rawValue, count: 20_000)
    func attempt(_ bytes: [UInt8], _ name: String) {
      do {
        try decoder.decode(bytes)
      } catch {
        if error is Problem { Issue.record("\(name): \(error)") }
      }
    }
    for input in inputs {
      // The unchanged input is taken.
      if decoder != .footer, decoder != .index { try decoder.decode(input) }
      for count in 0..<min(input.count, 600) { attempt(Array(input.prefix(count)), "cut") }
    }
    for finding in run.findings { attempt(finding.bytes, finding.name) }
    run.run { seed in
      var mutator = ByteMutator(seed: seed)
      var bytes = mutator.mutated(inputs[mutator.number(below: inputs.count)])
      while mutator.generator.coin() { bytes = mutator.mutated(bytes) }
      attempt(repaired(bytes, decoder, seed), "seed \(seed)")
    }
  }

  /// Half of the inputs with a checksum get one that holds.
  private func repaired(_ bytes: [UInt8], _ decoder: Decoder, _ seed: UInt64) -> [UInt8] {
    var bytes = bytes
    func put(at end: Int) {
      guard end >= 0, end + 4 <= bytes.count else { return }
      let checksum = CRC32C.checksum(Array(bytes[..<end]).rawBytes)
      for index in 0..<4 {
        bytes[end + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index))
      }
    }
    if seed % 2 == 0 { return bytes }
    switch decoder {
    case .footer, .header: put(at: bytes.count - 4)
    case .manifest:
      put(at: FileHeader.byteCount - 4)
      guard bytes.count > 52 else { break }
      let count = Int(bytes[48]) | Int(bytes[49]) << 8
      put(at: 52 + count)
    case .log:
      put(at: FileHeader.byteCount - 4)
      put(at: LogFormat.headByteCount - 4)
    default: break
    }
    return bytes
  }
}
