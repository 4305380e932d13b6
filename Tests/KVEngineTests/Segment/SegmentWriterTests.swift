import Testing

@testable import KVEngine

@Suite struct SegmentWriterTests {
  /// Walks over the frames of a sound file.
  private func frames(_ model: SegmentTestModel) throws -> [(offset: Int, head: FrameHead)] {
    let bytes = model.file.bytes
    let limit = bytes.count - 72
    var frames: [(Int, FrameHead)] = []
    var offset = 48
    while offset < limit {
      let span = bytes.rawBytes.extracting(offset..<limit)
      let head = try FrameHead.decode(
        span, at: offset, of: model.summary.identity, limit: limit)
      frames.append((offset, head))
      offset += head.frameByteCount
    }
    #expect(offset == limit)
    return frames
  }

  @Test func theFileHasTheLayoutOfTheFormat() throws {
    let model = try SegmentTestModel(seed: 5, count: 80, blockByteCount: 200)
    let bytes = model.file.bytes
    #expect(bytes.count == model.summary.byteCount)
    let expected = FileHeader(kind: .segment, identity: model.summary.identity, number: 7)
    #expect(Array(bytes.prefix(48)) == expected.encode())
    let frames = try frames(model)
    let kinds = frames.map(\.head.kind)
    let dataCount = kinds.filter { $0 == .data }.count
    #expect(
      kinds == [BlockKind](repeating: .data, count: dataCount)
        + [.filter, .filter, .filter, .properties, .index])
    #expect(frames.filter { $0.head.kind == .filter }.map(\.head.spaceCode) == [2, 3, 64])
    let codes = frames.prefix(dataCount).map(\.head.spaceCode)
    #expect(codes == codes.sorted())
    #expect(Set(codes) == [1, 2, 3, 64])
    let ends = frames.suffix(2)
    let reader = model.reader()
    #expect(try reader.index().offset == ends.last?.offset)
  }

  @Test(arguments: [UInt64](1...4), [64, 4096])
  func theSummaryCountsWhatWasWritten(seed: UInt64, blockByteCount: Int) throws {
    let model = try SegmentTestModel(seed: seed, count: 200, blockByteCount: blockByteCount)
    let summary = model.summary
    #expect(summary.number == 7)
    #expect(summary.lowestSequence == model.entries.map(\.sequence).min())
    #expect(summary.highestSequence == model.entries.map(\.sequence).max())
    #expect(summary.spaces.map(\.code) == Set(model.entries.map { $0.key[0] }).sorted())
    let frames = try frames(model)
    for space in summary.spaces {
      let entries = model.entries.filter { $0.key[0] == space.code }
      #expect(space.entryCount == entries.count)
      #expect(space.tombstoneCount == entries.filter { !$0.kind.isPut }.count)
      #expect(space.change == entries.reduce(0) { $0 + $1.kind.change })
      #expect(space.firstKey == entries.first?.key)
      #expect(space.lastKey == entries.last?.key)
      let own = frames.filter { $0.head.kind == .data && $0.head.spaceCode == space.code }
      #expect(space.byteCount == own.reduce(0) { $0 + $1.head.frameByteCount })
    }
    let properties = try model.reader().properties()
    #expect(properties.spaces == summary.spaces)
    #expect(properties.lowestSequence == summary.lowestSequence)
    #expect(properties.highestSequence == summary.highestSequence)
    #expect(properties.filters.map(\.prefixByteCount) == [4, 0, 0])
  }

  @Test func aLargeEntryHasABlockOfItsOwn() throws {
    let large = [UInt8](repeating: 0x61, count: 9000)
    let model = try SegmentTestModel([
      SegmentTestEntry(key: [1, 1], sequence: 1, value: [1]),
      SegmentTestEntry(key: [1, 2], sequence: 2, value: large),
      SegmentTestEntry(key: [1, 3], sequence: 3, value: [3]),
      SegmentTestEntry(key: [1, 4], sequence: 4, value: [4]),
    ])
    let data = try frames(model).map(\.head).filter { $0.kind == .data }
    #expect(data.count == 3)
    #expect(data.map { $0.decodedByteCount > 9000 } == [false, true, false])
    #expect(data[1].codec == .lz4)
  }

  @Test func lz4HasToSaveAnEighth() throws {
    var random = SegmentTestRandom(seed: 2)
    let noise = (0..<4000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let model = try SegmentTestModel([
      SegmentTestEntry(key: [1, 1], sequence: 1, value: noise),
      SegmentTestEntry(key: [2, 1], sequence: 2, value: noise + noise.prefix(200)),
      SegmentTestEntry(key: [4, 1], sequence: 3, value: noise + noise.prefix(900)),
    ])
    let data = try frames(model).map(\.head).filter { $0.kind == .data }
    #expect(data.map(\.codec) == [.stored, .stored, .lz4])
    #expect(data[0].storedByteCount == data[0].decodedByteCount)
  }

  @Test func writesGoThroughABuffer() throws {
    let file = SegmentTestFile()
    file.failAfter(writes: 5)
    var writer = SegmentWriter(file: file, number: 1, identity: .random())
    var random = SegmentTestRandom(seed: 3)
    for number in 0..<400 {
      let noise = (0..<1200).map { _ in UInt8.random(in: 0...255, using: &random) }
      var key: [UInt8] = [1]
      key.append(bigEndian: UInt64(number))
      try writer.append(SegmentTestEntry(key: key, sequence: 1, value: noise))
      #expect(writer.byteCount - file.bytes.count < Limits.Block.writeByteCount + 8192)
    }
    #expect(writer.isFull == false)
    _ = try writer.finish()
    #expect(file.bytes.count > 400 * 1200)
  }

  @Test(arguments: 0..<3) func aFailedWriteIsThrown(writes: Int) throws {
    let file = SegmentTestFile()
    file.failAfter(writes: writes)
    var writer = SegmentWriter(file: file, number: 1, identity: .random())
    let expected = SystemError(.write, "/s/000007.seg", code: 28)
    var random = SegmentTestRandom(seed: 3)
    #expect(throws: expected) {
      for number in 0..<300 {
        let noise = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }
        var key: [UInt8] = [1]
        key.append(bigEndian: UInt64(number))
        try writer.append(SegmentTestEntry(key: key, sequence: 1, value: noise))
      }
      _ = try writer.finish()
    }
  }
}
