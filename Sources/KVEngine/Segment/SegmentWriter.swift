/// What a segment holds, as its writer counted it.
package struct SegmentSummary: Equatable, Sendable {
  package let identity: StoreIdentity
  package let number: UInt64
  package let byteCount: Int
  package let footerChecksum: UInt32
  package let lowestSequence: SequenceNumber
  package let highestSequence: SequenceNumber
  /// One for each space that has entries, ascending by code.
  package let spaces: [SpaceSummary]

  /// What names the segment.
  package var reference: SegmentReference {
    SegmentReference(
      number: number, identity: identity, byteCount: byteCount, footerChecksum: footerChecksum)
  }
}

/// Writes a segment from entries that come in internal order.
///
/// Nothing is flushed: the caller syncs the file, during long output and in the end. A segment that
/// was not finished is not a segment; after an error the writer is of no more use.
package struct SegmentWriter: ~Copyable {
  /// How data blocks are compressed.
  package enum Compression: Sendable {
    /// Fast, each block alone.
    case plain
    /// Fast, with the segment's first text as a dictionary.
    case withDictionary
    /// As tightly as it goes, with that dictionary: a tenth of the speed, a fifth smaller.
    case tight
  }

  private let file: any File
  private let identity: StoreIdentity
  private let number: UInt64
  private let blockByteCount: Int
  private let policy: (UInt8) -> SpacePolicy
  private let encoder: LZ4DictionaryEncoder?
  /// What the first data blocks of a segment with a dictionary decode to.
  private var dictionary: [UInt8] = []

  /// Bytes that are not written yet, and where they go.
  private var pending: [UInt8] = []
  private var pendingOffset = 0
  private var scratch = ByteBuffer.empty
  private var decoded: [UInt8] = []

  private var block = BlockBuilder()
  private var blockChange = 0
  private var index = BlockBuilder(hasZeroBase: true)
  private var space: SpaceSummary?
  private var spaces: [SpaceSummary] = []
  private var lowestSequence = Limits.Sequence.maximum
  private var highestSequence: SequenceNumber = 0

  private var filter = SpacePolicy.Filter.none
  private var hashes: [UInt64] = []
  private var filters: [(spaceCode: UInt8, prefixByteCount: Int, block: [UInt8])] = []

  /// Makes a writer into an empty file.
  package init(
    file: any File, number: UInt64, identity: StoreIdentity,
    blockByteCount: Int = Limits.Block.defaultByteCount,
    policy: @escaping (UInt8) -> SpacePolicy = { .standard(code: $0) },
    compression: Compression = .plain
  ) {
    self.file = file
    self.number = number
    self.identity = identity
    self.blockByteCount = blockByteCount
    self.policy = policy
    encoder =
      compression == .plain ? nil : LZ4DictionaryEncoder(isTight: compression == .tight)
    pending = FileHeader(kind: .segment, identity: identity, number: number).encode()
  }

  /// Bytes of the file so far; entries of the open block are not counted.
  package var byteCount: Int { pendingOffset + pending.count }

  /// Whether the segment should be finished now because a bound of the format comes near.
  ///
  /// There is still room for an entry of any size.
  package var isFull: Bool {
    index.byteCount > Limits.Block.maximumByteCount - (1 << 20)
      || byteCount > Limits.Segment.maximumByteCount - 2 * Limits.Block.maximumByteCount
  }

  /// Adds an entry behind all others in internal order.
  ///
  /// - Complexity: O(bytes of the entry), and compression and writing now and then.
  package mutating func append(key: RawSpan, tag: EntryTag, value: RawSpan) throws(SystemError) {
    assert(key.byteCount >= 1 && key.byteCount <= Limits.Key.maximumByteCount + 1)
    assert(value.byteCount <= Limits.Value.maximumByteCount)
    assert(isInOrder(key, tag))
    let code = key.byte(at: 0)
    if space?.code != code { try begin(code, firstKey: key) }
    if !block.append(key: key, tag: tag, value: value, bound: blockByteCount) {
      try closeBlock()
      _ = block.append(key: key, tag: tag, value: value)
    }
    blockChange += tag.kind.change
    space?.count(tag.kind)
    lowestSequence = min(lowestSequence, tag.sequence)
    highestSequence = max(highestSequence, tag.sequence)
    addToFilter(key)
  }

  /// Writes what is left and all that is known about the entries.
  ///
  /// - Precondition: At least one entry was added: there is no empty segment.
  package mutating func finish() throws(SystemError) -> SegmentSummary {
    precondition(space != nil, "a segment has at least one entry")
    try closeSpace()
    var copy: BlockHandle?
    if dictionary.count == Limits.Block.dictionaryByteCount {
      copy = try write(dictionary, .dictionary)
    }
    var handles: [FilterHandle] = []
    for filter in filters {
      let handle = try write(filter.block, .filter, spaceCode: filter.spaceCode)
      handles.append(
        FilterHandle(
          spaceCode: filter.spaceCode, prefixByteCount: filter.prefixByteCount, handle: handle))
    }
    let properties = Properties(
      lowestSequence: lowestSequence, highestSequence: highestSequence, spaces: spaces,
      filters: handles)
    let propertiesHandle = try write(properties.encode(), .properties)
    index.finish(into: &decoded)
    let indexHandle = try write(decoded, .index)
    let footer = SegmentFooter(
      identity: identity, fileByteCount: byteCount + SegmentFooter.byteCount, index: indexHandle,
      properties: propertiesHandle, dictionary: copy
    ).encode()
    pending.append(contentsOf: footer)
    try writePending()
    return SegmentSummary(
      identity: identity, number: number, byteCount: byteCount,
      footerChecksum: SegmentFooter.checksum(of: footer.rawBytes),
      lowestSequence: lowestSequence, highestSequence: highestSequence, spaces: spaces)
  }

  private func isInOrder(_ key: RawSpan, _ tag: EntryTag) -> Bool {
    if block.lastTag != nil { return block.isBehindLast(key, tag) }
    guard let lastKey = space?.lastKey ?? spaces.last?.lastKey else { return true }
    return compareBytes(lastKey.rawBytes, key) <= 0
  }

  // MARK: Blocks and spaces

  private mutating func begin(_ code: UInt8, firstKey: RawSpan) throws(SystemError) {
    try closeSpace()
    space = SpaceSummary(code: code, firstKey: [UInt8](copying: firstKey))
    filter = policy(code).filter
  }

  private mutating func closeSpace() throws(SystemError) {
    guard space != nil else { return }
    try closeBlock()
    if let space { spaces.append(space) }
    space = nil
    guard filter != .none else { return }
    let code = spaces.last?.code ?? 0
    var prefixByteCount = 0
    if case .prefix(let count) = filter { prefixByteCount = count }
    filters.append((code, prefixByteCount, BloomFilter.encode(hashes: hashes)))
    hashes.removeAll()
  }

  private mutating func closeBlock() throws(SystemError) {
    guard let tag = block.lastTag, let code = space?.code else { return }
    let lastKey = block.lastKey
    let entryCount = block.entryCount
    block.finish(into: &decoded)
    let handle = try write(decoded, .data, spaceCode: code)
    extendDictionary()
    let entry = IndexEntry(handle: handle, entryCount: entryCount, change: blockChange).encode()
    _ = index.append(key: lastKey.rawBytes, tag: tag, value: entry.rawBytes)
    blockChange = 0
    space?.lastKey = lastKey
    space?.byteCount += handle.byteCount
  }

  /// The block that was just written becomes part of the dictionary, until that is complete.
  private mutating func extendDictionary() {
    let missing = Limits.Block.dictionaryByteCount - dictionary.count
    guard let encoder, missing > 0 else { return }
    dictionary.append(contentsOf: decoded.prefix(missing))
    if missing <= decoded.count {
      let complete = dictionary
      encoder.use(dictionary: complete.rawBytes)
    }
  }

  /// Neighbouring keys often have the same part: it is in the filter once.
  private mutating func addToFilter(_ key: RawSpan) {
    let policy = SpacePolicy(filter: filter)
    guard let range = policy.filterRange(ofKeyByteCount: key.byteCount) else { return }
    let hash = XXH64.hash(key.extracting(range))
    if hash != hashes.last { hashes.append(hash) }
  }

  // MARK: File

  private mutating func write(
    _ decoded: [UInt8], _ kind: BlockKind, spaceCode: UInt8 = 0
  ) throws(SystemError) -> BlockHandle {
    let handle = BlockCodec.append(
      decoded.rawBytes, kind, spaceCode: spaceCode, at: byteCount, of: identity, to: &pending,
      scratch: &scratch, encoder: kind == .data ? encoder : nil)
    if pending.count >= Limits.Block.writeByteCount { try writePending() }
    return handle
  }

  private mutating func writePending() throws(SystemError) {
    do throws(WriteFailure) {
      let bytes = pending
      try file.writeBytes(bytes.rawBytes, at: pendingOffset)
    } catch {
      throw error.cause
    }
    pendingOffset += pending.count
    pending.removeAll(keepingCapacity: pending.capacity <= 4 * Limits.Block.writeByteCount)
  }
}
