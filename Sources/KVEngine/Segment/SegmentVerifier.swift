/// A frame that a verification passed.
package struct SegmentFrame: Sendable {
  package let offset: Int
  package let head: FrameHead
  /// What a sound data block holds; `nil` for other frames.
  package fileprivate(set) var contents: SpaceSummary?
}

/// What a verification found.
package struct SegmentVerification: Sendable {
  /// Everything that does not hold, in the order of its finding; empty for a sound segment.
  package fileprivate(set) var corruptions: [Corruption] = []
  /// Frames with a sound head, in the order of the file.
  package fileprivate(set) var frames: [SegmentFrame] = []
  /// Data blocks that are sound, and what they hold by space.
  package fileprivate(set) var blockCount = 0
  package fileprivate(set) var spaces: [SpaceSummary] = []
  package fileprivate(set) var lowestSequence = Limits.Sequence.maximum
  package fileprivate(set) var highestSequence: SequenceNumber = 0

  /// Entries in sound blocks.
  package var entryCount: Int { spaces.reduce(0) { $0 + $1.entryCount } }
}

/// Reads every byte of a segment and compares everything that is written in two places.
///
/// Behind damage it goes on: at the next frame when the head of the damaged one holds, else at the
/// next frame that the footer, the index or the properties name. A verifier is used once.
package final class SegmentVerifier {
  private let file: SegmentFile
  private var result = SegmentVerification()
  private var window = FrameWindow()
  private var buffer = ByteBuffer.empty

  private var footer: SegmentFooter?
  private var properties: Properties?
  private var filters: [UInt8: BloomFilter] = [:]
  /// What the index says of each block, `nil` when it cannot be read.
  private var index: [(key: [UInt8], tag: EntryTag, entry: IndexEntry)]?
  /// Entries of the index whose blocks the walk has passed.
  private var indexPosition = 0
  /// Frames without data that are named somewhere and that the walk has not met yet.
  private var named: [BlockHandle: BlockKind] = [:]
  /// What the first data blocks decode to.
  private var dictionary: [UInt8] = []
  /// The entry before the next block.
  private var last: (key: [UInt8], sequence: SequenceNumber)?
  /// Whether every data block was sound so far, so that sums can be compared.
  private var isComplete = true

  /// Makes a verifier of an open file that has to be the segment that `reference` names.
  package init(file: any File, fileName: String, reference: SegmentReference) {
    self.file = SegmentFile(file: file, name: fileName, reference: reference)
  }

  /// Reads and compares everything.
  ///
  /// - Returns: What was found; damage is part of it.
  /// - Throws: ``DatabaseError/io(_:)`` when a read fails,
  ///   ``DatabaseError/unsupportedFormat(fileName:found:known:)`` for a segment of another version.
  /// - Complexity: O(file); one block and the index are in memory.
  package func verify() throws(DatabaseError) -> SegmentVerification {
    try noting { () throws(DatabaseError) in try checkHeader() }
    try noting { () throws(DatabaseError) in try readFooter() }
    try noting { () throws(DatabaseError) in try readProperties() }
    try noting { () throws(DatabaseError) in try readIndex() }
    var offset = FileHeader.byteCount
    while offset < file.frameLimit {
      let place = offset
      let next = try noting { () throws(DatabaseError) in try checkFrame(at: place) }
      if next == nil { isComplete = false }
      guard let end = next ?? nextNamedOffset(after: place) else { break }
      offset = end
    }
    if isComplete { try noting { () throws(DatabaseError) in try compareSums() } }
    return result
  }

  /// Does a part of the work; damage is noted, once, and ends the part.
  private func noting<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result? {
    do throws(DatabaseError) {
      return try body()
    } catch {
      guard case .damaged(let corruption) = error else { throw error }
      if !result.corruptions.contains(corruption) { result.corruptions.append(corruption) }
      return nil
    }
  }

  private func damage(_ structure: String, at offset: Int, _ reason: String) -> DatabaseError {
    file.damage(FormatError(structure, at: 0, reason), at: offset)
  }

  // MARK: Around the data

  private func checkHeader() throws(DatabaseError) {
    let byteCount: Int
    do throws(SystemError) {
      byteCount = try file.file.status().byteCount
    } catch {
      throw error.readFailure
    }
    try noting { () throws(DatabaseError) in
      guard byteCount == file.reference.byteCount else {
        throw damage("file", at: min(byteCount, file.reference.byteCount), "has another length")
      }
    }
    try window.read(0..<min(FileHeader.byteCount, file.frameLimit), of: file)
    try file.checkHeader(in: window)
  }

  private func readFooter() throws(DatabaseError) {
    try window.read(file.frameLimit..<file.frameLimit + SegmentFooter.byteCount, of: file)
    let footer = try file.decodeFooter(in: window)
    self.footer = footer
    named[footer.properties] = .properties
    named[footer.index] = .index
    if let dictionary = footer.dictionary { named[dictionary] = .dictionary }
  }

  private func readProperties() throws(DatabaseError) {
    guard let footer else { return }
    try window.read(footer.properties.range, of: file)
    let properties = try file.decodeProperties(footer.properties, window)
    self.properties = properties
    for filter in properties.filters {
      named[filter.handle] = .filter
      try noting { () throws(DatabaseError) in
        filters[filter.spaceCode] = try file.readFilter(filter)
      }
    }
  }

  private func readIndex() throws(DatabaseError) {
    guard let footer else { return }
    try window.read(footer.index.range, of: file)
    let contents = try file.decodeIndex(footer.index, window)
    do throws(FormatError) {
      var found: [(key: [UInt8], tag: EntryTag, entry: IndexEntry)] = []
      var reader = BlockReader()
      reader.take(contents.block)
      try reader.seekToFirst()
      while reader.isValid {
        let key = [UInt8](copying: reader.key)
        found.append((key, reader.tag, try contents.decode(reader.value)))
        try reader.next()
      }
      index = found
    } catch {
      throw file.damage(error, inBlockAt: contents.offset)
    }
  }

  // MARK: Frames

  /// Where a frame behind an offset must be, because something names it.
  private func nextNamedOffset(after offset: Int) -> Int? {
    let blocks = (index ?? []).lazy.map(\.entry.handle.offset)
    let block = blocks.first { $0 > offset }
    let others = named.keys.lazy.map(\.offset).filter { $0 > offset }
    return [block, others.min()].compactMap(\.self).min()
  }

  /// Checks a frame and returns where the next one begins.
  private func checkFrame(at offset: Int) throws(DatabaseError) -> Int {
    guard offset + FrameHead.byteCount <= file.frameLimit else {
      throw damage("frame head", at: offset, "frames do not end where the footer begins")
    }
    try window.readAhead(offset..<offset + FrameHead.byteCount, of: file)
    let head = try window.head(at: offset, of: file)
    let handle = BlockHandle(offset: offset, byteCount: head.frameByteCount)
    let name = head.kind == .data ? nil : named.removeValue(forKey: handle)
    result.frames.append(SegmentFrame(offset: offset, head: head))
    let isSound: Void? = try noting { () throws(DatabaseError) in
      try window.readAhead(handle.range, of: file)
      try window.decode(head, at: offset, of: file, into: &buffer)
      if head.kind == .data {
        extendDictionary()
        try checkBlock(head, handle)
      } else if footer != nil, name != head.kind {
        throw damage("frame head", at: offset, "nothing names this block")
      } else if head.kind == .dictionary {
        try checkDictionary(at: offset)
      }
    }
    if isSound == nil, head.kind == .data { isComplete = false }
    return handle.range.upperBound
  }

  private func extendDictionary() {
    let missing = Limits.Block.dictionaryByteCount - dictionary.count
    guard missing > 0 else { return }
    let block = buffer
    dictionary.append(span: block.bytes.extracting(first: min(missing, block.byteCount)))
  }

  private func checkDictionary(at offset: Int) throws(DatabaseError) {
    // With damaged blocks in front there is nothing to compare it with.
    let copy = buffer
    guard isComplete, compareBytes(copy.bytes, dictionary) != 0 else { return }
    throw damage("dictionary block", at: offset, "is not what the first blocks hold")
  }

  private func checkBlock(_ head: FrameHead, _ handle: BlockHandle) throws(DatabaseError) {
    // The tally keeps nothing of the block, whose memory is used again.
    let block = try file.dataBlock(buffer, at: handle.offset)
    let tally: BlockTally
    do throws(FormatError) {
      tally = try BlockTally(
        counting: block, ofSpace: head.spaceCode, filter: filters[head.spaceCode])
    } catch {
      throw file.damage(error, inBlockAt: handle.offset)
    }
    if let last {
      let first = tally.space.firstKey
      let sequence = tally.firstSequence
      guard compareInternal(last.key.rawBytes, last.sequence, first.rawBytes, sequence) < 0 else {
        throw damage("data block", at: handle.offset, "is not behind the block before")
      }
    }
    last = (tally.space.lastKey, tally.lastTag.sequence)
    try compareWithIndex(tally, handle)
    add(tally, handle)
  }

  private func compareWithIndex(
    _ tally: BlockTally, _ handle: BlockHandle
  ) throws(DatabaseError) {
    guard let index else { return }
    // Blocks that could not be read are passed over.
    while indexPosition < index.count, index[indexPosition].entry.handle.offset < handle.offset {
      indexPosition += 1
    }
    let expected = IndexEntry(
      handle: handle, entryCount: tally.space.entryCount, change: tally.space.change)
    guard indexPosition < index.count, index[indexPosition].entry == expected,
      index[indexPosition].key == tally.space.lastKey, index[indexPosition].tag == tally.lastTag
    else { throw damage("data block", at: handle.offset, "is not what the index says") }
    indexPosition += 1
  }

  // MARK: Sums

  private func add(_ tally: BlockTally, _ handle: BlockHandle) {
    result.blockCount += 1
    result.lowestSequence = min(result.lowestSequence, tally.lowestSequence)
    result.highestSequence = max(result.highestSequence, tally.highestSequence)
    var space = tally.space
    space.byteCount = handle.byteCount
    result.frames[result.frames.count - 1].contents = space
    if let before = result.spaces.last, before.code == space.code {
      result.spaces.removeLast()
      space.add(before)
    }
    result.spaces.append(space)
  }

  /// Compares what all blocks together hold with what properties and index say.
  private func compareSums() throws(DatabaseError) {
    if let footer, let index, index.count != result.blockCount {
      throw damage("index block", at: footer.index.offset, "names blocks that are not there")
    }
    guard let properties, let footer else { return }
    guard properties.spaces == result.spaces,
      properties.lowestSequence == result.lowestSequence,
      properties.highestSequence == result.highestSequence
    else {
      throw damage("properties block", at: footer.properties.offset, "are not those of the data")
    }
    if let missed = named.keys.first {
      throw damage("frame head", at: missed.offset, "is not met on the way through the file")
    }
  }
}
