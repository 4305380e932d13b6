/// A position in a segment that moves entry by entry in both directions.
///
/// A scan that begins at the segment's first entry reads frames from the file's start, one after
/// the other, and needs neither footer nor index: that is the launch read. Everything else goes by
/// the index. One read brings several neighbouring blocks; scans do not fill the block cache.
///
/// After an error every further move throws that error again: an error is never the end of the
/// data. Not for use by two threads at once. A key that is given to a move must not be the cursor's
/// own.
package final class SegmentCursor {
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
  private var frame = 0..<0
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
    get { unsafe _overrideLifetime(block.key, borrowing: self) }
  }

  /// The value of the entry, until the next move.
  package var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(block.value, borrowing: self) }
  }

  /// Sequence and kind of the entry.
  package var tag: EntryTag { block.tag }

  // MARK: Moves

  /// Moves to the first entry of the segment.
  package func seekToFirst() throws(DatabaseError) {
    try seek { () throws(DatabaseError) in
      try openFirstBlock()
      try inBlock { block throws(FormatError) in try block.seekToFirst() }
    }
  }

  /// Moves to the last entry of the segment.
  package func seekToLast() throws(DatabaseError) {
    try seek { () throws(DatabaseError) in try enterLastBlock() }
  }

  /// Moves to the first entry at or after a key and sequence in internal order; nowhere if all are
  /// before it.
  package func seek(
    toFirstAtOrAfter key: RawSpan, _ sequence: SequenceNumber = Limits.Sequence.maximum
  ) throws(DatabaseError) {
    try seek { () throws(DatabaseError) in
      // Without an index the file's head is read anyway, to verify it.
      if access == .scan, !reader.hasIndex {
        try openFirstBlock()
        try seekInBlock(key, sequence)
        if isValid { return }
      }
      try inIndex { index throws(FormatError) in
        try index.seek(toFirstAtOrAfter: key, sequence)
      }
      guard index.isValid else { return }
      try openIndexedBlock(.forward)
      try seekInIndexedBlock(key, sequence)
    }
  }

  /// Moves to the last entry whose key bytes are before `key`; nowhere if there is none.
  package func seek(toLastBefore key: RawSpan) throws(DatabaseError) {
    let newest = Limits.Sequence.maximum
    try seek { () throws(DatabaseError) in
      try inIndex { index throws(FormatError) in try index.seek(toFirstAtOrAfter: key, newest) }
      guard index.isValid else { return try enterLastBlock() }
      try openIndexedBlock(.backward)
      try seekInIndexedBlock(key, newest)
      try stepBackward()
    }
  }

  /// Moves to the next entry; nowhere behind the last.
  ///
  /// Does nothing when there is no entry at the position.
  ///
  /// - Complexity: O(key bytes that differ); a decode per block and a read per 64 KiB.
  package func next() throws(DatabaseError) {
    guard isValid else { return try throwFailure() }
    do throws(FormatError) {
      try block.next()
    } catch {
      throw fail(reader.file.damage(error, inBlockAt: frame.lowerBound))
    }
    if !isValid { try moving { () throws(DatabaseError) in try openNextBlock() } }
  }

  /// Moves to the entry before; nowhere before the first.
  ///
  /// Does nothing when there is no entry at the position.
  ///
  /// - Complexity: like ``next()``, and half a restart interval of entries more.
  package func previous() throws(DatabaseError) {
    guard isValid else { return try throwFailure() }
    try moving { () throws(DatabaseError) in try stepBackward() }
  }

  // MARK: Errors

  private func throwFailure() throws(DatabaseError) {
    if let failure { throw failure }
  }

  /// Ends the cursor with an error.
  private func fail(_ error: DatabaseError) -> DatabaseError {
    block.take(.empty)
    failure = error
    return error
  }

  private func moving(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
    do throws(DatabaseError) {
      try body()
    } catch {
      throw fail(error)
    }
  }

  private func seek(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
    try throwFailure()
    block.leave()
    readByteCount = Limits.Block.firstReadByteCount
    try moving(body)
  }

  private func inBlock(
    _ body: (inout BlockReader) throws(FormatError) -> Void
  ) throws(DatabaseError) {
    do throws(FormatError) {
      try body(&block)
    } catch {
      throw reader.file.damage(error, inBlockAt: frame.lowerBound)
    }
  }

  /// Does something with the index, which is loaded when it is first needed.
  private func inIndex<Result>(
    _ body: (inout BlockReader) throws(FormatError) -> Result
  ) throws(DatabaseError) -> Result {
    let contents = try loadedIndex()
    do throws(FormatError) {
      return try body(&index)
    } catch {
      throw reader.file.damage(error, inBlockAt: contents.offset)
    }
  }

  // MARK: Steps

  private func seekInBlock(_ key: RawSpan, _ sequence: SequenceNumber) throws(DatabaseError) {
    try inBlock { block throws(FormatError) in
      try block.seek(toFirstAtOrAfter: key, sequence)
    }
  }

  private func seekInIndexedBlock(
    _ key: RawSpan, _ sequence: SequenceNumber
  ) throws(DatabaseError) {
    try seekInBlock(key, sequence)
    guard isValid else { throw misplaced("block ends before its key in the index") }
  }

  private func misplaced(_ reason: String) -> DatabaseError {
    reader.file.damage(FormatError("data block", at: 0, reason), at: frame.lowerBound)
  }

  private func enterLastBlock() throws(DatabaseError) {
    try inIndex { index throws(FormatError) in try index.seekToLast() }
    try openIndexedBlock(.backward)
    try inBlock { block throws(FormatError) in try block.seekToLast() }
  }

  private func stepBackward() throws(DatabaseError) {
    try inBlock { block throws(FormatError) in try block.previous() }
    if isValid { return }
    try findFrameInIndex()
    let end = frame.lowerBound
    try inIndex { index throws(FormatError) in try index.previous() }
    guard index.isValid else { return }
    try openIndexedBlock(.backward)
    guard frame.upperBound == end else { throw misplaced("block is not before the next one") }
    try inBlock { block throws(FormatError) in try block.seekToLast() }
  }

  private func openNextBlock() throws(DatabaseError) {
    let start = frame.upperBound
    if index.isValid {
      try inIndex { index throws(FormatError) in try index.next() }
      guard index.isValid else { return }
      try openIndexedBlock(.forward)
      guard frame.lowerBound == start else { throw misplaced("block is not behind the last one") }
    } else {
      guard try openFrame(at: start) else { return }
    }
    try inBlock { block throws(FormatError) in try block.seekToFirst() }
  }

  // MARK: Blocks

  private func loadedIndex() throws(DatabaseError) -> IndexBlock {
    if let indexBlock { return indexBlock }
    let contents = try reader.index()
    index.take(contents.block)
    indexBlock = contents
    return contents
  }

  /// Where the index has the block that it is at.
  private func indexedHandle() throws(DatabaseError) -> BlockHandle {
    let limit = reader.file.frameLimit
    return try inIndex { index throws(FormatError) in
      try IndexEntry.decode(index.value, limit: limit).handle
    }
  }

  /// Moves the index to the block, after frames were read one after the other.
  private func findFrameInIndex() throws(DatabaseError) {
    if index.isValid { return }
    try inBlock { block throws(FormatError) in try block.seekToFirst() }
    let key = [UInt8](copying: block.key)
    let sequence = tag.sequence
    block.leave()
    try inIndex { index throws(FormatError) in
      try index.seek(toFirstAtOrAfter: key.rawBytes, sequence)
    }
    guard index.isValid, try indexedHandle().range == frame else {
      throw misplaced("block is not where the index has it")
    }
  }

  /// Makes the block that the index is at the current one.
  private func openIndexedBlock(_ direction: Direction) throws(DatabaseError) {
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
  private func openFirstBlock() throws(DatabaseError) {
    if access == .point {
      try inIndex { index throws(FormatError) in try index.seekToFirst() }
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
  private func openFrame(at offset: Int) throws(DatabaseError) -> Bool {
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

  private func decode(_ head: FrameHead, at offset: Int) throws(DatabaseError) {
    frame = offset..<offset + head.frameByteCount
    var buffer = block.giveBuffer()
    try window.decode(head, at: offset, of: reader.file, into: &buffer)
    block.take(try reader.file.dataBlock(buffer, at: offset))
  }

  /// Makes the window contain a stretch of the file, and what a scan will need next.
  private func read(_ range: Range<Int>, _ direction: Direction) throws(DatabaseError) {
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
