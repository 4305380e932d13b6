@testable import KVEngine

/// A segment of two blocks whose checksums hold, with whatever a test puts into it.
struct SegmentForgery {
  var blocks: [[SegmentTestEntry]] = [
    [
      SegmentTestEntry(key: [3, 1], sequence: 4, kind: .insertion, value: [1]),
      SegmentTestEntry(key: [3, 2], sequence: 5),
    ],
    [SegmentTestEntry(key: [3, 2], sequence: 3), SegmentTestEntry(key: [3, 9], sequence: 9)],
  ]
  var spaceCode: UInt8 = 3
  var filterKeys: [[UInt8]] = [[3, 1], [3, 2], [3, 9]]
  var changeIndex: (inout [IndexEntry]) -> Void = { _ in }
  var changeProperties: (inout Properties) -> Void = { _ in }
  var changeBlock: (inout [UInt8]) -> Void = { _ in }
  var hasLooseFrame = false

  func write() -> (bytes: [UInt8], reference: SegmentReference) {
    let identity = StoreIdentity(high: 5, low: 6)
    var bytes = FileHeader(kind: .segment, identity: identity, number: 7).encode()
    var scratch = ByteBuffer(byteCount: 0)
    func add(_ block: [UInt8], _ kind: BlockKind, _ code: UInt8 = 0) -> BlockHandle {
      BlockCodec.append(
        block.rawBytes, kind, spaceCode: code, at: bytes.count, of: identity, to: &bytes,
        scratch: &scratch)
    }
    var indexEntries: [IndexEntry] = []
    for entries in blocks {
      var block = layOut(entries)
      changeBlock(&block)
      indexEntries.append(
        IndexEntry(
          handle: add(block, .data, spaceCode), entryCount: entries.count,
          change: entries.reduce(0) { $0 + $1.kind.change }))
    }
    changeIndex(&indexEntries)
    if hasLooseFrame { _ = add([1, 2, 3], .grams) }
    let hashes = filterKeys.map { XXH64.hash($0.rawBytes) }
    let filter = add(BloomFilter.encode(hashes: hashes), .filter, 3)
    let all = blocks.flatMap { $0 }
    var space = SpaceSummary(code: 3, firstKey: all[0].key)
    for entry in all { space.count(entry.kind) }
    space.lastKey = all[all.count - 1].key
    space.byteCount = indexEntries.reduce(0) { $0 + $1.handle.byteCount }
    var properties = Properties(
      lowestSequence: all.map(\.sequence).min() ?? 0,
      highestSequence: all.map(\.sequence).max() ?? 0, spaces: [space],
      filters: [FilterHandle(spaceCode: 3, prefixByteCount: 0, handle: filter)])
    changeProperties(&properties)
    let propertiesHandle = add(properties.encode(), .properties)
    let index = zip(blocks, indexEntries).map { entries, entry in
      SegmentTestEntry(
        key: entries[entries.count - 1].key, sequence: entries[entries.count - 1].sequence,
        kind: entries[entries.count - 1].kind, value: entry.encode())
    }
    let indexHandle = add(layOut(index, hasZeroBase: true), .index)
    let footer = SegmentFooter(
      identity: identity, fileByteCount: bytes.count + 72, index: indexHandle,
      properties: propertiesHandle
    ).encode()
    bytes += footer
    return (
      bytes,
      SegmentReference(
        number: 7, identity: identity, byteCount: bytes.count,
        footerChecksum: SegmentFooter.checksum(of: footer.rawBytes))
    )
  }

  private func layOut(_ entries: [SegmentTestEntry], hasZeroBase: Bool = false) -> [UInt8] {
    var builder = BlockBuilder(hasZeroBase: hasZeroBase)
    for entry in entries {
      let (key, value) = (entry.key, entry.value)
      _ = builder.append(key: key.rawBytes, tag: entry.tag, value: value.rawBytes)
    }
    var block: [UInt8] = []
    builder.finish(into: &block)
    return block
  }
}
