import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Batches too large for the log: they become segments, and stay one commit.
@Suite struct LoadTests {
  private func bounded(_ store: StoreSample) -> StoreSample {
    var store = store
    store.options.logByteCount = 4096
    store.options.segmentByteCount = 8 << 10
    return store
  }

  private func store(on volume: StoreVolume) throws -> StoreSample {
    bounded(try StoreSample(on: volume))
  }

  /// A batch of about 40 KB, in two spaces, in the order of its keys or in none.
  private func batch(
    seed: UInt64, count: Int = 300, isSorted: Bool = false
  ) -> (batch: WriteBatch, content: [[UInt8]: [UInt8]]) {
    var generator = SeededGenerator(seed: seed)
    var batch = WriteBatch()
    var content: [[UInt8]: [UInt8]] = [:]
    for number in 0..<count {
      let low = UInt8(truncatingIfNeeded: number)
      let key = isSorted ? [UInt8(number >> 8), low] : [UInt8(generator.next() % 200), low]
      let value = generator.bytes(100)
      batch.put(value, forKey: key)
      content[key] = value
      batch.put([UInt8(truncatingIfNeeded: seed)], forKey: key, in: Space(code: 70))
    }
    return (batch, content)
  }

  @Test(arguments: StoreVolume.allCases, [false, true])
  func aLargeBatchGoesIntoSegmentsOfOneSpaceAndNotIntoTheLog(
    volume: StoreVolume, isSorted: Bool
  ) throws {
    let store = try store(on: volume)
    let database = try store.open()
    try database.put([1], [250])
    let logByteCount = try database.statistics().logByteCount
    let (batch, content) = batch(seed: 1, isSorted: isSorted)
    let sequence = try database.write(batch)
    #expect(sequence == 601)
    #expect(try database.statistics().logByteCount == logByteCount)
    #expect(try database.statistics().commitCount == 2)
    let expected = content.merging([[250]: [1]]) { new, _ in new }
    #expect(try StoreSample.contents(database) == expected)
    let segments = database.state.readView.version.segments.map(\.descriptor)
    #expect(segments.count > 3, "cut at the cap")
    #expect(segments.allSatisfy { $0.spaces.count == 1 && $0.byteCount < 13 << 10 })
    // The log goes on behind what is in no log.
    #expect(try database.put([2], [251]) == 602)
    try database.close()
    let again = try store.open()
    #expect(try again.verify().isSound)
    #expect(try StoreSample.contents(again) == expected.merging([[251]: [2]]) { new, _ in new })
    #expect(try again.put([3], [252]) == 603)
  }

  @Test(arguments: StoreVolume.seeds(6, onDisk: 2))
  func itIsTheSameAsSmallBatches(volume: StoreVolume, seed: UInt64) throws {
    let store = try store(on: volume)
    let large = try store.open()
    var small = try StoreSample(on: volume)
    small.options.logByteCount = 64 << 20
    let whole = try small.open()
    var generator = SeededGenerator(seed: seed)
    for round in 0..<4 {
      var batch = WriteBatch()
      for _ in 0..<200 {
        let key = [UInt8(generator.next() % 40)]
        if generator.next() % 3 == 0 {
          batch.delete(key)
        } else {
          batch.put(generator.bytes(150), forKey: key)
        }
      }
      try #require(batch.bytes.count >= large.options.loadByteCount)
      let held = try large.snapshot()
      let before = try StoreSample.contents(large)
      #expect(try large.write(batch) == whole.write(batch))
      #expect(try StoreSample.contents(large) == StoreSample.contents(whole), "round \(round)")
      var cursor = try held.cursor()
      var seen: [[UInt8]: [UInt8]] = [:]
      while let entry = try cursor.next() { seen[entry.key] = entry.value }
      #expect(seen == before, "a snapshot stays as it was")
      try large.put([UInt8(round)], [99])
      try whole.put([UInt8(round)], [99])
    }
    try large.compact()
    #expect(try StoreSample.contents(large) == StoreSample.contents(whole))
    try large.close()
    let again = try store.open()
    #expect(try again.verify().isSound)
    #expect(try StoreSample.contents(again) == StoreSample.contents(whole))
  }

