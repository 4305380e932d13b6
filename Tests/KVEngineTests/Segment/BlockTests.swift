import Testing

@testable import KVEngine

@Suite struct BlockTests {
  private func entries(_ seed: UInt64, _ count: Int) -> [SegmentTestEntry] {
    var random = SegmentTestRandom(seed: seed)
    var keys: Set<[UInt8]> = []
    while keys.count < count {
      let length = Int.random(in: 1...6, using: &random)
      keys.insert([1] + (0..<length).map { _ in UInt8.random(in: 0...2, using: &random) })
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
      SegmentTestEntry(
        key: key, sequence: UInt64.random(in: 1000...1_000_000, using: &random),
        kind: RecordKind.allCases.randomElement(using: &random) ?? .put,
        value: [UInt8](repeating: 9, count: Int.random(in: 0...200, using: &random)))
    }
  }

  private func build(_ entries: [SegmentTestEntry], hasZeroBase: Bool = false) -> [UInt8] {
    var builder = BlockBuilder(hasZeroBase: hasZeroBase)
    for entry in entries { expectAppended(entry, to: &builder) }
    let bound = builder.byteCount
    var block: [UInt8] = []
    builder.finish(into: &block)
    #expect(block.count <= bound)
    #expect(builder.isEmpty == true)
    return block
  }

  private func open(_ bytes: [UInt8]) throws(FormatError) -> BlockReader {
    var reader = BlockReader()
    reader.take(
      try Block(ByteBuffer(copying: bytes.rawBytes), structure: "data block"))
    return reader
  }

  private func expectAppended(_ entry: SegmentTestEntry, to builder: inout BlockBuilder) {
    let isAppended = builder.append(entry)
    #expect(isAppended)
  }

  @Test func aWalkBackIsBoundedThoughRestartPointsAreMissing() throws {
    var bytes: [UInt8] = [0, 0, 2, 0, 1, 1, 0]
    for number in 1...16 as ClosedRange<UInt8> { bytes += [1, 1, 0, 1, number] }
    bytes.append(u32: 1)
    bytes.append(u32: 1)
    var reader = try open(bytes)
    try reader.seekToFirst()
    while reader.isValid { try reader.next() }
    do {
      try reader.seekToLast()
      Issue.record("walked over 17 entries")
    } catch {
      #expect(error.reason == "restart points are too far apart")
    }
    #expect(reader.isValid == false)
  }

  @Test(arguments: [1, 2, 15, 16, 17, 33, 200], [false, true])
  func entriesComeBackInBothDirections(count: Int, hasZeroBase: Bool) throws {
    let entries = entries(UInt64(count), count)
    var reader = try open(build(entries, hasZeroBase: hasZeroBase))
    try reader.seekToFirst()
    for entry in entries {
      #expect(reader.entry == entry)
      try reader.next()
    }
    #expect(reader.isValid == false)
    try reader.seekToLast()
    for entry in entries.reversed() {
      #expect(reader.entry == entry)
      try reader.previous()
    }
    #expect(reader.isValid == false)
  }

