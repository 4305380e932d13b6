/// A stretch of a segment file in memory, out of which frames are decoded.
struct FrameWindow {
  private var buffer = ByteBuffer.empty
  /// Where in the file the bytes are from.
  private(set) var range = 0..<0

  func contains(_ wanted: Range<Int>) -> Bool {
    wanted.lowerBound >= range.lowerBound && wanted.upperBound <= range.upperBound
  }

  /// Replaces the stretch by another one.
  mutating func read(_ range: Range<Int>, of file: SegmentFile) throws(DatabaseError) {
    self.range = 0..<0
    try file.read(range, into: &buffer)
    self.range = range
  }

  /// Makes the window contain a stretch of the file, and what lies behind it up to a number of
  /// bytes.
  mutating func readAhead(
    _ range: Range<Int>, of file: SegmentFile, byteCount: Int = Limits.Block.readAheadByteCount
  ) throws(DatabaseError) {
    if contains(range) { return }
    let end = min(range.lowerBound + byteCount, file.frameLimit)
    do throws(DatabaseError) {
      try read(range.lowerBound..<max(range.upperBound, end), of: file)
    } catch {
      // A bad sector may lie behind what is wanted.
      try read(range, of: file)
    }
  }

  /// Bytes of the file; the window has to contain them.
  @_lifetime(borrow self)
  func bytes(_ wanted: Range<Int>) -> RawSpan {
    let start = wanted.lowerBound - range.lowerBound
    return buffer.bytes.extracting(start..<start + wanted.count)
  }

  /// Decodes the head of the frame at an offset; the window has to contain it.
  func head(at offset: Int, of file: SegmentFile) throws(DatabaseError) -> FrameHead {
    do throws(FormatError) {
      return try FrameHead.decode(
        bytes(offset..<offset + FrameHead.byteCount), at: offset, of: file.reference.identity,
        limit: file.frameLimit)
    } catch {
      throw file.damage(error, at: offset)
    }
  }

  /// Decodes the block behind a head; the window has to contain the frame.
  func decode(
    _ head: FrameHead, at offset: Int, of file: SegmentFile, into block: inout ByteBuffer
  ) throws(DatabaseError) {
    let start = offset + FrameHead.byteCount
    let isDense = head.codec == .lz4WithDictionary
    let memory = isDense ? try file.dictionary.takeMemory(of: file) : nil
    do throws(FormatError) {
      try BlockCodec.decode(
        head, bytes(start..<start + head.storedByteCount), behind: memory, into: &block)
    } catch {
      throw file.damage(error, at: offset)
    }
    if let memory { file.dictionary.giveBack(memory) }
  }

  /// The block of a frame that another structure points to, in memory of its own; the window has
  /// to contain the frame.
  func block(
    _ handle: BlockHandle, _ kind: BlockKind, of file: SegmentFile
  ) throws(DatabaseError) -> ByteBuffer {
    let head = try head(at: handle.offset, of: file)
    guard head.kind == kind, head.frameByteCount == handle.byteCount else {
      throw file.damage(
        FormatError("frame head", at: 0, "not the block that it should be"), at: handle.offset)
    }
    var block = ByteBuffer.empty
    try decode(head, at: handle.offset, of: file, into: &block)
    return block
  }
}
