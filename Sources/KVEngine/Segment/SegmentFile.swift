/// A segment's file and what it has to be: where bytes come in and findings get a file name.
struct SegmentFile: Sendable {
  let file: any File
  let name: String
  let reference: SegmentReference
  let dictionary = SegmentDictionary()

  init(file: any File, name: String, reference: SegmentReference) {
    self.file = file
    self.name = name
    self.reference = reference
  }

  /// Where frames end and the footer begins.
  var frameLimit: Int { max(0, reference.byteCount - SegmentFooter.byteCount) }

  /// Reads a stretch of the file into memory that is used again; the file must not end before.
  func read(_ range: Range<Int>, into buffer: inout ByteBuffer) throws(DatabaseError) {
    do throws(SystemError) {
      try file.readBytes(at: range.lowerBound, count: range.count, into: &buffer)
    } catch {
      throw error.readFailure
    }
    guard buffer.byteCount == range.count else {
      let error = FormatError("file", at: buffer.byteCount, "ends too early")
      throw damage(error, at: range.lowerBound)
    }
  }

  /// What was found in bytes that begin at `base` in the file.
  func damage(_ error: FormatError, at base: Int) -> DatabaseError {
    .damaged(Corruption(error, fileName: name, base: base))
  }

  /// What was found inside a block after it was decoded; places there are not places in the file.
  func damage(_ error: FormatError, inBlockAt offset: Int) -> DatabaseError {
    let reason = "\(error.reason) (decoded byte \(error.offset))"
    return damage(FormatError(error.structure, at: 0, reason), at: offset)
  }

  /// Checks that the window, which is on the file's first bytes, shows the header of this segment.
  func checkHeader(in window: FrameWindow) throws(DatabaseError) {
    let finding: FileHeader.Finding
    do throws(FormatError) {
      finding = try FileHeader.decode(window.bytes(window.range), kind: .segment)
    } catch {
      throw damage(error, at: 0)
    }
    switch finding {
    case .otherVersion(let version): throw unsupported(version)
    case .header(let header):
      guard header.identity == reference.identity, header.number == reference.number else {
        throw damage(FormatError("file header", at: 0, "header of another segment"), at: 0)
      }
    }
  }

  /// Decodes the footer out of a window that contains it.
  func decodeFooter(in window: FrameWindow) throws(DatabaseError) -> SegmentFooter {
    let finding: SegmentFooter.Finding
    do throws(FormatError) {
      let end = frameLimit + SegmentFooter.byteCount
      finding = try SegmentFooter.decode(window.bytes(frameLimit..<end), of: reference)
    } catch {
      throw damage(error, at: frameLimit)
    }
    switch finding {
    case .otherVersion(let version): throw unsupported(version)
    case .footer(let footer): return footer
    }
  }

  /// The entries of a decoded data block.
  func dataBlock(_ buffer: ByteBuffer, at offset: Int) throws(DatabaseError) -> Block {
    do throws(FormatError) {
      return try Block(buffer, structure: "data block")
    } catch {
      throw damage(error, inBlockAt: offset)
    }
  }

  /// Decodes the properties out of a window that contains them.
  func decodeProperties(
    _ handle: BlockHandle, _ window: FrameWindow
  ) throws(DatabaseError) -> Properties {
    let buffer = try window.block(handle, .properties, of: self)
    do throws(FormatError) {
      return try Properties.decode(buffer.bytes, limit: frameLimit)
    } catch {
      throw damage(error, inBlockAt: handle.offset)
    }
  }

  /// Decodes the index out of a window that contains it.
  func decodeIndex(
    _ handle: BlockHandle, _ window: FrameWindow
  ) throws(DatabaseError) -> IndexBlock {
    let buffer = try window.block(handle, .index, of: self)
    do throws(FormatError) {
      return try IndexBlock(buffer, offset: handle.offset, limit: frameLimit)
    } catch {
      throw damage(error, inBlockAt: handle.offset)
    }
  }

  /// Reads and decodes a filter.
  func readFilter(_ filter: FilterHandle) throws(DatabaseError) -> BloomFilter {
    var window = FrameWindow()
    try window.read(filter.handle.range, of: self)
    let buffer = try window.block(filter.handle, .filter, of: self)
    do throws(FormatError) {
      return try BloomFilter(buffer, prefixByteCount: filter.prefixByteCount)
    } catch {
      throw damage(error, inBlockAt: filter.handle.offset)
    }
  }

  private func unsupported(_ version: UInt16) -> DatabaseError {
    .unsupportedFormat(fileName: name, found: version, known: FormatVersion.current)
  }
}
