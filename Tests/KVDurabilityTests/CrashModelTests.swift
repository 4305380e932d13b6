import KVEngine
import KVTestSupport
import Testing

/// What crash images hold of a file's bytes.
///
/// The file is durable with 1000 bytes of 1; then one write of 2s goes over its middle, one of 3s
/// over its end, one of 4s behind. `model` is the same as plain arrays.
@Suite struct CrashModelTests {
  private let files: RecordingFileSystem
  private let flushed = [UInt8](repeating: 1, count: 1000)
  private let writes: [(offset: Int, bytes: [UInt8])] = [
    (200, [UInt8](repeating: 2, count: 300)),
    (800, [UInt8](repeating: 3, count: 5000)),
    (5800, [UInt8](repeating: 4, count: 4000)),
  ]

  init() throws {
    files = RecordingFileSystem()
    let file = try files.create("/a", flushed)
    try file.sync()
    try files.syncDirectory("/")
    for write in writes { try file.write(write.bytes, at: write.offset) }
  }

  private func content(_ variant: CrashVariant, seed: UInt64 = 0) throws -> [UInt8] {
    try files.image(after: files.operationCount, variant: variant, seed: seed).bytes(of: "/a")
  }

  private func model(_ indices: [Int]) -> [UInt8] {
    indices.reduce(into: flushed) { content, index in
      let (offset, bytes) = writes[index]
      let end = offset + bytes.count
      content += [UInt8](repeating: 0, count: max(0, end - content.count))
      content.replaceSubrange(offset..<end, with: bytes)
    }
  }

  @Test func strictKeepsFlushedBytesOnly() throws {
    #expect(try content(.strict) == flushed)
  }

  @Test func everythingKeepsEverything() throws {
    #expect(try content(.everything) == model([0, 1, 2]))
    #expect(try content(.everything) == files.bytes(of: "/a"))
  }

  @Test func newestWriteOnlyLeavesZerosBeforeIt() throws {
    #expect(try content(.newestWriteOnly) == model([2]))
  }

  @Test func allButNewestWriteDropsTheLast() throws {
    #expect(try content(.allButNewestWrite) == model([0, 1]))
  }

  @Test(arguments: [(CrashVariant.halfOfSectors, 512), (.halfOfPages, 4096)])
  func sectorsAreKeptOrLostWhole(variant: CrashVariant, sector: Int) throws {
    let newest = model([0, 1, 2])
    let oldest = flushed + [UInt8](repeating: 0, count: newest.count - flushed.count)
    var (kept, lost, lengths) = (0, 0, Set<Int>())
    for seed in 0..<40 as Range<UInt64> {
      let found = try content(variant, seed: seed)
      lengths.insert(found.count)
      let padded = found + [UInt8](repeating: 0, count: newest.count - found.count)
      for start in stride(from: 0, to: newest.count, by: sector) {
        let range = start..<min(start + sector, newest.count)
        let isNew = padded[range] == newest[range]
        #expect(isNew || padded[range] == oldest[range], "seed \(seed), byte \(start)")
        if newest[range] != oldest[range] { if isNew { kept += 1 } else { lost += 1 } }
      }
    }
    // Odds are even: the bounds are six standard deviations away.
    let total = Double(kept + lost)
    #expect(abs(Double(kept) - total / 2) < 3 * total.squareRoot(), "\(kept) of \(total)")
    #expect(lengths.contains(newest.count))
    #expect(lengths.contains { $0 < newest.count })
  }

  @Test func theLengthMayGrowOverZeros() throws {
    #expect(try content(.sizeWithZeros) == flushed + [UInt8](repeating: 0, count: 8800))
  }

  @Test func theLengthMayGrowOverGarbage() throws {
    let first = try content(.sizeWithGarbage, seed: 1)
    let second = try content(.sizeWithGarbage, seed: 2)
    #expect(first.count == 9800)
    #expect(first.prefix(1000) == flushed[...])
    #expect(Set(first.dropFirst(1000)).count == 256)
    #expect(first != second)
    #expect(try content(.sizeWithGarbage, seed: 1) == first)
  }

  @Test(arguments: 0..<7 as Range<UInt64>)
  func theLastWriteIsTornAtEachEighth(seed: UInt64) throws {
    let tornCount = 500 * Int(seed + 1)
    #expect(
      try content(.tornWrite, seed: seed) == Array(model([0, 1, 2]).prefix(5800 + tornCount)))
    #expect(try content(.tornWrite, seed: seed + 7) == content(.tornWrite, seed: seed))
  }

  @Test func mixturesShowManyStatesOfWhichNoneInventsBytes() throws {
    let possible: [Set<UInt8>] = (0..<9800).map { offset in
      var values: Set<UInt8> = offset < 1000 ? [1] : [0]
      for (start, bytes) in writes where (start..<start + bytes.count).contains(offset) {
        values.formUnion(bytes.prefix(1))
      }
      return values
    }
    var seen: Set<[UInt8]> = []
    for seed in 0..<60 as Range<UInt64> {
      let image = files.image(after: files.operationCount, variant: .mixedWrites, seed: seed)
      let found = try image.bytes(of: "/a")
      let invented = found.indices.filter { !possible[$0].contains(found[$0]) }
      #expect(invented.isEmpty, "seed \(seed)")
      seen.insert(found)
    }
    #expect(seen.count > 30)
    #expect(seen.contains(flushed))
    let mixed = try Set((0..<60).map { try content(.mixedFiles, seed: $0) })
    #expect(mixed.contains(flushed) && mixed.contains(model([2])) && mixed.contains(model([0, 1])))
  }

  @Test(arguments: CrashVariant.allCases)
  func anImageDependsOnItsArgumentsOnly(variant: CrashVariant) throws {
    for seed in 0..<5 as Range<UInt64> {
      let last = try content(variant, seed: seed)
      _ = files.image(after: 0, variant: .everything)
      #expect(try content(variant, seed: seed) == last, "\(variant), seed \(seed)")
    }
  }

  @Test func imagesOfEarlierOperationsKnowNothingLater() throws {
    // 1 create, 2 write, 3 sync, 4 sync folder, 5 to 7 the writes.
    #expect(try files.image(after: 1, variant: .everything).bytes(of: "/a") == [])
    #expect(try files.image(after: 2, variant: .everything).bytes(of: "/a") == flushed)
    #expect(try files.image(after: 2, variant: .newestWriteOnly).bytes(of: "/a") == flushed)
    #expect(try files.image(after: 3, variant: .strict).list("/") == [])
    #expect(try files.image(after: 4, variant: .strict).bytes(of: "/a") == flushed)
    #expect(try files.image(after: 5, variant: .everything).bytes(of: "/a") == model([0]))
    #expect(try files.image(after: 0, variant: .everything).list("/") == [])
  }

  @Test func aSyncMakesAllWritesDurable() throws {
    try files.open("/a", .update).sync()
    for variant in CrashVariant.allCases {
      #expect(try content(variant, seed: 3) == model([0, 1, 2]), "\(variant)")
    }
  }

  @Test func anImageIsAFileSystemOfItsOwn() throws {
    let image = RecordingFileSystem(files.image(after: files.operationCount, variant: .strict))
    try image.open("/a", .update).write([9], at: 0)
    #expect(try content(.everything) == model([0, 1, 2]))
    #expect(try image.image(after: 0, variant: .strict).bytes(of: "/a") == flushed)
    #expect(try image.image(after: 1, variant: .strict).bytes(of: "/a") == flushed)
    let changed = image.image(after: 1, variant: .everything)
    #expect(try changed.bytes(of: "/a") == [9] + flushed.dropFirst())
  }
}
