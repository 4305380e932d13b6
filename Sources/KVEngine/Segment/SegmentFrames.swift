/// The frames of a segment file, each read by itself: for who can trust neither header nor footer
/// nor index.
///
/// A frame's head is bound to segment and place, so what verifies was written there.
package struct SegmentFrames {
  private let file: SegmentFile
  private var window = FrameWindow()
  private var buffer = ByteBuffer.empty

  /// Takes an open file that may be the segment that `reference` names.
  package init(file: any File, fileName: String, reference: SegmentReference) {
    self.file = SegmentFile(file: file, name: fileName, reference: reference)
  }

  package var fileName: String { file.name }
  package var reference: SegmentReference { file.reference }
  /// Where frames end in the file.
  package var limit: Int { file.frameLimit }

  /// The head of the frame at an offset; `nil` when none verifies there or it cannot be read.
  ///
  /// - Throws: ``DatabaseError/notAvailableYet(_:)``.
  package mutating func head(at offset: Int) throws(DatabaseError) -> FrameHead? {
    let end = offset + FrameHead.byteCount
    guard end <= limit else { return nil }
    do throws(DatabaseError) {
      try window.readAhead(offset..<end, of: file)
      return try window.head(at: offset, of: file)
    } catch {
      if case .notAvailableYet = error { throw error }
      return nil
    }
  }

  /// Where the next frame begins whose head verifies, behind an offset; the limit for none.
  ///
  /// - Throws: ``DatabaseError/notAvailableYet(_:)``; other bytes that cannot be read are passed.
  package mutating func nextOffset(behind offset: Int) throws(DatabaseError) -> Int {
    var place = offset + 1
    while place + FrameHead.byteCount <= limit {
      do throws(DatabaseError) {
        try window.readAhead(place..<place + FrameHead.byteCount, of: file)
      } catch {
        if case .notAvailableYet = error { throw error }
        place += FrameHead.byteCount
        continue
      }
      let last = min(window.range.upperBound, limit) - FrameHead.byteCount
      while place <= last {
        // Checksums take longer than a look at the bytes that are the same in all heads.
        let bytes = window.bytes(place..<place + FrameHead.byteCount)
        if Self.mayBeHead(bytes), (try? window.head(at: place, of: file)) != nil { return place }
        place += 1
      }
    }
    return limit
  }

  private static func mayBeHead(_ bytes: RawSpan) -> Bool {
    guard BlockKind(rawValue: bytes.byte(at: 0)) != nil else { return false }
    return bytes.byte(at: 2) == 0 && bytes.extracting(4..<8).firstNonZeroOffset == nil
  }

  /// The properties in a frame.
  ///
  /// - Throws: ``DatabaseError/damaged(_:)``, or what kept the frame from being read.
  package mutating func properties(
    of head: FrameHead, at offset: Int
  ) throws(DatabaseError) -> Properties {
    try decode(head, at: offset)
    do throws(FormatError) {
      return try Properties.decode(buffer.bytes, limit: limit)
    } catch {
      throw file.damage(error, inBlockAt: offset)
    }
  }

  /// Copies of the entries in a frame of data, at least one, after a check of all that a read takes
  /// for granted.
  ///
  /// - Throws: ``DatabaseError/damaged(_:)``, or what kept the frame from being read.
  package mutating func entries(
    of head: FrameHead, at offset: Int
  ) throws(DatabaseError) -> [(key: [UInt8], tag: EntryTag, value: [UInt8])] {
    try decode(head, at: offset)
    let block = try file.dataBlock(buffer, at: offset)
    do throws(FormatError) {
      let tally = try BlockTally(counting: block, ofSpace: head.spaceCode, filter: nil)
      var entries: [(key: [UInt8], tag: EntryTag, value: [UInt8])] = []
      entries.reserveCapacity(tally.space.entryCount)
      var reader = BlockReader()
      reader.take(block)
      try reader.seekToFirst()
      while reader.isValid {
        entries.append(([UInt8](copying: reader.key), reader.tag, [UInt8](copying: reader.value)))
        try reader.next()
      }
      return entries
    } catch {
      throw file.damage(error, inBlockAt: offset)
    }
  }

  private mutating func decode(_ head: FrameHead, at offset: Int) throws(DatabaseError) {
    try window.readAhead(offset..<offset + head.frameByteCount, of: file)
    try window.decode(head, at: offset, of: file, into: &buffer)
  }
}
