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
  var changeIndexBlock: (inout [UInt8]) -> Void = { _ in }
  var changePropertiesBlock: (inout [UInt8]) -> Void = { _ in }
  var changeFilter: (inout [UInt8]) -> Void = { _ in }
  /// Whether data blocks do not begin with their lowest sequence.
  var hasZeroBase = false
  /// The data block in front of which there is a frame that nothing names.
  var looseFrame: Int?
  /// What lies between the last frame and the footer.
  var gap: [UInt8] = []

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
    for (number, entries) in blocks.enumerated() {
      if looseFrame == number { _ = add([1, 2, 3], .grams) }
      var block = layOut(entries, hasZeroBase: hasZeroBase)
      changeBlock(&block)
      indexEntries.append(
        IndexEntry(
          handle: add(block, .data, spaceCode), entryCount: entries.count,
          change: entries.reduce(0) { $0 + $1.kind.change }))
    }
    changeIndex(&indexEntries)
    if looseFrame == blocks.count { _ = add([1, 2, 3], .grams) }
    let hashes = filterKeys.map { XXH64.hash($0.rawBytes) }
    var filterBlock = BloomFilter.encode(hashes: hashes)
    changeFilter(&filterBlock)
    let filter = add(filterBlock, .filter, 3)
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
    var propertiesBlock = properties.encode()
    changePropertiesBlock(&propertiesBlock)
    let propertiesHandle = add(propertiesBlock, .properties)
    var indexBlock = layOut(index(indexEntries), hasZeroBase: true)
    changeIndexBlock(&indexBlock)
    let indexHandle = add(indexBlock, .index)
    bytes += gap
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

  /// The last entry of each block with what the index says of it; more of these get keys of their
  /// own behind all others.
  private func index(_ found: [IndexEntry]) -> [SegmentTestEntry] {
    found.enumerated().map { number, entry in
      let block = blocks[min(number, blocks.count - 1)]
      var last = block[block.count - 1]
      if number >= blocks.count { last.key.append(UInt8(number)) }
      last.value = entry.encode()
      return last
    }
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
