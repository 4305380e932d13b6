import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Segments whose checksums hold and whose content does not: every way of reading says what is
/// wrong with them, and gives out nothing that is not there.
@Suite struct ForgedSegmentTests {
  /// What is wrong with a segment.
  enum Flaw: CaseIterable {
    case indexEntry, indexTrailer, indexChange, indexKey, firstBlockElsewhere
    case blockEntry, filter, looseFrame

    var forgery: SegmentForgery {
      var forgery = SegmentForgery()
      switch self {
      case .indexEntry: forgery.changeIndexBlock = { $0[3] = 0x7F }
      case .indexTrailer: forgery.changeIndexBlock = { $0[$0.count - 4] = 0 }
      case .indexChange:
        forgery.changeIndex = { index in
          index = index.map { IndexEntry(handle: $0.handle, entryCount: 2, change: 3) }
        }
      // The second byte of the first key: the block ends before it.
      case .indexKey: forgery.changeIndexBlock = { $0[6] = 5 }
      case .firstBlockElsewhere: forgery.changeIndex = { $0[0] = $0[1] }
      case .blockEntry: forgery.changeBlock = { $0[3] = 0x7F }
      case .filter: forgery.changeFilter = { $0[0] = 0 }
      case .looseFrame: forgery.looseFrame = 0
      }
      forgery.filterKeys.append([3, 4])
      return forgery
    }

    /// What a search for a key that is not there says; `nil` for nothing.
    var searchReason: String? {
      switch self {
      case .indexEntry, .blockEntry: "ends too early"
      case .indexTrailer: "number of restart points is out of range"
      case .indexChange: "change is larger than the number of entries"
      case .indexKey: "ends before its key in the index"
      case .filter: "not a filter"
      case .firstBlockElsewhere, .looseFrame: nil
      }
    }

    /// What a walk says, from the front without the index, then back by the index.
    var walkReason: String? {
      switch self {
      case .firstBlockElsewhere: "block is not where the index has it"
      case .looseFrame: "segment does not begin with data"
      case .indexKey, .filter: nil
      default: searchReason
      }
    }

    /// What a search by the index says.
    var seekReason: String? {
      switch self {
      case .indexKey: "block ends before its key in the index"
      case .filter, .firstBlockElsewhere, .looseFrame: nil
      default: searchReason
      }
    }
  }

  private func expect(_ reason: String?, _ flaw: Flaw, _ body: () throws(DatabaseError) -> Void) {
    do throws(DatabaseError) {
      try body()
      #expect(reason == nil, "\(flaw)")
    } catch {
      guard case .damaged(let corruption) = error else {
        Issue.record("\(flaw): \(error)")
        return
      }
      #expect(reason.map { corruption.reason.hasPrefix($0) } ?? false, "\(flaw): \(corruption)")
      #expect(corruption.fileName == "000007.seg")
    }
  }

  @Test(.bug(id: "B106"), arguments: Flaw.allCases)
  func everyWayOfReadingSaysWhatIsWrong(flaw: Flaw) throws {
    let (bytes, reference) = flaw.forgery.write()
    func reader() -> SegmentReader {
      SegmentReader(file: SegmentTestFile(bytes), fileName: "000007.seg", reference: reference)
    }
    expect(flaw.searchReason, flaw) { () throws(DatabaseError) in
      #expect(try reader().find([3, 4]) == nil)
    }
    expect(flaw.walkReason, flaw) { () throws(DatabaseError) in
      var cursor = SegmentCursor(reader())
      try cursor.seekToFirst()
      try cursor.previous()
      #expect(cursor.isValid == false)
    }
    expect(flaw.seekReason, flaw) { () throws(DatabaseError) in
      var cursor = SegmentCursor(reader(), access: .point)
      try cursor.seek(atOrAfter: [3, 4])
    }
    let found = try SegmentVerifier(
      file: SegmentTestFile(bytes), fileName: "000007.seg", reference: reference
    ).verify()
    #expect(!found.corruptions.isEmpty)
  }

