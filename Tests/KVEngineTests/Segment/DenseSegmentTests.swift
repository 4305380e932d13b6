import Testing

@testable import KVEngine

/// Blocks that refer to the segment's own first text, and what damage of that text costs.
@Suite struct DenseSegmentTests {
  /// Entries whose values repeat words, in blocks of about 1,000 bytes: some 32 of them make the
  /// dictionary.
  private func model(
    count: Int = 1500, _ compression: SegmentWriter.Compression = .tight
  ) throws -> SegmentTestModel {
    let words = ["milk", "and", "tea,", "call", "home", "at", "noon;", "the", "blue", "bicycle"]
    var random = SegmentTestRandom(seed: 5)
    let entries = (1...UInt64(count)).map { sequence in
      let text = (0..<14).map { _ in words.randomElement(using: &random) ?? "" }
      return SegmentTestEntry(
        key: [64] + ByteOrderTestBytes.bigEndian(sequence), sequence: sequence,
        value: Array(text.joined(separator: " ").utf8) + ByteOrderTestBytes.bigEndian(sequence))
    }
    return try SegmentTestModel(entries, blockByteCount: 1000, compression: compression)
  }

  private func verify(
    _ bytes: [UInt8], of model: SegmentTestModel
  ) throws(DatabaseError) -> SegmentVerification {
    try SegmentVerifier(
      file: SegmentTestFile(bytes), fileName: "000007.seg", reference: model.summary.reference
    ).verify()
  }

  /// Where the frames of the data blocks are, and that of the dictionary's copy.
  private func layout(
    of model: SegmentTestModel
  ) throws -> (blocks: [(head: FrameHead, offset: Int)], copy: (head: FrameHead, offset: Int)) {
    let bytes = model.file.bytes
    var blocks: [(head: FrameHead, offset: Int)] = []
    var offset = FileHeader.byteCount
    while true {
      let head = try FrameHead.decode(
        bytes.rawBytes.extracting(offset..<offset + FrameHead.byteCount), at: offset,
        of: model.summary.identity, limit: bytes.count)
      if head.kind == .dictionary { return (blocks, (head, offset)) }
      try #require(head.kind == .data)
      blocks.append((head, offset))
      offset += head.frameByteCount
    }
  }

  @Test(arguments: [SegmentWriter.Compression.withDictionary, .tight])
  func everyWayOfReadingGivesTheSameEntries(compression: SegmentWriter.Compression) throws {
    let model = try model(compression)
    var forward = SegmentCursor(model.reader())
    try forward.seekToFirst()
    #expect(try forward.forward() == model.entries)
    var backward = SegmentCursor(model.reader())
    try backward.seekToLast()
    #expect(try backward.backward() == model.entries.reversed())
    let reader = model.reader(cache: BlockCache(byteCount: 1 << 20))
    for entry in model.entries.shuffled() {
      #expect(try reader.find(entry.key)?.value == entry.value)
    }
    #expect(try verify(model.file.bytes, of: model).corruptions == [])
  }

  @Test func theFirstBlocksNeedNoDictionaryAndTheOthersAreSmaller() throws {
    let model = try model()
    let blocks = try layout(of: model).blocks
    var count = 0
    for block in blocks {
      let isDictionary = count < Limits.Block.dictionaryByteCount
      #expect(block.head.codec == (isDictionary ? .lz4 : .lz4WithDictionary))
      count += block.head.decodedByteCount
    }
    #expect(blocks.contains { $0.head.codec == .lz4WithDictionary })
    let plain = try self.model(.plain).file.bytes.count
    #expect(model.file.bytes.count < plain * 9 / 10)
  }

  @Test func aSegmentThatIsNotLargerThanItsDictionaryHasNone() throws {
    let model = try model(count: 200)
    var cursor = SegmentCursor(model.reader())
    try cursor.seekToFirst()
    #expect(try cursor.forward() == model.entries)
    let end = model.file.bytes.count
    guard
      case .footer(let footer) = try SegmentFooter.decode(
        model.file.bytes.rawBytes.extracting(end - SegmentFooter.byteCount..<end),
        of: model.summary.reference)
    else {
      Issue.record("other version")
      return
    }
    #expect(footer.dictionary == nil)
  }

