/// A position in a segment that moves entry by entry in both directions.
///
/// A scan that begins at the segment's first entry reads frames from the file's start, one after
/// the other, and needs neither footer nor index: that is the launch read. Everything else goes by
/// the index. One read brings several neighbouring blocks; scans do not fill the block cache.
///
/// After an error every further move throws that error again: an error is never the end of the
/// data. A key that is given to a move must not be the cursor's own.
package struct SegmentCursor: ~Copyable {
  /// What the cursor is for.
  package enum Access: Sendable {
    /// Many neighbouring entries: reads ahead, leaves the block cache alone.
    case scan
    /// A few entries at one place: reads single blocks through the block cache.
    case point
  }

  private enum Direction { case forward, backward }

  private let reader: SegmentReader
  private let access: Access
  private var block = BlockReader()
  /// Where the frame of the block is in the file.
  package private(set) var frame = 0..<0
  /// At the entry of the block; nowhere while frames are read one after the other.
  private var index = BlockReader()
  private var indexBlock: IndexBlock?
  private var window = FrameWindow()
  private var readByteCount = Limits.Block.firstReadByteCount
  private var failure: DatabaseError?

  /// Makes a cursor that is nowhere.
  package init(_ reader: SegmentReader, access: Access = .scan) {
    self.reader = reader
    self.access = access
  }

  /// Whether there is an entry at the position.
  package var isValid: Bool { block.isValid }

  /// The key bytes of the entry, space byte included, until the next move.
  package var key: RawSpan {
    @_lifetime(borrow self)
    get { block.key }
  }

  /// The value of the entry, until the next move.
  package var value: RawSpan {
    @_lifetime(borrow self)
    get { block.value }
  }

  /// Sequence and kind of the entry.
  package var tag: EntryTag { block.tag }

  /// Where the entry is, `nil` without one.
  @inline(__always)
  var entry: EntryReference? { block.reference }

  /// The space of the entry, `nil` without one.
  var spaceCode: UInt8? { isValid ? key.first : nil }

  // MARK: Moves

  /// Moves to the first entry of the segment.
  package mutating func seekToFirst() throws(DatabaseError) {
    try beginSeek()
    do throws(DatabaseError) {
      try openFirstBlock()
      try seekToFirstInBlock()
    } catch {
      throw fail(error)
    }
  }

  /// Moves to the last entry of the segment.
  package mutating func seekToLast() throws(DatabaseError) {
    try beginSeek()
    do throws(DatabaseError) {
      try enterLastBlock()
    } catch {
      throw fail(error)
    }
  }

  /// Moves to the first entry at or after a key and sequence in internal order; nowhere if all are
  /// before it.
  package mutating func seek(
    toFirstAtOrAfter key: RawSpan, _ sequence: SequenceNumber = Limits.Sequence.maximum
  ) throws(DatabaseError) {
    try beginSeek()
    do throws(DatabaseError) {
      // Without an index the file's head is read anyway, to verify it.
      if access == .scan, !reader.hasIndex {
        try openFirstBlock()
        try seekInBlock(key, sequence)
        if isValid { return }
      }
      try seekIndex(toFirstAtOrAfter: key, sequence)
      guard index.isValid else { return }
      try openIndexedBlock(.forward)
      try seekInIndexedBlock(key, sequence)
    } catch {
      throw fail(error)
    }
  }

  /// Moves to the last entry whose key bytes are before `key`; nowhere if there is none.
  package mutating func seek(toLastBefore key: RawSpan) throws(DatabaseError) {
    let newest = Limits.Sequence.maximum
    try beginSeek()
    do throws(DatabaseError) {
      try seekIndex(toFirstAtOrAfter: key, newest)
      guard index.isValid else { return try enterLastBlock() }
      try openIndexedBlock(.backward)
      try seekInIndexedBlock(key, newest)
      try stepBackward()
    } catch {
      throw fail(error)
    }
  }

  /// Moves to the next entry; nowhere behind the last.
  ///
  /// Does nothing when there is no entry at the position.
  ///
  /// - Complexity: O(key bytes that differ); a decode per block and a read per 64 KiB.
  @inline(__always)
  package mutating func next() throws(DatabaseError) {
    guard isValid else { return try throwFailure() }
    do throws(FormatError) {
      try block.next()
    } catch {
      throw fail(reader.file.damage(error, inBlockAt: frame.lowerBound))
    }
    if isValid { return }
    do throws(DatabaseError) {
      try openNextBlock()
    } catch {
      throw fail(error)
    }
  }

  /// Moves to the entry before; nowhere before the first.
  ///
  /// Does nothing when there is no entry at the position.
  ///
  /// - Complexity: Like ``next()``; each interval between restart points is walked twice.
  package mutating func previous() throws(DatabaseError) {
    guard isValid else { return try throwFailure() }
    do throws(DatabaseError) {
      try stepBackward()
    } catch {
      throw fail(error)
    }
  }

  // MARK: Errors

  private func throwFailure() throws(DatabaseError) {
    if let failure { throw failure }
  }

  /// Ends the cursor with an error.
  private mutating func fail(_ error: DatabaseError) -> DatabaseError {
    block.take(.empty)
    failure = error
    return error
  }

  private mutating func beginSeek() throws(DatabaseError) {
    try throwFailure()
    block.leave()
    readByteCount = Limits.Block.firstReadByteCount
  }

  private func indexDamage(_ error: FormatError) -> DatabaseError {
    reader.file.damage(error, inBlockAt: indexBlock?.offset ?? 0)
  }

  private func misplaced(_ reason: String) -> DatabaseError {
    reader.file.damage(FormatError("data block", at: 0, reason), at: frame.lowerBound)
  }

  // MARK: In the block

  private mutating func moveBlock(
    _ move: (inout BlockReader) throws(FormatError) -> Void
  ) throws(DatabaseError) {
    do throws(FormatError) {
      try move(&block)
    } catch {
      throw reader.file.damage(error, inBlockAt: frame.lowerBound)
    }
  }

  private mutating func seekToFirstInBlock() throws(DatabaseError) {
    try moveBlock { block throws(FormatError) in try block.seekToFirst() }
  }

  private mutating func seekToLastInBlock() throws(DatabaseError) {
    try moveBlock { block throws(FormatError) in try block.seekToLast() }
  }

  private mutating func seekInBlock(
    _ key: RawSpan, _ sequence: SequenceNumber
  ) throws(DatabaseError) {
    try moveBlock { block throws(FormatError) in try block.seek(toFirstAtOrAfter: key, sequence) }
  }

  private mutating func seekInIndexedBlock(
    _ key: RawSpan, _ sequence: SequenceNumber
  ) throws(DatabaseError) {
    try seekInBlock(key, sequence)
    guard isValid else { throw misplaced("block ends before its key in the index") }
  }

  // MARK: Block to block

  private mutating func enterLastBlock() throws(DatabaseError) {
    try moveIndex { index throws(FormatError) in try index.seekToLast() }
    try openIndexedBlock(.backward)
    try seekToLastInBlock()
  }

  private mutating func stepBackward() throws(DatabaseError) {
    try moveBlock { block throws(FormatError) in try block.previous() }
    if isValid { return }
    try findFrameInIndex()
    let end = frame.lowerBound
    try moveIndex { index throws(FormatError) in try index.previous() }
    guard index.isValid else { return }
    try openIndexedBlock(.backward)
    guard frame.upperBound == end else { throw misplaced("block is not before the next one") }
    try seekToLastInBlock()
  }

  private mutating func openNextBlock() throws(DatabaseError) {
    let start = frame.upperBound
    if index.isValid {
      try moveIndex { index throws(FormatError) in try index.next() }
      guard index.isValid else { return }
      try openIndexedBlock(.forward)
      guard frame.lowerBound == start else { throw misplaced("block is not behind the last one") }
    } else {
      guard try openFrame(at: start) else { return }
    }
    try seekToFirstInBlock()
  }

  // MARK: Index

  /// Moves in the index, which is loaded when it is first needed.
  private mutating func moveIndex(
    _ move: (inout BlockReader) throws(FormatError) -> Void
  ) throws(DatabaseError) {
    if indexBlock == nil {
      let contents = try reader.index()
      index.take(contents.block)
      indexBlock = contents
    }
    do throws(FormatError) {
      try move(&index)
    } catch {
      throw indexDamage(error)
    }
  }

  private mutating func seekIndex(
    toFirstAtOrAfter key: RawSpan, _ sequence: SequenceNumber
  ) throws(DatabaseError) {
    try moveIndex { index throws(FormatError) in
      try index.seek(toFirstAtOrAfter: key, sequence)
    }
  }

  /// Where the index has the block that it is at.
  private func indexedHandle() throws(DatabaseError) -> BlockHandle {
    do throws(FormatError) {
      return try IndexEntry.decode(index.value, limit: reader.file.frameLimit).handle
    } catch {
      throw indexDamage(error)
    }
  }

  /// Moves the index to the block, after frames were read one after the other.
  private mutating func findFrameInIndex() throws(DatabaseError) {
    if index.isValid { return }
    try seekToFirstInBlock()
    let key = [UInt8](copying: block.key)
    let sequence = tag.sequence
    block.leave()
    try seekIndex(toFirstAtOrAfter: key.rawBytes, sequence)
    guard index.isValid, try indexedHandle().range == frame else {
      throw misplaced("block is not where the index has it")
    }
  }

  // MARK: Blocks

  /// Makes the block that the index is at the current one.
  private mutating func openIndexedBlock(_ direction: Direction) throws(DatabaseError) {
    let handle = try indexedHandle()
    if handle.range == frame { return }
    if access == .point {
      block.take(try reader.block(at: handle))
      frame = handle.range
      return
    }
    try read(handle.range, direction)
    let head = try window.head(at: handle.offset, of: reader.file)
    guard head.kind == .data, head.frameByteCount == handle.byteCount else {
      frame = handle.range
      throw misplaced("block is not the one in the index")
    }
    try decode(head, at: handle.offset)
  }

  /// Makes the segment's first block the current one without asking the index.
  private mutating func openFirstBlock() throws(DatabaseError) {
    if access == .point {
      try moveIndex { index throws(FormatError) in try index.seekToFirst() }
      return try openIndexedBlock(.forward)
    }
    index.leave()
    if frame.lowerBound == FileHeader.byteCount { return }
    let end = min(Limits.Block.firstReadByteCount, reader.file.frameLimit)
    try window.read(0..<end, of: reader.file)
    try reader.checkHeader(in: window)
    guard try openFrame(at: FileHeader.byteCount) else {
      throw misplaced("segment does not begin with data")
    }
  }

  /// Makes the frame at an offset the current block; `false` when it holds no data.
  private mutating func openFrame(at offset: Int) throws(DatabaseError) -> Bool {
    let headRange = offset..<offset + FrameHead.byteCount
    guard headRange.upperBound <= reader.file.frameLimit else {
      throw misplaced("data goes on to the footer")
    }
    try read(headRange, .forward)
    let head = try window.head(at: offset, of: reader.file)
    guard head.kind == .data else { return false }
    try read(offset..<offset + head.frameByteCount, .forward)
    try decode(head, at: offset)
    return true
  }

  private mutating func decode(_ head: FrameHead, at offset: Int) throws(DatabaseError) {
    frame = offset..<offset + head.frameByteCount
    var buffer = block.giveBuffer()
    try window.decode(head, at: offset, of: reader.file, into: &buffer)
    block.take(try reader.file.dataBlock(buffer, at: offset))
  }

  /// Makes the window contain a stretch of the file, and what a scan will need next.
  private mutating func read(_ range: Range<Int>, _ direction: Direction) throws(DatabaseError) {
    if window.contains(range) { return }
    var (start, end) = (range.lowerBound, range.upperBound)
    switch direction {
    case .forward: end = max(end, min(start + readByteCount, reader.file.frameLimit))
    case .backward: start = min(start, max(end - readByteCount, FileHeader.byteCount))
    }
    try window.read(start..<end, of: reader.file)
    readByteCount = min(2 * readByteCount, Limits.Block.readAheadByteCount)
  }
}
