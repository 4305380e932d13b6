import KVTestSupport
import Testing

@testable import KVEngine

/// What compaction does to a store over a long time, by sizes only, at a 32nd of the real scale.
@Suite struct CompactionCostTests {
  private typealias Entry = SimulatedStore.Entry
  private static let day: Int64 = 24 * 3600 * 1_000_000
  /// 8 KiB, 32 KiB, 256 KiB, 1 MiB; a flush makes 8 KiB.
  private let policy = CompactionPolicy(segmentByteCount: 1 << 20)

  /// A memo and its id: newest first, and by hash.
  private func memo(_ time: UInt64, isDeleted: Bool = false) -> [Entry] {
    let hash = (time &+ 1) &* 0x9E37_79B9_7F4A_7C15
    return [
      Entry(
        space: 1, key: .max - time, byteCount: isDeleted ? 20 : 480, isTombstone: isDeleted),
      Entry(space: 2, key: hash, byteCount: 24, isTombstone: isDeleted),
    ]
  }

  /// Twenty memos a day, some of them late, some edited, two imports, a load, one mass deletion.
  @Test func aYearKeepsReadsShortAndWritesFew() {
    var store = SimulatedStore(policy)
    var random = SeededGenerator(seed: 1)
    var times: [UInt64] = []
    var (deepest, largestShare) = (0, 0.0)
    var lines: [String] = []
    for day in 0..<365 as Range<UInt64> {
      let now = Int64(day) * Self.day
      var entries: [Entry] = []
      for number in 0..<20 as Range<UInt64> {
        let late = random.next() % 10 == 0 ? random.next() % min(day + 1, 30) * 1000 : 0
        times.append((day + 40) * 1000 - late + number * 7)
        entries += memo(times[times.count - 1])
        if random.next() % 5 == 0, let edited = times.randomElement(using: &random) {
          entries += memo(edited).prefix(1)
        }
      }
      store.flush(entries, now: now)
      #expect(store.settle(now: now) < 50)
      deepest = max(deepest, store.depth)
      if day == 100 || day == 250 {
        // An import of older memos in pieces of a flush.
        for piece in 0..<150 as Range<UInt64> {
          let imported = (0..<16).map { UInt64($0) * 3 + piece * 48 + day * 100 }
          times += imported
          store.flush(imported.flatMap { memo($0) }, now: now)
          #expect(store.settle(now: now) < 50)
          deepest = max(deepest, store.depth)
        }
      }
      if day == 200 {
        for batch in 0..<3 as Range<UInt64> {
          let loaded = (0..<3200).map { UInt64($0) * 2 + batch * 6400 }
          times += loaded
          store.load(loaded.flatMap { memo($0) }, now: now)
          #expect(store.settle(now: now) < 50)
          deepest = max(deepest, store.depth)
        }
      }
      if day == 300 {
        let deleted = times.filter { $0 % 3 == 0 }
        times.removeAll { $0 % 3 == 0 }
        for start in stride(from: 0, to: deleted.count, by: 200) {
          let part = deleted[start..<min(start + 200, deleted.count)]
          store.flush(part.flatMap { memo($0, isDeleted: true) }, now: now)
          #expect(store.settle(now: now) < 50)
          deepest = max(deepest, store.depth)
        }
      }
      let live = Set(times).count * 504
      largestShare = max(largestShare, Double(store.byteCount) / Double(live))
      if day % 60 == 59 {
        let writes = Double(store.flushedByteCount + store.mergedByteCount)
        lines.append(
          "day \(day + 1): \(store.descriptors.count) segments, \(store.depth) at one key, "
            + "\(store.byteCount >> 10) of \(live >> 10) KiB, written "
            + "\((writes / Double(store.flushedByteCount) * 10).rounded() / 10) times")
      }
    }
    let writes = Double(store.flushedByteCount + store.mergedByteCount)
    let amplification = writes / Double(store.flushedByteCount)
    print(lines.joined(separator: "\n"))
    print("deepest \(deepest), largest share of the live bytes \(largestShare)")
    #expect(deepest <= 20)
    #expect(amplification < 12)
    #expect(largestShare < 2)
    #expect(store.tombstoneCount < store.entryCount / 4)
  }

  @Test(arguments: 0..<12 as Range<UInt64>) func aRequestEndsAndLeavesNoTombstone(seed: UInt64) {
    var store = SimulatedStore(CompactionPolicy(segmentByteCount: 16 << 10))
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Int.random(in: 1...60, using: &random) {
      let reach = random.coin() ? UInt64(40) : 4000
      let start = random.next() % 4000
      store.flush(
        (0..<Int.random(in: 1...40, using: &random)).flatMap { _ in
          memo(start + random.next() % reach, isDeleted: random.next() % 3 == 0)
        }, now: 5)
      if random.coin() { #expect(store.settle(now: 5) < 100, "seed \(seed)") }
    }
    #expect(store.settle(now: 6, isRequested: true) < 200, "seed \(seed)")
    #expect(store.tombstoneCount == 0, "seed \(seed)")
    #expect(store.descriptors.allSatisfy { $0.spaces.count == 1 })
    #expect(store.settle(now: 7, isRequested: true) == 0, "seed \(seed)")
  }

  /// A damaged segment keeps tombstones alive for ever; that must not be a reason to write for
  /// ever.
  @Test(arguments: 0..<12 as Range<UInt64>) func aRequestEndsBesideADamagedSegment(seed: UInt64) {
    var store = SimulatedStore(CompactionPolicy(segmentByteCount: 16 << 10))
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      store.flush(
        (0..<20).flatMap { _ in memo(random.next() % 500, isDeleted: random.coin()) }, now: 5)
    }
    let damaged = Set([store.descriptors[0].number])
    let later = 5 + 2 * Self.day
    #expect(store.settle(now: later, excluding: damaged) < 100, "seed \(seed)")
    #expect(store.settle(now: later, isRequested: true, excluding: damaged) < 100)
    #expect(store.descriptors.contains { $0.number == 1 })
    #expect(store.tombstoneCount > 0, "seed \(seed)")
  }

  @Test func tombstonesOverMoreSegmentsThanOneJobMergesGo() {
    var store = SimulatedStore(CompactionPolicy(segmentByteCount: 4 << 10))
    for piece in 0..<60 as Range<UInt64> {
      store.flush((0..<20).flatMap { memo(piece * 100 + $0) }, now: 1)
      _ = store.settle(now: 1)
    }
    _ = store.settle(now: 1, isRequested: true)
    #expect(store.descriptors.count > 40)
    store.flush((0..<60).flatMap { memo($0 * 100 + 3, isDeleted: true) }, now: 2)
    #expect(store.settle(now: 2 + Self.day) < 60)
    #expect(store.tombstoneCount == 0)
  }
}
