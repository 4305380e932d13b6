import KVTestSupport
import Synchronization
import Testing

@testable import KVEngine

/// The ordered table of a process's writes.
@Suite struct MemTableTests {
  private func entry(_ cursor: MemTableCursor) -> ModelEntry? {
    guard cursor.isValid else { return nil }
    return ModelEntry(
      key: [UInt8](copying: cursor.key), sequence: cursor.tag.sequence, kind: cursor.tag.kind,
      value: [UInt8](copying: cursor.value))
  }

  /// A table of random batches, and the same as a sorted list.
  private func make(seed: UInt64) throws -> (MemTable, [ModelEntry]) {
    var random = SeededGenerator(seed: seed)
    let table = MemTable()
    var model: [ModelEntry] = []
    for _ in 0..<Int.random(in: 1...30, using: &random) {
      let (batch, entries) = randomBatch(
        count: Int.random(in: 1...12, using: &random),
        firstSequence: UInt64(model.count) + 1, spaces: [1, 64, 200], using: &random)
      try table.apply(
        batch.bytes.rawBytes, count: batch.operationCount,
        firstSequence: UInt64(model.count) + 1)
      model += entries
    }
    return (table, model.sorted { $0.precedes($1) })
  }

  @Test(arguments: 0..<15 as Range<UInt64>) func entriesComeInTheOrderOfASlowModel(
    seed: UInt64
  ) throws {
    let (table, model) = try make(seed: seed)
    #expect(table.entryCount == model.count)
    #expect(table.changes.codes == Set(model.map { $0.key[0] }).sorted())
    for code in table.changes.codes {
      let insertions = model.filter { $0.key[0] == code && $0.kind == .insertion }
      #expect(table.changes[code] == insertions.count)
    }
    var cursor = MemTableCursor(table)
    #expect(!cursor.isValid)
    var found: [ModelEntry] = []
    cursor.seek(toFirstAtOrAfter: [UInt8]().rawBytes, sequence: .max)
    while let entry = entry(cursor) {
      found.append(entry)
      cursor.next()
    }
    #expect(found == model, "seed \(seed)")
    var back: [ModelEntry] = []
    cursor.seek(toLastBefore: [255].rawBytes)
    while let entry = entry(cursor) {
      back.append(entry)
      cursor.previous()
    }
    #expect(back == model.reversed(), "seed \(seed)")
  }

  @Test(arguments: 0..<8 as Range<UInt64>) func seeksLandWhereASlowModelSays(
    seed: UInt64
  ) throws {
    let (table, model) = try make(seed: seed)
    var cursor = MemTableCursor(table)
    let keys = ModelEntry.trickyKeys
    for key in keys.map({ [64] + $0 }) + keys.map({ [63] + $0 + [0] }) + [[], [65]] {
      for sequence in [0, 9, 40, .max] as [SequenceNumber] {
        cursor.seek(toFirstAtOrAfter: key.rawBytes, sequence: sequence)
        let first = model.first { !$0.precedes(.place(key, sequence)) }
        #expect(entry(cursor) == first, "seed \(seed) \(key) \(sequence)")
      }
      cursor.seek(toLastBefore: key.rawBytes)
      let last = model.last { $0.key.lexicographicallyPrecedes(key) }
      #expect(entry(cursor) == last, "seed \(seed) \(key)")
    }
  }

  @Test(.bug(id: "B67"), arguments: [0, 1, 16_384, 300_000, 1 << 20]) func valuesOfEverySizeFit(
    count: Int
  ) throws {
    let table = MemTable()
    for index in 0..<5 as Range<UInt64> {
      var batch = WriteBatch()
      batch.put([UInt8](repeating: UInt8(index + 1), count: count), forKey: [UInt8(index)])
      batch.put([7], forKey: [UInt8](repeating: UInt8(index), count: 65_535))
      try table.apply(batch.bytes.rawBytes, count: 2, firstSequence: 1 + 2 * index)
    }
    var cursor = MemTableCursor(table)
    cursor.seek(toFirstAtOrAfter: [UInt8]().rawBytes, sequence: .max)
    var found = 0
    while let entry = entry(cursor) {
      let index = entry.key[1]
      let isShort = entry.key.count == 2
      #expect(entry.value == (isShort ? [UInt8](repeating: index + 1, count: count) : [7]))
      found += 1
      cursor.next()
    }
    #expect(found == 10)
  }

