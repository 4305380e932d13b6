// FORMAT.md section 7.9: what the blocks of a dense segment refer to.
//
// A block of 4 KiB alone holds too little text to compress well. So a dense segment compresses its
// blocks against the first 32 KiB of its own text: what its first blocks decode to, one behind the
// other; those are compressed without. Nothing has to be stored for it, and who reads the head of
// the segment, as a launch does, needs no dictionary. But damage there must cost no other block
// than its own, so a copy of the dictionary follows the data, read only in that case.
//
// LZ4 decodes twice as fast when the dictionary lies right in front of the target. So the memory in
// which blocks are decoded begins with the dictionary, and decoded blocks are copied out.

/// The dictionary of one segment, in memory where blocks are decoded behind it.
final class SegmentDictionary: Sendable {
  /// One thread at a time uses the memory; a second one loads its own, which is kept if the first
  /// still has not given its back.
  private let memory = Lock<ByteBuffer?>(nil)

  /// Memory that begins with the dictionary and has room for a block behind it.
  ///
  /// - Throws: ``DatabaseError/damaged(_:)`` when neither the blocks that the dictionary is made of
  ///   nor its copy can be decoded.
  func takeMemory(of file: SegmentFile) throws(DatabaseError) -> ByteBuffer {
    let kept = memory.withLock { memory in
      defer { memory = nil }
      return memory
    }
    if let kept { return kept }
    do throws(DatabaseError) {
      return try Self.loadBlocks(of: file)
    } catch {
      guard case .damaged = error, let copy = try Self.loadCopy(of: file) else { throw error }
      return copy
    }
  }

  /// Keeps memory for the next block.
  func giveBack(_ buffer: ByteBuffer) {
    memory.withLock { $0 = buffer }
  }

  private static func makeMemory() -> ByteBuffer {
    ByteBuffer(
      byteCount: Limits.Block.dictionaryByteCount + Limits.Block.dictionaryBlockByteCount)
  }

  /// Makes the dictionary of the segment's first blocks.
  private static func loadBlocks(of file: SegmentFile) throws(DatabaseError) -> ByteBuffer {
    let memory = makeMemory()
    var block = ByteBuffer.empty
    var window = FrameWindow()
    var offset = FileHeader.byteCount
    var count = 0
    while count < Limits.Block.dictionaryByteCount {
      let headRange = offset..<offset + FrameHead.byteCount
      guard headRange.upperBound <= file.frameLimit else { throw incomplete(file, at: offset) }
      // A launch may come here, and pays 2.4 us for each fresh page.
      let step = Limits.Block.firstReadByteCount
      try window.readAhead(headRange, of: file, byteCount: step)
      let head = try window.head(at: offset, of: file)
      guard head.kind == .data, head.codec != .lz4WithDictionary else {
        throw incomplete(file, at: offset)
      }
      let range = offset..<offset + head.frameByteCount
      try window.readAhead(range, of: file, byteCount: step)
      try window.decode(head, at: offset, of: file, into: &block)
      let part = min(block.byteCount, Limits.Block.dictionaryByteCount - count)
      unsafe memory.storage[count...].copyBytes(from: block.storage.prefix(part))
      count += part
      offset = range.upperBound
    }
    return memory
  }

  private static func incomplete(_ file: SegmentFile, at offset: Int) -> DatabaseError {
    file.damage(FormatError("dictionary", at: 0, "is not complete"), at: offset)
  }

  /// Reads the copy; `nil` when that is not possible, since then the damage of the blocks is what
  /// to report.
  private static func loadCopy(of file: SegmentFile) throws(DatabaseError) -> ByteBuffer? {
    do throws(DatabaseError) {
      var window = FrameWindow()
      try window.read(file.frameLimit..<file.frameLimit + SegmentFooter.byteCount, of: file)
      guard let handle = try file.decodeFooter(in: window).dictionary else { return nil }
      try window.read(handle.range, of: file)
      let copy = try window.block(handle, .dictionary, of: file)
      guard copy.byteCount == Limits.Block.dictionaryByteCount else { return nil }
      let memory = makeMemory()
      unsafe memory.storage.copyMemory(from: UnsafeRawBufferPointer(copy.storage))
      return memory
    } catch {
      guard case .damaged = error else { throw error }
      return nil
    }
  }
}