  @Test func aVerificationSaysWhatDoesNotFitTogether() throws {
    var forgeries: [String: SegmentForgery] = [:]
    func add(_ reason: String, _ change: (inout SegmentForgery) -> Void) {
      var forgery = SegmentForgery()
      change(&forgery)
      forgeries[reason] = forgery
    }
    add("frames do not end where the footer begins") { $0.gap = [1, 2, 3] }
    add("names blocks that are not there") { forgery in
      forgery.changeIndex = { $0.append($0[1]) }
    }
    add("is not met on the way through the file") { forgery in
      forgery.changeProperties = { properties in
        let filter = properties.filters[0].handle
        properties.filters[0] = FilterHandle(
          spaceCode: 3, prefixByteCount: 0,
          handle: BlockHandle(offset: filter.offset + 1, byteCount: filter.byteCount - 1))
      }
    }
    add("base is not the lowest sequence") { $0.hasZeroBase = true }
    add("restart point is not where it should be") { forgery in
      forgery.filterKeys = (0..<17).map { [3, $0] }
      forgery.blocks = [
        forgery.filterKeys.map { SegmentTestEntry(key: $0, sequence: 7) }
      ]
      // The second one is where the first one is.
      forgery.changeBlock = { block in
        let restarts = block.count - 12
        block.replaceSubrange(restarts + 4..<restarts + 8, with: block[restarts..<restarts + 4])
      }
    }
    for (reason, forgery) in forgeries {
      let (bytes, reference) = forgery.write()
      let found = try SegmentVerifier(
        file: SegmentTestFile(bytes), fileName: "000007.seg", reference: reference
      ).verify()
      let isSaid = found.corruptions.contains { $0.reason.hasPrefix(reason) }
      #expect(isSaid, "\(reason): \(found.corruptions)")
    }
  }

  @Test func aSalvageHearsWhatIsWrongWithTheProperties() throws {
    var forgery = SegmentForgery()
    forgery.changePropertiesBlock = { $0.removeLast() }
    let (bytes, reference) = forgery.write()
    var frames = SegmentFrames(
      file: SegmentTestFile(bytes), fileName: "000007.seg", reference: reference)
    var offset = FileHeader.byteCount
    while let head = try frames.head(at: offset), head.kind != .properties {
      offset += head.frameByteCount
    }
    let head = try #require(try frames.head(at: offset))
    let error = #expect(throws: DatabaseError.self) { try frames.properties(of: head, at: offset) }
    #expect(isDamaged(error))
  }

  @Test(.bug(id: "B58")) func aSalvageWaitsForAFileThatIsNotAvailableYet() throws {
    let (bytes, reference) = SegmentForgery().write()
    let files = FaultFileSystem(MemoryFileSystem())
    try files.create("/000007.seg", bytes)
    let file = try files.open("/000007.seg", .read)
    for code in [EPERM, EIO] {
      let read = IOFailure(operation: "read", fileName: "000007.seg", code: code)
      files.plan(Fault(.error(code), at: 1, of: [.read], isLasting: true))
      var frames = SegmentFrames(file: file, fileName: "000007.seg", reference: reference)
      if code == EPERM {
        let expected = DatabaseError.notAvailableYet(read)
        #expect(throws: expected) { try frames.head(at: FileHeader.byteCount) }
        #expect(throws: expected) { try frames.nextOffset(behind: 0) }
      } else {
        // A bad sector costs what is in it.
        #expect(try frames.head(at: FileHeader.byteCount) == nil)
        #expect(try frames.nextOffset(behind: 0) == frames.limit)
      }
    }
  }

  /// Blocks that nothing comes behind, and others of which nothing can be a dictionary.
  @Test(arguments: [true, false])
  func aDictionaryThatIsNotWholeIsDamage(isCutBehindTheData: Bool) throws {
    let whole = SegmentForgery().write()
    let index = try SegmentReader(
      file: SegmentTestFile(whole.bytes), fileName: "000007.seg", reference: whole.reference
    ).index()
    let last: [UInt8] = [3, 9]
    let entry = try index.entry(forFirstAtOrAfter: last.rawBytes, Limits.Sequence.maximum)
    let end = try #require(entry?.handle.range.upperBound)
    let cut = SegmentReference(
      number: 7, identity: whole.reference.identity,
      byteCount: end + SegmentFooter.byteCount, footerChecksum: 0)
    let file = SegmentFile(
      file: SegmentTestFile(whole.bytes), name: "000007.seg",
      reference: isCutBehindTheData ? cut : whole.reference)
    let expected = Corruption(
      fileName: "000007.seg", offset: end, structure: "dictionary", reason: "is not complete")
    #expect(throws: DatabaseError.damaged(expected)) { try file.dictionary.takeMemory(of: file) }
  }

  @Test func aBlockIsNotDecodedWithoutAllThatItNeeds() {
    let stored: [UInt8] = [1, 2, 3, 4]
    func reason(_ codec: BlockCodecID, count: Int) -> String? {
      let head = FrameHead(
        kind: .data, codec: codec, spaceCode: 3, storedByteCount: 4, decodedByteCount: 4,
        bodyChecksum: CRC32C.checksum(stored.rawBytes))
      var buffer = ByteBuffer.empty
      do throws(FormatError) {
        try BlockCodec.decode(head, stored.rawBytes.extracting(first: count), into: &buffer)
        return nil
      } catch {
        return error.reason
      }
    }
    #expect(reason(.stored, count: 4) == nil)
    #expect(reason(.stored, count: 3) == "ends too early")
    #expect(reason(.lz4WithDictionary, count: 4) == "lacks its dictionary")
  }
}
