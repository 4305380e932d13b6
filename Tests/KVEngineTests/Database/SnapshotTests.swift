import KVTestSupport
import Testing

@testable import KVEngine

/// One moment of a database, whatever is written meanwhile.
@Suite struct SnapshotTests {
  @Test(.bug(id: "B32"), arguments: StoreVolume.allCases)
  func aSnapshotOfTheEmptyStoreStaysEmpty(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume, isTiny: true).open()
    let empty = try database.snapshot()
    #expect(empty.sequence == 0)
    try database.put([1], [1])
    try database.flush()
    try database.put([2], [2])
    #expect(try empty.value(forKey: [1]) == nil && empty.value(forKey: [2]) == nil)
    var cursor = try empty.cursor()
    #expect(try cursor.next() == nil)
    #expect(try database.value(forKey: [1]) == [1])
    #expect(try database.value(forKey: [2]) == [2])
  }

  @Test(arguments: StoreVolume.seeds(6))
  func everySnapshotShowsItsMomentForEver(volume: StoreVolume, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let database = try StoreSample(on: volume, isTiny: true).open()
    var model: [[UInt8]: [UInt8]] = [:]
    var held: [(snapshot: Snapshot, contents: [[UInt8]: [UInt8]])] = []
    for step in 0..<150 {
      let key = [UInt8.random(in: 0..<12, using: &random)]
      switch Int.random(in: 0..<12, using: &random) {
      case 0: try database.flush()
      case 1: held.append((try database.snapshot(), model))
      case 2: if !held.isEmpty { held.remove(at: Int.random(in: 0..<held.count, using: &random)) }
      case 3...5:
        try database.remove(key, durability: .lazy)
        model[key] = nil
      default:
        let value = random.bytes(Int.random(in: 0...60, using: &random))
        try database.put(value, key, durability: .lazy)
        model[key] = value
      }
      guard let (snapshot, contents) = held.randomElement(using: &random) else { continue }
      #expect(try snapshot.value(forKey: key) == contents[key], "seed \(seed) step \(step)")
      var cursor = try snapshot.cursor()
      var found: [[UInt8]: [UInt8]] = [:]
      while let entry = try cursor.previous() { found[entry.key] = entry.value }
      #expect(found == contents, "seed \(seed) step \(step)")
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func readersBesideAWriterSeeWholeBatches(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume, isTiny: true).open()
    let isDone = Lock(false)
    let findings = Findings()
    onThreads(3) { thread in
      if thread == 0 {
        for round in 1...120 as ClosedRange<UInt8> {
          findings.catching("write") {
            var batch = WriteBatch()
            for key in 0..<5 as Range<UInt8> { batch.put([round], forKey: [key]) }
            if round.isMultiple(of: 2) { batch.delete([9]) } else { batch.put([1], forKey: [9]) }
            try database.write(batch, durability: .lazy)
            if round.isMultiple(of: 25) { try database.flush() }
          }
        }
        isDone.withLock { $0 = true }
        return
      }
      var newest: UInt8 = 0
      while true {
        let isLast = isDone.withLock { $0 }
        findings.catching("read") {
          let snapshot = try database.snapshot()
          let round = try snapshot.value(forKey: [0])?.first ?? 0
          findings.check(round >= newest, "went back from \(newest) to \(round)")
          newest = round
          var cursor = try snapshot.cursor()
          var keys: [UInt8] = []
          while let entry = try (thread == 1 ? cursor.next() : cursor.previous()) {
            keys.append(entry.key[0])
            if entry.key != [9] { findings.check(entry.value == [round], "mixed batches") }
          }
          let expected: [UInt8] = round == 0 ? [] : [0, 1, 2, 3, 4] + (round % 2 == 0 ? [] : [9])
          findings.check(keys.sorted() == expected, "round \(round): \(keys)")
        }
        if isLast { return }
      }
    }
    #expect(findings.all == [])
  }
}
