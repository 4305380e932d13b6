import KVTestSupport
import Testing

@testable import KVEngine

/// What a reader at one moment sees, against a sorted list.
@Suite struct VisibleCursorTests {
  private func entry(_ cursor: borrowing VisibleCursor) -> ModelEntry? {
    guard cursor.isValid else { return nil }
    return ModelEntry(
      key: [UInt8](copying: cursor.key), sequence: cursor.tag.sequence, kind: cursor.tag.kind,
      value: [UInt8](copying: cursor.value))
  }

  /// A cursor of random bounds at a random moment, and its model.
  private struct Pair: ~Copyable {
    var cursor: VisibleCursor
    var model: ModelCursor
  }

  private func make(_ sample: MergeSample, using random: inout SeededGenerator) -> Pair {
    let keys = ModelEntry.trickyKeys
    func bound() -> [UInt8] {
      let key = keys[Int.random(in: 0..<keys.count, using: &random)]
      return [64] + key + (random.coin() ? [] : [0])
    }
    let lower = random.coin() ? [64] : bound()
    let upper: [UInt8]? = random.coin() ? [65] : bound()
    let sequence = UInt64.random(in: 0...sample.lastSequence, using: &random)
    return Pair(
      cursor: VisibleCursor(sample.merge(), lower: lower, upper: upper, sequence: sequence),
      model: ModelCursor(sample.visible(at: sequence, from: lower, upTo: upper)))
  }

  @Test(.bug(id: "B17"), .bug(id: "B25"), .bug(id: "B29"), arguments: 0..<40 as Range<UInt64>)
  func everyMoveLandsWhereASlowModelSays(seed: UInt64) throws {
    let sample = try MergeSample(seed: seed)
    var random = SeededGenerator(seed: seed, stream: 2)
    let keys = ModelEntry.trickyKeys
    for round in 0..<8 {
      var pair = make(sample, using: &random)
      #expect(pair.cursor.isValid == false)
      var moves: [String] = []
      for _ in 0..<40 {
        let key = [64] + keys[Int.random(in: 0..<keys.count, using: &random)]
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          moves.append("first at or after \(key)")
          try pair.cursor.seek(toFirstAtOrAfter: key)
          pair.model.seek(toFirstAtOrAfter: key)
        case 1:
          moves.append("last at or before \(key)")
          try pair.cursor.seek(toLastAtOrBefore: key)
          pair.model.seek(toLastAtOrBefore: key)
        case 2...4:
          moves.append("next")
          try pair.cursor.next()
          pair.model.next()
        default:
          moves.append("previous")
          try pair.cursor.previous()
          pair.model.previous()
        }
        guard entry(pair.cursor) == pair.model.current else {
          Issue.record("seed \(seed) round \(round): \(moves.suffix(5))")
          return
        }
      }
    }
  }

  @Test(.bug(id: "B20"), arguments: 0..<30 as Range<UInt64>)
  func forwardAndBackwardAreMirrorImages(seed: UInt64) throws {
    let sample = try MergeSample(seed: seed)
    var random = SeededGenerator(seed: seed, stream: 3)
    for _ in 0..<6 {
      var pair = make(sample, using: &random)
      var forward: [ModelEntry] = []
      try pair.cursor.next()
      while let entry = entry(pair.cursor) {
        forward.append(entry)
        try pair.cursor.next()
      }
      #expect(forward == pair.model.entries, "seed \(seed)")
      var backward: [ModelEntry] = []
      try pair.cursor.previous()
      while let entry = entry(pair.cursor) {
        backward.append(entry)
        try pair.cursor.previous()
      }
      #expect(backward == forward.reversed(), "seed \(seed)")
      try pair.cursor.next()
      #expect(entry(pair.cursor) == forward.first, "seed \(seed)")
    }
  }

  @Test(.bug(id: "B28")) func oneAndTwoByteKeysComeInUnsignedOrder() throws {
    let pairs = [0x00, 0x7F, 0x80, 0xFF].flatMap { first -> [[UInt8]] in
      [0x00, 0x7F, 0x80, 0xFF].map { [first, $0] }
    }
    let keys = (0...255).map { [UInt8($0)] } + pairs
    var random = SeededGenerator(seed: 7)
    var batch = WriteBatch()
    for key in keys.shuffled(using: &random) { batch.put(key, forKey: key) }
    var log = try LogSample()
    try log.append(batch)
    let table = MemTable()
    try table.apply(batch.bytes.rawBytes, count: keys.count, firstSequence: 1000)
    let image = try LogImage(log.read(log.bytes))
    let expected = keys.sorted { $0.lexicographicallyPrecedes($1) }
    let both = [MergeSource.table(table), MergeSource.image(image, space: 64)]
    for sources in [[both[0]], [both[1]], both] {
      var cursor = VisibleCursor(
        MergingCursor(sources), lower: [64], upper: [65], sequence: .max)
      var found: [[UInt8]] = []
      try cursor.next()
      while let entry = entry(cursor) {
        found.append(Array(entry.key.dropFirst()))
        try cursor.next()
      }
      #expect(found == expected)
    }
  }

  @Test func theLastSpaceHasNoKeyBehindIt() throws {
    let table = MemTable()
    var batch = WriteBatch()
    let last = Space(code: 255)
    batch.put([1], forKey: [UInt8](repeating: 0xFF, count: 65_535), in: last)
    batch.put([2], forKey: [0], in: last)
    try table.apply(batch.bytes.rawBytes, count: 2, firstSequence: 1)
    let (lower, upper) = KeyRange.all.bounds(in: last)
    #expect(upper == nil)
    var cursor = VisibleCursor(
      MergingCursor([MergeSource.table(table)]), lower: lower, upper: upper, sequence: 9)
    try cursor.previous()
    #expect(entry(cursor)?.value == [1])
    try cursor.seek(toLastAtOrBefore: [255] + [UInt8](repeating: 0xFF, count: 65_535))
    #expect(entry(cursor)?.value == [1])
    try cursor.previous()
    #expect(entry(cursor)?.value == [2])
    try cursor.previous()
    #expect(cursor.isValid == false)
  }

  /// Versions that are written while a cursor stands do not exist for it.
  @Test(.bug(id: "B17"), arguments: 0..<10 as Range<UInt64>)
  func writesMeanwhileChangeNothing(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, stream: 4)
    let sample = try MergeSample(seed: seed)
    let table = MemTable()
    let sources = sample.tables + [table]
    let merging = MergingCursor(
      sources.map { MergeSource.table($0) }
        + sample.images.map { MergeSource.image($0, space: 64) })
    var cursor = VisibleCursor(
      merging, lower: [64], upper: [65], sequence: sample.lastSequence)
    var model = ModelCursor(
      sample.visible(at: sample.lastSequence, from: [64], upTo: [65]))
    var sequence = sample.lastSequence
    for round in 0..<60 {
      let (batch, entries) = randomBatch(
        count: 3, firstSequence: sequence + 1, using: &random)
      try table.apply(batch.bytes.rawBytes, count: 3, firstSequence: sequence + 1)
      sequence += UInt64(entries.count)
      if random.coin() {
        try cursor.next()
        model.next()
      } else {
        try cursor.previous()
        model.previous()
      }
      #expect(entry(cursor) == model.current, "seed \(seed) round \(round)")
    }
  }
}
