import KVTestSupport
import Testing

@testable import KVEngine

/// Compaction as an app sees it: nothing changes but the space.
@Suite struct DatabaseCompactionTests {
  /// A snapshot and a cursor that is somewhere in its midst.
  private final class Held {
    let snapshot: Snapshot
    let contents: CompactionSample.Contents
    private var cursor: Cursor
    /// Keys the cursor has passed.
    private(set) var passed: [[UInt8]] = []

    init(_ snapshot: Snapshot, _ contents: CompactionSample.Contents) throws {
      self.snapshot = snapshot
      self.contents = contents
      cursor = try snapshot.cursor()
      _ = try advance()
    }

    /// Moves the cursor on, and tells whether there was a key.
    func advance() throws -> Bool {
      guard let entry = try cursor.next() else { return false }
      passed.append(entry.key)
      return true
    }
  }

  /// Bounds in the MANIFEST are cut to 64 bytes: segments of such keys seem to overlap.
  @Test(arguments: StoreVolume.allCases)
  func aRequestEndsThoughKeysBeginAlike(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    store.options.segmentByteCount = 8 << 10
    store.options.logByteCount = 64 << 10
    let database = try store.open()
    let prefix = [UInt8](repeating: 7, count: 80)
    for start in stride(from: 0, to: 4000, by: 500) {
      var batch = WriteBatch()
      for number in start..<start + 500 {
        batch.put(Array("\(number * 7919)".utf8), forKey: prefix + Array("\(number)".utf8))
      }
      try database.write(batch)
      try database.flush()
    }
    try database.compact()
    let count = try database.statistics().compactionCount
    #expect(try database.statistics().segmentCount > 3)
    try database.compact()
    #expect(try database.statistics().compactionCount == count)
    #expect(try StoreSample.contents(database).count == 4000)
    try database.close()
  }

  @Test(arguments: StoreVolume.allCases)
  func aRequestEndsThoughOthersWrite(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    let opened = Lock<Database?>(nil)
    let writeCount = Lock(0)
    store.options.eventHandler = { event in
      guard case .compacted = event, let database = opened.withLock({ $0 }) else { return }
      let number = writeCount.withLock { count -> Int in
        count += 1
        return count
      }
      if number > 50 { return }
      _ = try? database.write { batch in
        batch.put(Array("\(number)".utf8), forKey: [UInt8(number % 3)])
      }
      try? database.flush()
    }
    let database = try store.open()
    opened.withLock { $0 = database }
    for number in 0..<5 {
      try database.write { batch in batch.put([1], forKey: [UInt8(number)]) }
      try database.flush()
    }
    try database.compact()
    #expect((1...5).contains(writeCount.withLock { $0 }))
    opened.withLock { $0 = nil }
    try database.close()
  }

  @Test(.bug(id: "B31"), .bug(id: "B34"), arguments: StoreVolume.seeds(20))
  func whateverIsMergedReadsSeeTheSame(volume: StoreVolume, seed: UInt64) throws {
    var model = CompactionSample.Model(seed: seed)
    let store = try CompactionSample.store(on: volume)
    var database = try store.open()
    var held: [Held] = []
    for step in 0..<90 {
      let comment: Comment = "seed \(seed) step \(step)"
      switch model.random.next() % 12 {
      case 0, 1, 2: try database.flush()
      case 3: try database.compact()
      case 4: _ = try database.compactor.step(isRequested: false, isCancelled: { false })
      case 5:
        held.append(try Held(database.snapshot(), model.contents))
      case 6:
        if !held.isEmpty { held.removeFirst() }
      case 7 where model.random.next() % 4 == 0:
        held = []
        try database.close()
        database = try store.open()
      default: try database.write(model.batch(), durability: .lazy)
      }
      #expect(try CompactionSample.difference(database, model.contents) == nil, comment)
      if let last = held.last {
        _ = try last.advance()
        #expect(try CompactionSample.contents(last.snapshot) == last.contents, comment)
      }
    }
    for old in held {
      while try old.advance() {}
      let keys = old.contents[1].keys.sorted { $0.lexicographicallyPrecedes($1) }
      #expect(old.passed == keys, "seed \(seed)")
    }
    held = []
    try database.compact()
    #expect(try database.verify().damage == [], "seed \(seed)")
    #expect(database.liveSegments.allSatisfy { $0.tombstoneCount == 0 }, "seed \(seed)")
    try database.close()
    #expect(try CompactionSample.difference(store.open(), model.contents) == nil)
  }

  @Test(.bug(id: "B31"), .bug(id: "B38"), arguments: StoreVolume.allCases)
  func whatIsDeletedTakesNoSpace(volume: StoreVolume) throws {
    let store = try CompactionSample.store(on: volume)
    let database = try store.open()
    var model = CompactionSample.Model(seed: 3)
    for round in 0..<3 {
      for _ in 0..<6 {
        try database.write(model.batch(), durability: .lazy)
        try database.flush()
      }
      try database.write(model.emptying())
      try database.compact()
      #expect(database.liveSegments == [], "round \(round)")
      #expect(try CompactionSample.difference(database, [[:], [:]]) == nil)
    }
    try database.close()
    #expect(try CompactionSample.difference(store.open(), [[:], [:]]) == nil)
  }