  @Test func aBatchThatDoesNotDecodeIsRefused() {
    let table = MemTable()
    #expect(throws: FormatError.self) {
      try table.apply([1, 2, 64].rawBytes, count: 1, firstSequence: 1)
    }
    #expect(throws: FormatError.self) {
      try table.apply(LogSample.batch(0).bytes.rawBytes, count: 3, firstSequence: 1)
    }
  }

  /// One thread writes, two read: what they see is in order and complete, and holds everything
  /// that was there when they began.
  @Test func readersBesideAWriterSeeCompleteEntriesInOrder() {
    let table = MemTable()
    let published = Atomic<UInt64>(0)
    let isDone = Atomic(false)
    let findings = Findings()
    let total: UInt64 = 3000

    /// The key and value that a sequence writes: a few keys often, many keys once.
    @Sendable func content(_ sequence: UInt64) -> (key: [UInt8], value: [UInt8]) {
      var random = SeededGenerator(seed: sequence)
      let key = sequence % 3 == 0 ? [UInt8(sequence % 7)] : random.bytes(6)
      return (key, random.bytes(Int(sequence % 40)))
    }
    @Sendable func write() {
      for sequence in 1...total {
        let (key, value) = content(sequence)
        var batch = WriteBatch()
        batch.put(value, forKey: key)
        findings.catching("apply") {
          try table.apply(batch.bytes.rawBytes, count: 1, firstSequence: sequence)
        }
        published.store(sequence, ordering: .releasing)
      }
      isDone.store(true, ordering: .releasing)
    }
    @Sendable func read(backward: Bool) {
      while true {
        let isLast = isDone.load(ordering: .acquiring)
        let visible = published.load(ordering: .acquiring)
        var cursor = MemTableCursor(table)
        var seen: UInt64 = 0
        var before: ModelEntry?
        if backward {
          cursor.seek(toLastBefore: [65].rawBytes)
        } else {
          cursor.seek(toFirstAtOrAfter: [64].rawBytes, sequence: .max)
        }
        while let found = entry(cursor) {
          let expected = content(found.sequence)
          findings.check(found.key == [64] + expected.key, "key of \(found.sequence)")
          findings.check(found.value == expected.value, "value of \(found.sequence)")
          if let before {
            let isOrdered = backward ? found.precedes(before) : before.precedes(found)
            findings.check(isOrdered, "order at \(found.sequence)")
          }
          if found.sequence <= visible { seen += 1 }
          before = found
          if backward { cursor.previous() } else { cursor.next() }
        }
        findings.check(seen == visible, "\(seen) of \(visible) entries")
        if isLast { return }
      }
    }
    onThreads(3) { index in
      if index == 0 { write() } else { read(backward: index == 2) }
    }
    #expect(findings.all == [])
    #expect(table.entryCount == Int(total))
  }

  /// A version that comes between the search for its successor and the answer is not the answer.
  @Test func aSearchBesideAWriterFindsTheVersionOfItsSequence() {
    let table = MemTable()
    let published = Atomic<UInt64>(0)
    let findings = Findings()
    let total = UInt64(Thoroughness.isLarge ? 200_000 : 20_000)
    onThreads(3) { index in
      var sequence: UInt64 = 0
      while sequence < total {
        if index == 0 {
          sequence += 1
          var batch = WriteBatch()
          batch.put([], forKey: [1])
          findings.catching("apply") {
            try table.apply(batch.bytes.rawBytes, count: 1, firstSequence: sequence)
          }
          published.store(sequence, ordering: .releasing)
        } else {
          sequence = published.load(ordering: .acquiring)
          if sequence == 0 { continue }
          var cursor = MemTableCursor(table)
          cursor.seek(toFirstAtOrAfter: [64, 1].rawBytes, sequence: sequence)
          let found = cursor.isValid ? cursor.tag.sequence : 0
          findings.check(found == sequence, "\(found) at \(sequence)")
        }
      }
    }
    #expect(findings.all == [])
  }
}
