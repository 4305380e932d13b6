import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// Imports: the same rows in any order, any pieces and any number of times give the same memos.
@Suite struct MemoTimelineImportTests {
  /// Rows with many versions of the same ids and no two equal rows.
  private func rows(_ seed: UInt64, count: Int = 300) throws -> [Memo] {
    var generator = SeededGenerator(seed: seed)
    var rows: [Memo] = []
    var known: Set<Memo> = []
    while rows.count < count {
      var row = try memo(
        Int64.random(in: 0..<80, using: &generator), at: Int64.random(in: 0..<4, using: &generator),
        body: ["", "a", "b", "caf\u{E9}", "cafe\u{301}"].randomElement(using: &generator) ?? "")
      if generator.coin() {
        row.changedAt = MemoTimestamp(microseconds: Int64.random(in: 0..<3, using: &generator))
      }
      if generator.coin() {
        let microseconds = row.createdAt.microseconds
        row.createdAt = try #require(MemoTimestamp(microseconds: microseconds, offsetSeconds: 60))
      }
      if known.insert(row).inserted { rows.append(row) }
    }
    return rows
  }

  private func imported(_ rows: [Memo], batch: Int) throws -> (MemoTimeline, ImportCounts) {
    let timeline = MemoTimeline.inMemory()
    var counts = ImportCounts()
    for start in stride(from: 0, to: rows.count, by: batch) {
      counts += try timeline.importBatch(Array(rows[start..<min(start + batch, rows.count)]))
    }
    return (timeline, counts)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func anyOrderAndAnyPiecesGiveTheSameMemos(seed: UInt64) throws {
    let rows = try rows(seed)
    let expected = Set(try imported(rows, batch: 1).0.allMemos())
    #expect(expected.count == Set(rows.map(\.id)).count)
    var generator = SeededGenerator(seed: seed, stream: 1)
    for batch in [1, 2, 17, 300] {
      let shuffled = rows.shuffled(using: &generator)
      let (timeline, counts) = try imported(shuffled, batch: batch)
      #expect(Set(try timeline.allMemos()) == expected, "seed \(seed), batch \(batch)")
      #expect(counts.total == rows.count)
      #expect(try timeline.count() == expected.count)
      #expect(try timeline.verify().isSound)
    }
  }

  /// Counts and order do not depend on where the batches end.
  @Test(arguments: 11...14 as ClosedRange<UInt64>)
  func aBatchIsLikeItsMemosOneByOne(seed: UInt64) throws {
    let rows = try rows(seed)
    let (single, singleCounts) = try imported(rows, batch: 1)
    for batch in [3, 50, 300] {
      let (timeline, counts) = try imported(rows, batch: batch)
      #expect(try timeline.allMemos() == single.allMemos(), "seed \(seed), batch \(batch)")
      #expect(counts == singleCounts, "seed \(seed), batch \(batch)")
    }
  }

  @Test(arguments: 21...24 as ClosedRange<UInt64>)
  func theSecondImportChangesNothing(seed: UInt64) throws {
    let rows = try rows(seed)
    let (timeline, _) = try imported(rows, batch: 40)
    let before = try timeline.allMemos()
    let sequence = try timeline.database.snapshot().sequence
    var generator = SeededGenerator(seed: seed, stream: 1)
    let counts = try timeline.importBatch(rows.shuffled(using: &generator))
    #expect(try timeline.allMemos() == before)
    #expect(counts.inserted == 0 && counts.replaced == 0, "seed \(seed): \(counts)")
    #expect(counts.unchanged == before.count && counts.total == rows.count)
    #expect(try timeline.database.snapshot().sequence == sequence)
  }

  @Test func duplicatesInsideABatchAreOneMemo() throws {
    let timeline = MemoTimeline.inMemory()
    let old = try memo(1, at: 1, body: "old")
    let new = try memo(1, at: 2, body: "new")
    let counts = try timeline.importBatch([old, old, new, old, new, try memo(2)])
    #expect(counts.inserted == 2 && counts.unchanged == 2)
    #expect(counts.replaced == 1 && counts.outdated == 1)
    #expect(try timeline.latest(9) == [new, try memo(2)])
    #expect(try timeline.count() == 2)
  }

  @Test func theNewerVersionStaysByCreationThenChangeThenBody() throws {
    func version(_ second: Int64, _ change: Int64?, _ body: String) throws -> Memo {
      var version = try memo(1, at: second, body: body)
      version.changedAt = change.flatMap { MemoTimestamp(microseconds: $0) }
      return version
    }
    // Ascending.
    let versions = [
      try version(1, 9, "z"), try version(2, nil, "a"), try version(2, nil, "b"),
      try version(2, 1, ""), try version(2, 2, "caf"), try version(2, 2, "cafe\u{301}"),
      try version(2, 2, "caf\u{E9}"), try version(3, nil, ""),
    ]
    for (place, older) in versions.enumerated() {
      for newer in versions[(place + 1)...] {
        for pair in [[older, newer], [newer, older]] {
          #expect(try imported(pair, batch: 1).0.allMemos() == [newer])
          #expect(try imported(pair, batch: 2).0.allMemos() == [newer])
        }
      }
    }
  }

  @Test func memosArriveInTheirOrder() throws {
    let timeline = MemoTimeline.inMemory()
    _ = try timeline.importBatch(try (0..<30).map { try memo($0, at: 5) })
    _ = try timeline.importBatch(try (25..<60).map { try memo($0, at: 5) })
    #expect(try timeline.allMemos().map(\.id) == (0..<60).reversed().map { MemoID($0) })
  }

  @Test func aBatchThatCannotBeWrittenLeavesNothing() throws {
    let base = MemoryFileSystem()
    try base.makeDirectory("/folder")
    let plain = try MemoTimeline(at: "/folder/store", in: base)
    _ = try plain.importBatch(try (0..<10).map { try memo($0) })
    try plain.close()
    let faulty = FaultFileSystem(base, Fault(.error(ENOSPC), at: 1, of: [.write], isLasting: true))
    let timeline = try MemoTimeline(at: "/folder/store", in: faulty)
    #expect(throws: MemoError.self) {
      try timeline.importBatch(try (0..<20).map { try memo($0, at: 1) })
    }
    #expect(try timeline.allMemos().count == 10)
    #expect(try timeline.memo(for: MemoID(0)) == (try memo(0)))
  }
}