  @Test(arguments: StoreVolume.allCases)
  func itsConditionsAreJudged(volume: StoreVolume) throws {
    let store = try store(on: volume)
    let database = try store.open()
    try database.put([1], [5])
    var (refused, _) = batch(seed: 2)
    refused.require(absent: [5])
    #expect(throws: DatabaseError.preconditionFailed(index: 0)) { try database.write(refused) }
    #expect(try StoreSample.contents(database) == [[5]: [1]])
    #expect(try store.names().filter { $0.hasSuffix(".seg") } == [])
    let snapshot = try database.snapshot()
    var (taken, content) = batch(seed: 3)
    taken.require(unchanged: [5], since: snapshot.sequence)
    try database.write(taken)
    content[[5]] = [1]
    #expect(try StoreSample.contents(database) == content)
    try database.close()
    #expect(try StoreSample.contents(store.open()) == content)
  }

  @Test(arguments: StoreVolume.allCases)
  func gapsThatItFillsAreForgotten(volume: StoreVolume) throws {
    let database = try store(on: volume).open()
    for key in 0..<200 as Range<UInt8> { try database.put([key], [key], durability: .lazy) }
    for key in 0..<200 as Range<UInt8> { try database.remove([key], durability: .lazy) }
    #expect(try StoreSample.contents(database) == [:])
    let (batch, content) = batch(seed: 4)
    try database.write(batch)
    #expect(try StoreSample.contents(database) == content)
  }

  @Test(arguments: StoreVolume.allCases)
  func aRangeLargerThanTheLogIsDeletedAsOneCommit(volume: StoreVolume) throws {
    let store = try store(on: volume)
    let database = try store.open()
    let (batch, content) = batch(seed: 6, count: 4000, isSorted: true)
    try database.write(batch)
    let held = try database.snapshot()
    let before = try database.statistics()
    let range = KeyRange.range(from: [1], upTo: [15, 100])
    let rest = content.filter { $0.key[0] < 1 || !$0.key.lexicographicallyPrecedes([15, 100]) }
    #expect(try database.delete(range) == content.count - rest.count)
    let after = try database.statistics()
    #expect(after.commitCount == before.commitCount + 1)
    #expect(after.logByteCount == before.logByteCount, "it is longer than four logs")
    #expect(try StoreSample.contents(database) == rest)
    #expect(try held.value(forKey: [2, 2]) == content[[2, 2]])
    #expect(try database.value(forKey: [2, 2], in: Space(code: 70)) == [6])
    try database.close()
    #expect(try StoreSample.contents(store.open()) == rest)
  }

  @Test func aRangeOfMoreKeysThanABatchTakesIsDeletedInPartsOnly() throws {
    let database = try store(on: .memory).open()
    func key(_ number: Int) -> [UInt8] {
      [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 1, count: 65_533)
    }
    for start in stride(from: 0, to: 1540, by: 385) {
      var batch = WriteBatch()
      for number in start..<start + 385 { batch.put([1], forKey: key(number)) }
      try database.write(batch)
    }
    let limit = DatabaseError.limitExceeded(
      what: "batch", maximum: Limits.Batch.maximumByteCount)
    #expect(throws: limit) { try database.delete(.all) }
    #expect(try database.snapshot().sequence == 1540)
    #expect(try database.delete(.range(from: [1], upTo: [3])) == 512)
    #expect(try database.delete(.all) == 1540 - 512)
  }

  @Test(.bug(id: "B59"), arguments: StoreVolume.allCases, [16, 20, 30, 40])
  func onAFullDiskNothingOfItIsThere(volume: StoreVolume, kilobyteCount: Int) throws {
    let store = bounded(try StoreSample(on: volume, capacity: kilobyteCount << 10))
    let database = try store.open()
    try database.put([1], [250])
    let (batch, _) = batch(seed: 5, count: 400)
    do {
      try database.write(batch)
      Issue.record("it fitted")
    } catch {
      guard case .diskFull = error else { throw error }
    }
    #expect(try StoreSample.contents(database) == [[250]: [1]])
    #expect(try store.names().filter { $0.hasSuffix(".seg") } == [])
    try database.put([2], [251])
    try database.close()
    #expect(try StoreSample.contents(store.open()) == [[250]: [1], [251]: [2]])
  }

  @Test(arguments: StoreVolume.allCases)
  func manyThreadsLoadAtOnce(volume: StoreVolume) async throws {
    let database = try store(on: volume).open()
    let batches = (0..<8 as Range<UInt8>).map { thread in
      var batch = WriteBatch()
      for number in 0..<100 as Range<UInt8> {
        batch.put([UInt8](repeating: thread, count: 200), forKey: [thread, number])
      }
      return batch
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for batch in batches { group.addTask { try database.write(batch) } }
      try await group.waitForAll()
    }
    let content = try StoreSample.contents(database)
    #expect(content.count == 800)
    #expect(content.allSatisfy { $0.value == [UInt8](repeating: $0.key[0], count: 200) })
    #expect(try database.snapshot().sequence == 800)
  }
}
