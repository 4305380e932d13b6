import KVTestSupport
import Testing

@testable import KVEngine

/// Conditions that travel in a batch and are judged in the moment of the commit.
@Suite struct PreconditionTests {
  /// Where the entries lie that a condition is judged against.
  enum Place: CaseIterable {
    case table, image, segment

    /// A database whose writes so far lie there.
    func settle(_ database: Database, _ store: StoreSample) throws -> Database {
      switch self {
      case .table: return database
      case .image:
        try database.close()
        return try store.open()
      case .segment:
        try database.flush()
        return database
      }
    }
  }

  private func holds(
    _ database: Database, _ conditions: (inout WriteBatch) -> Void
  ) throws -> Bool {
    var batch = WriteBatch()
    conditions(&batch)
    do throws(DatabaseError) {
      try database.write(batch)
      return true
    } catch {
      guard case .preconditionFailed(index: 0) = error else { throw error }
      return false
    }
  }

  @Test(arguments: StoreVolume.allCases, Place.allCases)
  func absentMeansWithoutValue(volume: StoreVolume, place: Place) throws {
    let store = try StoreSample(on: volume)
    var database = try store.open()
    try database.put([1], [1])
    try database.put([2], [2])
    try database.remove([2])
    database = try place.settle(database, store)
    #expect(try !holds(database) { $0.require(absent: [1]) })
    #expect(try holds(database) { $0.require(absent: [2]) })
    #expect(try holds(database) { $0.require(absent: [3]) })
    #expect(try holds(database) { $0.require(absent: [1], in: Space(code: 65)) })
    #expect(try holds(database) { $0.require(absent: []) })
  }

  @Test(arguments: StoreVolume.allCases, Place.allCases)
  func unchangedMeansNothingNewer(volume: StoreVolume, place: Place) throws {
    let store = try StoreSample(on: volume)
    var database = try store.open()
    try database.put([1], [1])  // 1
    try database.put([2], [2])  // 2
    try database.remove([1])  // 3
    database = try place.settle(database, store)
    for (key, newest) in [([1], 3), ([2], 2), ([9], 0)] as [([UInt8], UInt64)] {
      for since in 0...5 as ClosedRange<UInt64> {
        let isUnchanged = try holds(database) { $0.require(unchanged: key, since: since) }
        #expect(isUnchanged == (since >= newest), "\(key) since \(since)")
      }
    }
  }

  /// Else a commit overwrites a deletion that it has not seen.
  @Test(arguments: StoreVolume.allCases)
  func compactionKeepsADeletionThatIsNewerThanAHeldSnapshot(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    try database.put([1], [1, 1])
    try database.put([2], [2])
    let snapshot = try database.snapshot()
    try database.remove([1, 1])
    try database.compact()
    let since = snapshot.sequence
    #expect(try holds(database) { $0.require(unchanged: [2], since: since) })
    #expect(try !holds(database) { $0.require(unchanged: [1, 1], since: since) })
    #expect(try !holds(database) { $0.require(unchangedPrefix: [1], since: since) })
    // Nobody can ask any more: now it goes.
    _ = consume snapshot
    try database.compact()
    #expect(database.liveSegments.allSatisfy { $0.tombstoneCount == 0 })
  }

