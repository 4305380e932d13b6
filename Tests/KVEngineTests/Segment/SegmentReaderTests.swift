import Testing

@testable import KVEngine

@Suite struct SegmentReaderTests {
  @Test(arguments: [UInt64](1...5), [64, 4096])
  func findGivesTheNewestEntryAtOrBelowASequence(seed: UInt64, blockByteCount: Int) throws {
    let model = try SegmentTestModel(seed: seed, count: 120, blockByteCount: blockByteCount)
    let reader = model.reader(cache: BlockCache(byteCount: 8000))
    for entry in model.entries {
      for sequence in [entry.sequence, entry.sequence - 1, entry.sequence + 1] {
        let found = try reader.find(entry.key, atOrBelow: sequence)
        let expected = model.entries.first { $0.key == entry.key && $0.sequence <= sequence }
        #expect(found?.tag == expected?.tag, "seed \(seed), \(entry)")
        #expect(found?.value == expected?.value, "seed \(seed), \(entry)")
      }
      #expect(try reader.find(entry.key, atOrBelow: 0) == nil)
      #expect(try reader.mayContain(key: entry.key.rawBytes))
      let prefix = Array(entry.key.prefix(3))
      #expect(try reader.mayContain(prefix: prefix.rawBytes))
    }
  }

  @Test func absentKeysAreNotFound() throws {
    let model = try SegmentTestModel(seed: 4, count: 100, blockByteCount: 64)
    let reader = model.reader()
    let keys = Set(model.entries.map(\.key))
    var absent: [[UInt8]] = [[], [0], [5], [65], [0xFF], [0xFF, 0xFF]]
    for key in keys { absent += [key + [0], key + [0x7F], Array(key.dropLast())] }
    for key in absent where !keys.contains(key) {
      #expect(try reader.find(key) == nil, "\(key)")
    }
  }

  @Test func aFilterSavesTheReadOfABlock() throws {
    let entries = (0..<400).map { number in
      SegmentTestEntry(
        key: [3, UInt8(number / 256), UInt8(number % 256)], sequence: 1, value: [1])
    }
    let model = try SegmentTestModel(entries, blockByteCount: 256)
    let reader = model.reader()
    _ = try reader.find([3, 0, 0])
    _ = model.file.takeReads()
    var reads = 0
    for number in 0..<400 {
      #expect(try reader.find([3, UInt8(number / 256), UInt8(number % 256), 9]) == nil)
      reads += model.file.takeReads().count
    }
    #expect(reads < 20)
  }

  @Test func nothingIsReadBeforeSomethingIsAskedFor() throws {
    let model = try SegmentTestModel(seed: 1, count: 50)
    _ = model.file.takeReads()
    let reader = model.reader()
    _ = SegmentCursor(reader)
    #expect(model.file.takeReads().isEmpty)
    #expect(!reader.hasIndex)
  }

  @Test func aSmallSegmentIsOpenedByOneReadAndSearchedByOneMore() throws {
    let model = try SegmentTestModel(seed: 1, count: 50)
    let reader = model.reader(cache: BlockCache(byteCount: 100_000))
    let key = try #require(model.entries.first { $0.key[0] == 1 }?.key)
    _ = model.file.takeReads()
    _ = try reader.find(key)
    let reads = model.file.takeReads()
    #expect(reads.count == 2)
    #expect(reads.first == 0..<model.summary.byteCount)
    _ = try reader.find(key)
    #expect(model.file.takeReads().isEmpty)
  }

  @Test func withoutACacheEveryFindReadsItsBlockAgain() throws {
    let model = try SegmentTestModel(seed: 1, count: 50)
    let reader = model.reader(cache: BlockCache(byteCount: 0))
    let key = try #require(model.entries.first { $0.key[0] == 1 }?.key)
    _ = try reader.find(key)
    _ = model.file.takeReads()
    _ = try reader.find(key)
    #expect(model.file.takeReads().count == 1)
  }

  /// 3,000 memos of 200 bytes each that do not compress.
  private func large() throws -> SegmentTestModel {
    var random = SegmentTestRandom(seed: 8)
    return try SegmentTestModel(
      (0..<3000).map { number in
        var key: [UInt8] = [1]
        key.append(bigEndian: UInt64(number))
        let value = (0..<25).flatMap { _ in
          withUnsafeBytes(of: random.next()) { Array($0) }
        }
        return SegmentTestEntry(key: key, sequence: UInt64(3000 - number), value: value)
      })
  }

  @Test func theLaunchReadTouchesTheHeadOnly() throws {
    let model = try large()
    for begin in [0, 1, 2] {
      _ = model.file.takeReads()
      let reader = model.reader()
      var cursor = SegmentCursor(reader)
      switch begin {
      case 0: try cursor.seekToFirst()
      case 1: try cursor.seek(atOrAfter: [1])
      default: try cursor.seek(atOrAfter: model.entries[0].key, 5000)
      }
      #expect(model.file.takeReads() == [0..<Limits.Block.firstReadByteCount])
      for entry in model.entries.prefix(200) {
        #expect(cursor.current == entry)
        try cursor.next()
      }
      let reads = model.file.takeReads()
      #expect(reads.count == 2)
      #expect((reads.last?.upperBound ?? .max) < 100_000)
      #expect(!reader.hasIndex)
    }
  }

  @Test func aScanReadsEveryByteOnceInLargePieces() throws {
    let model = try large()
    let reader = model.reader()
    _ = try reader.index()
    for isForward in [true, false] {
      _ = model.file.takeReads()
      var cursor = SegmentCursor(reader)
      if isForward { try cursor.seekToFirst() } else { try cursor.seekToLast() }
      let found = isForward ? try cursor.forward() : try cursor.backward()
      #expect(found.count == 3000)
      let reads = model.file.takeReads()
      #expect(reads.count < model.summary.byteCount / Limits.Block.readAheadByteCount + 6)
      #expect(reads.allSatisfy { $0.count <= Limits.Block.readAheadByteCount })
      let sum = reads.reduce(0) { $0 + $1.count }
      #expect(sum < model.summary.byteCount + 60_000)
    }
  }

  @Test func scansLeaveTheCacheAloneAndPointCursorsFillIt() throws {
    let model = try large()
    let cache = BlockCache(byteCount: 1 << 20)
    let reader = model.reader(cache: cache)
    var scan = SegmentCursor(reader)
    try scan.seek(atOrAfter: model.entries[1000].key)
    #expect(scan.current == model.entries[1000])
    #expect(cache.byteCount == 0)
    var point = SegmentCursor(reader, access: .point)
    try point.seek(atOrAfter: model.entries[1000].key)
    #expect(cache.byteCount > 0)
    _ = model.file.takeReads()
    #expect(try reader.find(model.entries[1000].key) != nil)
    #expect(model.file.takeReads().isEmpty)
  }

  @Test func threadsShareAReader() async throws {
    let model = try SegmentTestModel(seed: 9, count: 150, blockByteCount: 128)
    let reader = model.reader(cache: BlockCache(byteCount: 4000))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for entry in task % 2 == 0 ? model.entries : model.entries.reversed() {
            let found = try reader.find(entry.key, atOrBelow: entry.sequence)
            #expect(found?.value == entry.value)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