  @Test(.bug(id: "B32"), arguments: StoreVolume.allCases)
  func aSnapshotOfTheEmptyStoreOutlivesCompaction(volume: StoreVolume) throws {
    let database = try CompactionSample.store(on: volume).open()
    let empty = try database.snapshot()
    try database.put([1], [1])
    try database.compact()
    try database.put([2], [1])
    try database.compact()
    #expect(try empty.value(forKey: [1]) == nil)
    #expect(try database.value(forKey: [1]) == [2])
    var batch = WriteBatch()
    batch.require(unchanged: [1], since: empty.sequence)
    batch.put([3], forKey: [3])
    #expect(throws: DatabaseError.preconditionFailed(index: 0)) { try database.write(batch) }
  }

  @Test(.bug(id: "B34"), arguments: StoreVolume.allCases)
  func preconditionsSinceAHeldSnapshotStayRight(volume: StoreVolume) throws {
    let database = try CompactionSample.store(on: volume).open()
    for key in 1...4 as ClosedRange<UInt8> { try database.put([key], [key]) }
    let snapshot = try database.snapshot()
    let later = try database.put([9], [2])
    try database.remove([3])
    try database.compact()
    func isRefused(_ key: UInt8, since sequence: UInt64) throws -> Bool {
      var batch = WriteBatch()
      batch.require(unchanged: [key], since: sequence)
      do throws(DatabaseError) {
        try database.write(batch)
        return false
      } catch {
        #expect(error == .preconditionFailed(index: 0))
        return true
      }
    }
    #expect(try !isRefused(1, since: snapshot.sequence))
    #expect(try isRefused(2, since: snapshot.sequence))
    #expect(try !isRefused(2, since: later))
    let newest = try database.state.readView.newestEntry(of: [64, 1])
    #expect(newest?.tag.sequence == 0, "older than every snapshot")
    #expect(try database.state.readView.newestEntry(of: [64, 2])?.tag.sequence == later)
    withExtendedLifetime(snapshot) {}
  }

  @Test(.bug(id: "B35"), arguments: StoreVolume.allCases)
  func whatAHeldSnapshotKeepsGoesWithIt(volume: StoreVolume) throws {
    let clock = Lock<Int64>(1_700_000_000_000_000)
    var store = try CompactionSample.store(on: volume)
    store.options.wallClock = { clock.withLock { $0 } }
    let database = try store.open()
    for key in 0..<40 as Range<UInt8> {
      try database.put([UInt8](repeating: key, count: 40), [key], durability: .lazy)
    }
    try database.flush()
    let old = Set(database.liveSegments.map(\.fileName))
    var snapshot: Snapshot? = try database.snapshot()
    for round in 0..<4 as Range<UInt8> {
      for key in 0..<40 as Range<UInt8> { try database.put([round], [key], durability: .lazy) }
      try database.compact()
      clock.withLock { $0 += 660 * 1_000_000 }
    }
    try database.put([1], [1])
    try database.flush()
    #expect(try store.names().isSuperset(of: old), "not opened yet, and still there")
    #expect(try snapshot?.value(forKey: [3]) == [UInt8](repeating: 3, count: 40))
    let held = try database.statistics()
    #expect(held.pinnedByteCount > 0)
    #expect(held.snapshotCount == 1 && held.oldestSnapshotAge > .zero)
    snapshot = nil
    let free = try database.statistics()
    #expect(free.pinnedByteCount == 0)
    #expect(free.snapshotCount == 0 && free.oldestSnapshotAge == .zero)
    try database.put([1], [1])
    try database.flush()
    let names = try store.names()
    #expect(names.isDisjoint(with: old))
    #expect(names.count { $0.hasSuffix(".seg") } <= 4, "\(names)")
  }

  @Test(arguments: StoreVolume.allCases)
  func replacedFilesStayForTenMinutes(volume: StoreVolume) throws {
    let clock = Lock<Int64>(1_700_000_000_000_000)
    var store = try CompactionSample.store(on: volume)
    store.options.wallClock = { clock.withLock { $0 } }
    let database = try store.open()
    for key in 0..<3 as Range<UInt8> {
      try database.put([key], [key])
      try database.flush()
    }
    let inputs = Set(database.liveSegments.map(\.fileName))
    try database.compact()
    #expect(Set(database.liveSegments.map(\.fileName)).isDisjoint(with: inputs))
    #expect(try store.names().isSuperset(of: inputs))
    for minutes in [9, 2] as [Int64] {
      clock.withLock { $0 += minutes * 60_000_000 }
      try database.put([9], [9])
      try database.flush()
      #expect(try store.names().isSuperset(of: inputs) == (minutes == 9))
    }
  }
}