  @Test(arguments: StoreVolume.allCases, Place.allCases)
  func anUnchangedPrefixHasNoNewerKey(volume: StoreVolume, place: Place) throws {
    let store = try StoreSample(on: volume)
    var database = try store.open()
    try database.put([1], [1, 1])  // 1
    try database.put([2], [1, 9])  // 2
    try database.put([3], [2])  // 3
    try database.remove([1, 1])  // 4
    database = try place.settle(database, store)
    let newest: [([UInt8], UInt64)] = [
      ([1], 4), ([1, 1], 4), ([1, 9], 2), ([1, 9, 0], 0), ([2], 3), ([3], 0), ([], 4), ([0], 0),
    ]
    for (prefix, newest) in newest {
      for since in 0...5 as ClosedRange<UInt64> {
        let isUnchanged = try holds(database) {
          $0.require(unchangedPrefix: prefix, since: since)
        }
        #expect(isUnchanged == (since >= newest), "\(prefix) since \(since)")
      }
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func theFirstConditionThatFailsIsNamedAndNothingIsWritten(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    try database.put([1], [1])
    var batch = WriteBatch()
    batch.require(absent: [2])
    batch.require(unchanged: [1], since: 1)
    batch.require(absent: [1])
    batch.require(unchanged: [1], since: 0)
    batch.put([9], forKey: [2])
    #expect(throws: DatabaseError.preconditionFailed(index: 2)) { try database.write(batch) }
    #expect(try database.value(forKey: [2]) == nil)
    #expect(try database.put([3], [3]) == 2)
  }

  @Test(arguments: StoreVolume.allCases)
  func aBatchDoesNotSeeItsOwnWritesInItsConditions(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    var batch = WriteBatch()
    batch.put([1], forKey: [1])
    batch.require(absent: [1])
    try database.write(batch)
    #expect(throws: DatabaseError.preconditionFailed(index: 0)) { try database.write(batch) }
  }

  @Test(arguments: StoreVolume.allCases)
  func batchesOfOneGroupAreJudgedInTheirOrder(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let database = try store.open()
    try database.put([0], [9])
    let since = try database.snapshot().sequence
    func batch(_ fill: (inout WriteBatch) -> Void) -> CommitRequest {
      var batch = WriteBatch()
      fill(&batch)
      return CommitRequest(batch: batch, durability: .full)
    }
    let group = [
      batch {
        $0.require(absent: [1])
        $0.put([1], forKey: [1])
        $0.put([1], forKey: [1, 5])
      },
      // Fails, so its delete does not count for those behind it.
      batch {
        $0.require(absent: [1])
        $0.delete([9])
      },
      batch { $0.require(unchangedPrefix: [1], since: since) },
      batch {
        $0.require(unchanged: [9], since: since)
        $0.put([2], forKey: [9])
      },
      batch { $0.require(unchanged: [9], since: since) },
      batch { $0.require(unchanged: [9], since: since + 3) },
      batch { $0.delete([1]) },
      batch {
        $0.require(absent: [1])
        $0.put([3], forKey: [1])
      },
    ]
    let results = try database.pipeline.exclusively { writer in writer.commit(group) }
    let failed = CommitResult.failure(.preconditionFailed(index: 0))
    #expect(
      results == [
        .success(3), failed, failed, .success(4), failed, .success(4), .success(5), .success(6),
      ])
    #expect(try StoreSample.contents(database) == [[1]: [3], [1, 5]: [1], [9]: [2]])
    try database.close()
    #expect(
      try StoreSample.contents(store.open()) == [[1]: [3], [1, 5]: [1], [9]: [2]])
  }

  @Test func aGroupOfWhichNothingHoldsWritesNothing() throws {
    let recording = RecordingFileSystem()
    let database = try StoreSample(recording).open()
    try database.put([1], [1])
    let before = recording.operationCount
    var batch = WriteBatch()
    batch.require(absent: [1])
    batch.put([2], forKey: [1])
    #expect(throws: DatabaseError.preconditionFailed(index: 0)) { try database.write(batch) }
    var holding = WriteBatch()
    holding.require(absent: [2])
    #expect(try database.write(holding) == 1)
    #expect(try database.write(WriteBatch()) == 1)
    #expect(recording.operationCount == before)
  }

  @Test(arguments: StoreVolume.allCases)
  func oneOfManyThreadsTakesAnAbsentKey(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    let winners = Lock<[Int]>([])
    let findings = Findings()
    onThreads(8) { thread in
      for round in 0..<10 as Range<UInt8> {
        var batch = WriteBatch()
        batch.require(absent: [round])
        batch.put([UInt8(thread)], forKey: [round])
        do throws(DatabaseError) {
          try database.write(batch, durability: .lazy)
          winners.withLock { $0.append(Int(round)) }
        } catch {
          findings.check(error == .preconditionFailed(index: 0), "\(error)")
        }
      }
    }
    #expect(findings.all == [])
    #expect(winners.withLock { $0.sorted() } == Array(0..<10))
  }

  @Test(arguments: StoreVolume.allCases)
  func noUpdateOfACounterIsLost(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    let findings = Findings()
    onThreads(4) { _ in
      for _ in 0..<25 {
        while true {
          var isDone = false
          findings.catching("update") {
            let snapshot = try database.snapshot()
            let old = try snapshot.value(forKey: [1])?.first ?? 0
            var batch = WriteBatch()
            batch.require(unchanged: [1], since: snapshot.sequence)
            batch.put([old + 1], forKey: [1])
            do throws(DatabaseError) {
              try database.write(batch, durability: .lazy)
              isDone = true
            } catch {
              isDone = error != .preconditionFailed(index: 0)
              if isDone { throw error }
            }
          }
          if isDone { break }
        }
      }
    }
    #expect(findings.all == [])
    #expect(try database.value(forKey: [1]) == [100])
  }
}
