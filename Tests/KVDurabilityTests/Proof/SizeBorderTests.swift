import KVTestSupport
import Testing

@testable import KVEngine

/// Sizes around every border of the formats and the limits, through the public interface: T20 of
/// the test plan.
@Suite struct SizeBorderTests {
  /// Borders of varints, of the options that stores here have, and of the formats.
  private static func around(_ borders: [Int]) -> [Int] {
    Set(borders.flatMap { $0 - 2...$0 + 2 }).sorted()
  }

  private static let keySizes = around([2, 64, 128, 256, 1024, 4096, 16_384, 32_768, 65_533])
    .filter { $0 > 0 }
  private static let valueSizes = around(
    [2, 16, 64, 128, 256, 512, 4096, 16_384, 32_768, 65_536, 131_072, 262_144])

  private static func value(_ byteCount: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(byteCount))
    return byteCount % 2 == 0
      ? generator.bytes(byteCount) : [UInt8](repeating: 7, count: byteCount)
  }

  /// A key that shares all but its end with that of every other length.
  private static func key(_ byteCount: Int) -> [UInt8] {
    [UInt8](repeating: 0x6B, count: byteCount)
  }

  private static func options(blockByteCount: Int) -> DatabaseOptions {
    var options = TinyStore.options
    options.blockByteCount = blockByteCount
    options.segmentByteCount = 64 << 10
    return options
  }

  /// Reads in memory, from the log, from a flush, and merged.
  private func check(
    _ files: MemoryFileSystem, _ options: DatabaseOptions, _ content: [Cursor.Entry]
  ) throws {
    for place in 0..<4 {
      let database = try TinyStore.open(in: files, options: options)
      if place == 1 { try database.flush() }
      if place == 2 { try database.compact() }
      for entry in content {
        guard try database.value(forKey: entry.key) == entry.value else {
          throw Problem("place \(place): \(entry.key.count), \(entry.value.count)")
        }
      }
      guard try database.content().entries[2] == content else {
        throw Problem("place \(place): a scan shows something else")
      }
      var cursor = try database.cursor()
      for entry in content {
        guard try cursor.seek(toLastKeyAtOrBefore: entry.key), cursor.entry == entry,
          try cursor.seek(toFirstKeyAtOrAfter: entry.key), cursor.entry == entry
        else { throw Problem("place \(place): a seek fails for \(entry.key.count)") }
      }
      guard try database.verify().isSound else { throw Problem("place \(place): damaged") }
      try database.close()
    }
  }

  @Test(arguments: [64, 4096]) func keysOfEverySizeAreKept(blockByteCount: Int) throws {
    let files = MemoryFileSystem()
    let options = Self.options(blockByteCount: blockByteCount)
    let database = try TinyStore.open(in: files, options: options)
    let content = Self.keySizes.map { Cursor.Entry(key: Self.key($0), value: Self.value($0 % 300)) }
    for entry in content { try database.write { $0.put(entry.value, forKey: entry.key) } }
    #expect(throws: DatabaseError.limitExceeded(what: "key", maximum: 65_535)) {
      try database.write { $0.put([], forKey: Self.key(65_536)) }
    }
    #expect(throws: DatabaseError.self) { try database.write { $0.delete([]) } }
    #expect(try database.value(forKey: Self.key(65_536)) == nil)
    try database.close()
    try check(files, options, content)
    ProofTally.count("T20", "sizes", content.count)
  }

  @Test(arguments: [64, 4096]) func valuesOfEverySizeAreKept(blockByteCount: Int) throws {
    let files = MemoryFileSystem()
    let options = Self.options(blockByteCount: blockByteCount)
    let database = try TinyStore.open(in: files, options: options)
    let content = Self.valueSizes.enumerated().map { number, size in
      Cursor.Entry(key: [UInt8(number >> 8), UInt8(number & 255)], value: Self.value(size))
    }
    for entry in content { try database.write { $0.put(entry.value, forKey: entry.key) } }
    try database.close()
    try check(files, options, content)
    ProofTally.count("T20", "sizes", content.count)
  }

  @Test func theLargestValueAndNoLargerOne() throws {
    let files = MemoryFileSystem()
    let size = Limits.Value.maximumByteCount
    var options = DatabaseOptions()
    options.worksInBackground = false
    let database = try TinyStore.open(in: files, options: options)
    var value = [UInt8](repeating: 3, count: size)
    try database.write { $0.put(value, forKey: [1]) }
    value.append(3)
    #expect(throws: DatabaseError.limitExceeded(what: "value", maximum: size)) {
      try database.write { $0.put(value, forKey: [2]) }
    }
    try database.close()
    let reopened = try TinyStore.open(in: files, options: options)
    #expect(try reopened.value(forKey: [1])?.count == size)
    #expect(try reopened.value(forKey: [2]) == nil)
    #expect(try reopened.verify().isSound)
    ProofTally.count("T20", "sizes", 2)
  }

  @Test func batchesOfEverySizeAreWhole() throws {
    let sizes = Self.around([2, 128, 256, 16_384]) + [65_535, 65_536]
    for size in sizes where size > 0 {
      let files = MemoryFileSystem()
      var options = Self.options(blockByteCount: 4096)
      options.logByteCount = 1 << 20
      var batch = WriteBatch()
      for number in 0..<size {
        batch.put(
          [1], forKey: [UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)])
      }
      let database = try TinyStore.open(in: files, options: options)
      #expect(try database.write(batch) == UInt64(size))
      // Killed, so that the next process finds a log.
      files.endProcess()
      let reopened = try TinyStore.open(in: files.process(2), options: options)
      #expect(try reopened.snapshot().sequence == UInt64(size))
      #expect(try reopened.content().count == size, "\(size) operations")
    }
    ProofTally.count("T20", "sizes", sizes.count)
  }

  /// Records that end around the bound of the log, the zeros ahead, and where a batch becomes
  /// segments at once: every one is there after a kill, and the next one as well.
  @Test func recordsEndAroundEveryBorderOfTheLog() throws {
    // A log of 4 KiB with zeros in steps of 512 bytes; loads begin at four logs.
    let borders = [512 - 96, 1024 - 96, 4096 - 96, 4096, 16_384]
    let sizes = borders.flatMap { Array($0 - 64...$0 + 24) }
    for size in Thoroughness.part(of: 0..<sizes.count, step: 7).map({ sizes[$0] }) {
      let files = MemoryFileSystem()
      let database = try TinyStore.open(in: files)
      let value = Self.value(size)
      try database.write { $0.put(value, forKey: [1]) }
      try database.write { $0.put([2], forKey: [2]) }
      files.endProcess()
      let reopened = try TinyStore.open(in: files.process(2))
      #expect(try reopened.value(forKey: [1]) == value, "\(size) bytes")
      #expect(try reopened.value(forKey: [2]) == [2], "\(size) bytes")
      try reopened.write { $0.put([3], forKey: [3]) }
      try reopened.close()
      let last = try TinyStore.open(in: files.process(3))
      #expect(try last.content().count == 3, "\(size) bytes")
      #expect(try last.verify().isSound, "\(size) bytes")
    }
    ProofTally.count("T20", "sizes", sizes.count)
  }

  @Test func spacesHaveNamesOfEverySizeUpToTheirNumber() throws {
    let files = MemoryFileSystem()
    let database = try TinyStore.open(in: files)
    #expect(try database.space("") == .standard)
    let count = Int(Limits.Space.userCodes.upperBound - Limits.Space.firstUserCode)
    var spaces: [Space] = []
    for number in 0..<count {
      let name = "\(number)".padding(to: [3, 127, 128, 255][number % 4])
      spaces.append(try database.space(name))
    }
    #expect(Set(spaces).count == count)
    #expect(throws: DatabaseError.self) { try database.space("one more") }
    #expect(throws: DatabaseError.self) { try database.space("x".padding(to: 256)) }
    let last = try #require(spaces.last)
    try database.write { $0.put([1], forKey: Self.key(65_535), in: last) }
    try database.compact()
    try database.close()
    let reopened = try TinyStore.open(in: files)
    #expect(try reopened.value(forKey: Self.key(65_535), in: last) == [1])
    #expect(try reopened.verify().isSound)
    ProofTally.count("T20", "sizes", count)
  }
}

extension String {
  /// The text with as many x behind it as make it that long.
  fileprivate func padding(to count: Int) -> String {
    self + String(repeating: "x", count: max(0, count - utf8.count))
  }
}
