import KVTestSupport
import Testing

@testable import KVEngine

/// Preconditions when another process has written between the read and the write.
@Suite struct HandoverTests {
  private func write(
    _ database: Database, ifUnchanged key: [UInt8], isPrefix: Bool, since sequence: UInt64
  ) throws(DatabaseError) {
    var batch = WriteBatch()
    if isPrefix {
      batch.require(unchangedPrefix: key, since: sequence)
    } else {
      batch.require(unchanged: key, since: sequence)
    }
    batch.put([3], forKey: key)
    try database.write(batch)
  }

  @Test(arguments: StoreVolume.allCases, [false, true])
  func whatAnotherProcessMergedIsNotTakenForOld(volume: StoreVolume, isPrefix: Bool) throws {
    for isDeleted in [false, true] {
      try checkMerged(try StoreSample(on: volume, isTiny: true), isPrefix, isDeleted)
    }
  }

  private func checkMerged(_ store: StoreSample, _ isPrefix: Bool, _ isDeleted: Bool) throws {
    let database = try store.open()
    try database.put([1], [1])
    try database.suspend()
    try database.resume()
    let snapshot = try database.snapshot()
    // Its compaction drops sequences and tombstones: it does not know of the snapshot.
    let other = try store.open(process: 2)
    if isDeleted { try other.remove([1]) } else { try other.put([2], [1]) }
    try other.flush()
    try other.put([2], [2])
    try other.compact()
    try other.close()
    for _ in 0..<2 {
      #expect(throws: DatabaseError.preconditionFailed(index: 0)) {
        try write(database, ifUnchanged: [1], isPrefix: isPrefix, since: snapshot.sequence)
      }
    }
    #expect(try database.value(forKey: [1]) == (isDeleted ? nil : [2]))
    // Read again, and it can be told.
    let now = try database.snapshot().sequence
    try write(database, ifUnchanged: [1], isPrefix: isPrefix, since: now)
    #expect(try database.value(forKey: [1]) == [3])
  }

  @Test(arguments: StoreVolume.allCases)
  func anOwnPauseKeepsWhatCanBeJudged(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume, isTiny: true).open()
    try database.put([1], [1])
    let sequence = try database.snapshot().sequence
    try database.put([2], [2])
    try database.flush()
    for _ in 0..<2 {
      try database.suspend()
      try database.resume()
    }
    try write(database, ifUnchanged: [1], isPrefix: false, since: sequence)
    #expect(try database.value(forKey: [1]) == [3])
  }
}