  @Test func theLayoutIsThatOfTheFormat() {
    let block = build([
      SegmentTestEntry(key: [1, 5, 5], sequence: 9, kind: .insertion, value: [0xAA]),
      SegmentTestEntry(key: [1, 5, 6], sequence: 7, kind: .tombstone),
    ])
    #expect(
      block == [7]  // base
        + [0, 3, 1, 2 << 2 | 2, 1, 5, 5, 0xAA] + [2, 1, 0, 0, 6]  // entries
        + [1, 0, 0, 0] + [1, 0, 0, 0])  // restart points
  }

  @Test func anIndexKeepsSequencesAsTheyAre() throws {
    let entries = [SegmentTestEntry(key: [1, 2], sequence: 300, kind: .put, value: [1])]
    let block = build(entries, hasZeroBase: true)
    #expect(block.first == 0)
    var reader = try open(block)
    try reader.seekToLast()
    #expect(reader.tag.sequence == 300)
  }

  @Test(arguments: [64, 100, 4096])
  func aBlockNeverPassesItsBoundUnlessItHasOneEntry(bound: Int) {
    var builder = BlockBuilder()
    var block: [UInt8] = []
    for entry in entries(5, 300) where !builder.append(entry, bound: bound) {
      let count = builder.entryCount
      builder.finish(into: &block)
      #expect(block.count <= bound || count == 1)
      expectAppended(entry, to: &builder)
    }
  }

  @Test(arguments: [0, 31, 32, 4095, 4096, 1 << 54, Limits.Sequence.maximum])
  func theSizeOfASingleEntryIsExact(sequence: SequenceNumber) {
    for count in [0, 1, 127, 128, 16_383, 16_384] {
      var builder = BlockBuilder(hasZeroBase: true)
      let value = [UInt8](repeating: 0, count: count)
      expectAppended(
        SegmentTestEntry(key: [1, 2], sequence: sequence, kind: .put, value: value), to: &builder)
      let byteCount = builder.byteCount
      var block: [UInt8] = []
      builder.finish(into: &block)
      #expect(block.count == byteCount)
    }
  }

  @Test(arguments: [UInt64](1...4))
  func searchesAgreeWithASortedArray(seed: UInt64) throws {
    var random = SegmentTestRandom(seed: seed)
    let entries = entries(seed, 70)
    var reader = try open(build(entries))
    for _ in 0..<800 {
      let length = Int.random(in: 0...7, using: &random)
      let key = [1] + (0..<length).map { _ in UInt8.random(in: 0...3, using: &random) }
      let sequence = UInt64.random(in: 1000...1_000_000, using: &random)
      try reader.seek(toFirstAtOrAfter: key.rawBytes, sequence)
      let expected = entries.first { entry in
        if entry.key == key { return entry.sequence <= sequence }
        return key.lexicographicallyPrecedes(entry.key)
      }
      #expect(reader.entry == expected, "seed \(seed), key \(key)")
    }
  }

  /// Whatever bytes a block has: every move ends, with a position, without one, or with an error.
  @Test(arguments: [UInt64](1...6))
  func garbageNeverTraps(seed: UInt64) {
    var random = SegmentTestRandom(seed: seed)
    let sound = build(entries(seed, 40))
    for _ in 0..<400 {
      var bytes = sound
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
          UInt8.random(in: 0...3, using: &random)
        }
      }
      try? walk(bytes)
    }
  }

  private func walk(_ bytes: [UInt8]) throws(FormatError) {
    var reader = try open(bytes)
    var steps = 0
    let key: [UInt8] = [1, 1, 1]
    try? reader.seek(toFirstAtOrAfter: key.rawBytes, 5)
    try? reader.seekToLast()
    while reader.isValid, steps < 5000 {
      try? reader.previous()
      steps += 1
    }
    try reader.seekToFirst()
    while reader.isValid {
      #expect(reader.key.byteCount > 0)
      try reader.next()
      steps += 1
    }
    #expect(steps < 5000)
  }

  @Test func aSequenceAboveTheLastOneIsRefused() throws {
    var bytes: [UInt8] = []
    bytes.append(varint: Limits.Sequence.maximum)
    let start = UInt32(bytes.count)
    bytes += [0, 2, 0, 1 << 2, 1, 1]
    bytes.append(u32: start)
    bytes.append(u32: 1)
    var reader = try open(bytes)
    let error = #expect(throws: FormatError.self) { try reader.seekToFirst() }
    #expect(error?.reason == "sequence is out of range")
    #expect(reader.isValid == false)
  }

  @Test func brokenTrailersAreRefused() {
    let sound = build(entries(1, 20))
    for count in 0..<4 {
      #expect(throws: FormatError.self) { _ = try open([UInt8](repeating: 1, count: count)) }
    }
    for restarts in [0, 3, 1 << 20, UInt32.max] {
      var bytes = Array(sound.dropLast(4))
      bytes.append(u32: restarts)
      #expect(throws: FormatError.self) { _ = try open(bytes) }
    }
    #expect(throws: FormatError.self) { _ = try open([0] + [1, 0, 0, 0] + [1, 0, 0, 0]) }
  }
}

extension BlockBuilder {
  fileprivate mutating func append(_ entry: SegmentTestEntry, bound: Int = .max) -> Bool {
    let (key, value) = (entry.key, entry.value)
    return append(key: key.rawBytes, tag: entry.tag, value: value.rawBytes, bound: bound)
  }
}

extension BlockReader {
  fileprivate var entry: SegmentTestEntry? {
    guard isValid else { return nil }
    return SegmentTestEntry(
      key: [UInt8](copying: key), sequence: tag.sequence, kind: tag.kind,
      value: [UInt8](copying: value))
  }
}