  @Test func threadsShareASegment() async throws {
    let model = try model()
    let reader = model.reader()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for start in 0..<4 {
        group.addTask {
          try model.entries.dropFirst(start).allSatisfy {
            try reader.find($0.key)?.value == $0.value
          }
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  @Test(.bug(id: "B13")) func damageOfTheDictionarysBlocksCostsTheseAlone() throws {
    let model = try model()
    let (blocks, _) = try layout(of: model)
    for (number, block) in blocks.enumerated() {
      var bytes = model.file.bytes
      bytes[block.offset + FrameHead.byteCount + 5] ^= 1
      let reader = model.reader(bytes: bytes)
      let found = model.entries.count { entry in
        (try? reader.find(entry.key))?.value == entry.value
      }
      #expect(found < model.entries.count && found > model.entries.count - 15, "block \(number)")
      let report = try verify(bytes, of: model)
      #expect(report.corruptions.map(\.offset) == [block.offset])
      #expect(report.entryCount == found)
    }
  }

  @Test(.bug(id: "B13")) func damageOfTheCopyCostsNothingButIsReported() throws {
    let model = try model()
    let copy = try layout(of: model).copy
    var bytes = model.file.bytes
    bytes[copy.offset + FrameHead.byteCount + 5] ^= 1
    var cursor = SegmentCursor(model.reader(bytes: bytes))
    try cursor.seekToFirst()
    #expect(try cursor.forward() == model.entries)
    #expect(try verify(bytes, of: model).corruptions.map(\.offset) == [copy.offset])
  }

  @Test(.bug(id: "B13")) func withoutDictionaryAndCopyTheRestIsDamagedAndNothingIsWrong() throws {
    let model = try model()
    let (blocks, copy) = try layout(of: model)
    var bytes = model.file.bytes
    bytes[blocks[2].offset + FrameHead.byteCount + 5] ^= 1
    bytes[copy.offset + FrameHead.byteCount + 5] ^= 1
    let reader = model.reader(bytes: bytes)
    var found = 0
    for entry in model.entries {
      do throws(DatabaseError) {
        #expect(try reader.find(entry.key)?.value == entry.value)
        found += 1
      } catch {
        guard case .damaged = error else { throw error }
      }
    }
    let head = blocks.count { $0.head.codec == .lz4 }
    #expect(found > 0 && found < head * 15)
    #expect(try verify(bytes, of: model).entryCount == found)
  }

  @Test(.bug(id: "B08")) func aCopyThatCannotBeReadIsNoDamage() throws {
    let model = try model()
    var bytes = model.file.bytes
    bytes[try layout(of: model).blocks[0].offset + FrameHead.byteCount + 5] ^= 1
    let last = try #require(model.entries.last)
    let failure = IOFailure(operation: "read", fileName: "000007.seg", code: 5)
    for reads in 0... {
      let file = SegmentTestFile(bytes)
      file.failAfter(reads: reads)
      let reader = SegmentReader(
        file: file, fileName: "000007.seg", reference: model.summary.reference)
      do throws(DatabaseError) {
        #expect(try reader.find(last.key)?.value == last.value)
        #expect(reads > 4)
        return
      } catch {
        #expect(error == .io(failure), "\(reads) reads")
      }
    }
  }

  @Test func aCopyThatSaysSomethingElseIsReported() throws {
    let model = try model()
    let copy = try layout(of: model).copy
    var bytes = model.file.bytes
    let frame = Array(bytes[copy.offset..<copy.offset + copy.head.frameByteCount])
    var text = ByteBuffer(byteCount: 0)
    try BlockCodec.decode(
      copy.head, frame.rawBytes.extracting(droppingFirst: FrameHead.byteCount), into: &text)
    var other: [UInt8] = []
    var scratch = ByteBuffer(byteCount: 0)
    // One byte that no match needs: the frame stays as long as it was.
    for place in 0..<text.byteCount where other.count != frame.count {
      var changed = [UInt8](copying: text.bytes)
      changed[place] ^= 0x80
      other = []
      _ = BlockCodec.append(
        changed.rawBytes, .dictionary, at: copy.offset, of: model.summary.identity, to: &other,
        scratch: &scratch)
    }
    try #require(other.count == frame.count)
    bytes.replaceSubrange(copy.offset..<copy.offset + other.count, with: other)
    let reasons = try verify(bytes, of: model).corruptions.map(\.reason)
    #expect(reasons == ["is not what the first blocks hold"])
  }
}

private enum ByteOrderTestBytes {
  static func bigEndian(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64($0))) }
  }
}
