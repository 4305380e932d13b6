import Testing

@testable import KVEngine

@Suite struct SegmentCursorTests {
  @Test(arguments: [UInt64](1...6), [64, 300, 4096])
  func bothDirectionsAreMirrorImages(seed: UInt64, blockByteCount: Int) throws {
    let model = try SegmentTestModel(seed: seed, count: 150, blockByteCount: blockByteCount)
    var cursor = SegmentCursor(model.reader())
    try cursor.seekToFirst()
    #expect(try cursor.forward() == model.entries, "seed \(seed)")
    try cursor.seekToLast()
    #expect(try cursor.backward() == model.entries.reversed(), "seed \(seed)")
  }

  @Test(arguments: [UInt64](1...8), [64, 300])
  func randomMovesAgreeWithASortedArray(seed: UInt64, blockByteCount: Int) throws {
    let model = try SegmentTestModel(seed: seed, count: 120, blockByteCount: blockByteCount)
    var random = SegmentTestRandom(seed: seed &* 77)
    let access: SegmentCursor.Access = seed % 2 == 0 ? .scan : .point
    var cursor = SegmentCursor(
      model.reader(cache: BlockCache(byteCount: 4096)), access: access)
    var position: Int?
    for step in 0..<600 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        try cursor.seekToFirst()
        position = 0
      case 1:
        try cursor.seekToLast()
        position = model.entries.count - 1
      case 2, 3:
        let (key, sequence) = target(in: model, &random)
        try cursor.seek(atOrAfter: key, sequence)
        position = model.position(atOrAfter: key, sequence)
      case 4, 5:
        let (key, _) = target(in: model, &random)
        try cursor.seek(before: key)
        position = model.position(atOrAfter: key, Limits.Sequence.maximum) - 1
      case 6, 7, 8:
        try cursor.next()
        position = position.map { $0 + 1 }
      default:
        try cursor.previous()
        position = position.map { $0 - 1 }
      }
      if let now = position, !model.entries.indices.contains(now) { position = nil }
      #expect(cursor.current == position.map { model.entries[$0] }, "seed \(seed) step \(step)")
    }
  }

  private func target(
    in model: SegmentTestModel, _ random: inout SegmentTestRandom
  ) -> ([UInt8], SequenceNumber) {
    guard var entry = model.entries.randomElement(using: &random) else { return ([], 0) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: entry.key.append(0)
    case 1: _ = entry.key.popLast()
    case 2: entry.key = [UInt8.random(in: 0...255, using: &random)]
    case 3: entry.sequence -= 1
    case 4: entry.sequence = Limits.Sequence.maximum
    default: break
    }
    return (entry.key, entry.sequence)
  }

  @Test func everyKeyIsFoundFromEveryFreshCursor() throws {
    let model = try SegmentTestModel(seed: 11, count: 60, blockByteCount: 64)
    for (position, entry) in model.entries.enumerated() {
      var cursor = SegmentCursor(model.reader())
      try cursor.seek(atOrAfter: entry.key, entry.sequence)
      #expect(cursor.current == entry)
      try cursor.previous()
      #expect(cursor.current == (position == 0 ? nil : model.entries[position - 1]))
    }
  }

  @Test(.bug(id: "B25")) func movesWithoutAPositionDoNothing() throws {
    let model = try SegmentTestModel(seed: 3, count: 40, blockByteCount: 64)
    var cursor = SegmentCursor(model.reader())
    try cursor.next()
    try cursor.previous()
    #expect(cursor.isValid == false)
    try cursor.seek(atOrAfter: [0xFF])
    #expect(cursor.isValid == false)
    try cursor.previous()
    #expect(cursor.isValid == false)
    try cursor.seek(before: [0])
    #expect(cursor.isValid == false)
    try cursor.next()
    #expect(cursor.isValid == false)
    try cursor.seekToFirst()
    #expect(cursor.current == model.entries.first)
  }

  @Test(.bug(id: "B28")) func bytesAreOrderedAsUnsignedNumbers() throws {
    var keys: [[UInt8]] = (0...255).map { [64, UInt8($0)] }
    for first in [0, 0x7F, 0x80, 0xFF] as [UInt8] {
      for second in [0, 0x7F, 0x80, 0xFF] as [UInt8] { keys.append([64, first, second]) }
    }
    let model = try SegmentTestModel(
      keys.map { SegmentTestEntry(key: $0, sequence: 5) }, blockByteCount: 64)
    var cursor = SegmentCursor(model.reader())
    try cursor.seekToFirst()
    let found = try cursor.forward().map(\.key)
    #expect(found == keys.sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test(.bug(id: "B23")) func valuesStayUntilTheNextMove() throws {
    let entries = (0..<60).map { number in
      SegmentTestEntry(
        key: [1, UInt8(number)], sequence: 9,
        value: [UInt8](repeating: UInt8(number), count: number % 7 == 0 ? 3000 : 5))
    }
    let model = try SegmentTestModel(entries, blockByteCount: 128)
    var cursor = SegmentCursor(model.reader())
    try cursor.seekToLast()
    for entry in entries.reversed() {
      expectBoth(entry, at: cursor)
      try cursor.previous()
    }
  }

  /// Takes key and value before it looks at either.
  private func expectBoth(_ entry: SegmentTestEntry, at cursor: borrowing SegmentCursor) {
    let (key, value) = (cursor.key, cursor.value)
    #expect([UInt8](copying: key) == entry.key)
    #expect([UInt8](copying: value) == entry.value)
  }

  @Test func largeAndEmptyEntriesComeBack() throws {
    let longest = [64] + [UInt8](repeating: 0xFF, count: Limits.Key.maximumByteCount)
    let entries = [
      SegmentTestEntry(key: [1], sequence: 0, kind: .put, value: []),
      SegmentTestEntry(key: [1, 0], sequence: 1, kind: .tombstone),
      SegmentTestEntry(
        key: [1, 1], sequence: 2, value: (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 / 5) }),
      SegmentTestEntry(
        key: [1, 2], sequence: Limits.Sequence.maximum, kind: .insertion, value: [7]),
      SegmentTestEntry(key: longest, sequence: 3, value: [1, 2, 3]),
      SegmentTestEntry(key: Array(longest.dropLast()), sequence: 3, kind: .removal),
    ]
    let model = try SegmentTestModel(entries)
    var cursor = SegmentCursor(model.reader())
    try cursor.seekToFirst()
    #expect(try cursor.forward() == model.entries)
    try cursor.seekToLast()
    #expect(try cursor.backward() == model.entries.reversed())
  }
}
