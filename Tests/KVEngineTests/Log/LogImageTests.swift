import KVTestSupport
import Testing

@testable import KVEngine

/// The recovered log as a memtable.
@Suite struct LogImageTests {
  /// An image of random operations in two spaces, and the same as a sorted list.
  private func make(seed: UInt64) throws -> (LogImage, [ModelEntry]) {
    var random = SeededGenerator(seed: seed)
    var log = try LogSample(lastSequence: seed * 10)
    var model: [ModelEntry] = []
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      let (batch, entries) = randomBatch(
        count: Int.random(in: 1...9, using: &random), firstSequence: log.lastSequence + 1,
        spaces: [3, 64], using: &random)
      try log.append(batch)
      model += entries
    }
    let image = try LogImage(log.read(log.bytes))
    return (image, model.sorted { $0.precedes($1) })
  }

  private func entry(_ cursor: LogImageCursor) -> ModelEntry? {
    guard cursor.isValid else { return nil }
    return ModelEntry(
      key: [UInt8](copying: cursor.key), sequence: cursor.tag.sequence, kind: cursor.tag.kind,
      value: [UInt8](copying: cursor.value))
  }

  @Test(arguments: 0..<20 as Range<UInt64>) func entriesComeInTheOrderOfASlowModel(
    seed: UInt64
  ) throws {
    let (image, model) = try make(seed: seed)
    #expect(image.changes.codes == Set(model.map { $0.key[0] }).sorted())
    #expect(image.entryCount == model.count)
    for code in [3, 64, 65] as [UInt8] {
      let expected = model.filter { $0.key[0] == code }
      #expect(image.changes[code] == expected.filter { $0.kind == .insertion }.count)
      var cursor = LogImageCursor(image, space: code)
      #expect(!cursor.isValid)
      var found: [ModelEntry] = []
      cursor.seek(toFirstAtOrAfter: [code].rawBytes, sequence: .max)
      while let entry = entry(cursor) {
        found.append(entry)
        cursor.next()
      }
      #expect(found == expected, "seed \(seed)")
      var back: [ModelEntry] = []
      cursor.seek(toLastBefore: [code + 1].rawBytes)
      while let entry = entry(cursor) {
        back.append(entry)
        cursor.previous()
      }
      #expect(back == expected.reversed(), "seed \(seed)")
    }
  }

  @Test(.bug(id: "B20"), arguments: 0..<10 as Range<UInt64>) func seeksLandWhereASlowModelSays(
    seed: UInt64
  ) throws {
    let (image, model) = try make(seed: seed)
    let keys = ModelEntry.trickyKeys
    for code in [3, 64] as [UInt8] {
      let expected = model.filter { $0.key[0] == code }
      var cursor = LogImageCursor(image, space: code)
      let targets =
        keys.map { [code] + $0 } + keys.map { [code] + $0 + [0] }
        + [[code], [code - 1], [code + 1], [code - 1, 9], [code + 1, 0], []]
      for key in targets {
        for sequence in [0, seed * 10 + 5, .max] as [SequenceNumber] {
          cursor.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
          let first = expected.first { !$0.precedes(.place(key, sequence)) }
          #expect(entry(cursor) == first, "seed \(seed) \(key) \(sequence)")
        }
        cursor.seek(toLastBefore: key.rawBytes)
        let last = expected.last { $0.key.lexicographicallyPrecedes(key) }
        #expect(entry(cursor) == last, "seed \(seed) \(key)")
      }
    }
  }

  @Test func aPayloadThatDoesNotDecodeIsRefusedWithItsPlace() throws {
    var log = try LogSample()
    try log.append(LogSample.batch(0))
    var batch = WriteBatch()
    batch.put([1], forKey: [1])
    // The checksum holds, but the record says two operations and has one.
    try log.writer.append(batch.bytes, operationCount: 2, firstSequence: log.lastSequence + 1)
    let contents = try log.read(log.bytes)
    #expect(contents.records.count == 2)
    let error = #expect(throws: FormatError.self) { try LogImage(contents) }
    #expect(try #require(error).offset >= log.ends[1] + RecordHead.byteCount)
  }
}
