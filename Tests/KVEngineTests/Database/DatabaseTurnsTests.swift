import KVTestSupport
import Testing

@testable import KVEngine

/// Several handles and several processes on one store.
@Suite struct DatabaseTurnsTests {
  @Test(.bug(id: "B49"), arguments: StoreVolume.allCases)
  func aSecondWritableHandleIsRefusedUntilTheFirstIsClosed(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let database = try store.open(process: 1)
    try database.put([1], [1])
    #expect(throws: DatabaseError.alreadyOpen) { try store.open(process: 1) }
    try database.close()
    let again = try store.open(process: 1)
    #expect(throws: DatabaseError.alreadyOpen) { try store.open(process: 1) }
    try again.close()
    try store.open(process: 1).close()
  }

  @Test(.bug(id: "B49"), arguments: StoreVolume.allCases)
  func twoHandlesOfAMissingStoreMeetAtTheFirstWrite(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let one = try store.open(process: 1)
    let two = try store.open(process: 1)
    try one.put([1], [1])
    #expect(throws: DatabaseError.alreadyOpen) { try two.put([2], [2]) }
    try one.close()
    try two.put([2], [2])
    #expect(try StoreSample.contents(two) == [[1]: [1], [2]: [2]])
  }

  @Test(.bug(id: "B49"), arguments: ["", "/", "//", "/.", "/../store"])
  func otherNamesOfTheFolderAreTheSameStore(suffix: String) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    let database = try Database(at: path)
    try database.put([1], [1])
    #expect(throws: DatabaseError.alreadyOpen) { try Database(at: path + suffix) }
    try database.close()
  }

  @Test(.bug(id: "B49")) func aSymbolicLinkToTheFolderIsTheSameStore() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    let database = try Database(at: path)
    try database.put([1], [1])
    let link = directory.path("link")
    try makeSymbolicLink(at: link, to: path)
    #expect(throws: DatabaseError.alreadyOpen) { try Database(at: link) }
    try database.close()
    let other = try Database(at: link)
    #expect(try other.value(forKey: [1]) == [1])
    try other.put([2], [2])
    #expect(throws: DatabaseError.alreadyOpen) { try Database(at: path) }
  }

  @Test(.bug(id: "B56"), arguments: StoreVolume.allCases)
  func processesTakeTurns(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let one = try store.open(process: 1)
    let two = try store.open(process: 2)
    try one.put([1], [1])
    #expect(throws: DatabaseError.alreadyOpen) { try two.put([2], [2]) }
    #expect(try two.value(forKey: [1]) == [1])
    try one.put([3], [3])
    try one.close()
    // What was read before the lock was taken is not what is written on.
    #expect(try two.put([4], [4]) == 3)
    #expect(try StoreSample.contents(two) == [[1]: [1], [3]: [3], [4]: [4]])
    let three = try store.open(process: 1)
    #expect(throws: DatabaseError.alreadyOpen) { try three.put([5], [5]) }
    #expect(try StoreSample.contents(three).count == 3)
    try two.close()
    #expect(try three.put([5], [5]) == 4)
  }

  @Test(.bug(id: "B56"), arguments: StoreVolume.allCases)
  func turnsAcrossFlushesLoseNothing(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    var expected: [[UInt8]: [UInt8]] = [:]
    for turn in 0..<12 as Range<UInt8> {
      let database = try store.open(process: Int32(turn) % 2 + 1)
      #expect(try StoreSample.contents(database) == expected, "turn \(turn)")
      try database.put([turn], [turn])
      expected[[turn]] = [turn]
      if turn % 3 == 2 {
        try database.flush()
        try database.put([turn, turn], [turn, turn])
        expected[[turn, turn]] = [turn, turn]
      }
      try database.close()
    }
  }

  @Test func aKilledProcessLosesNothingAndHoldsNobodyUp() throws {
    let files = MemoryFileSystem()
    let store = StoreSample(files)
    let killed = try store.open(in: files.process(1))
    try killed.put([1], [1])
    try killed.put([2], [2], durability: .lazy)
    files.process(1).endProcess()
    let next = try store.open(process: 2)
    #expect(try StoreSample.contents(next) == [[1]: [1], [2]: [2]])
    try next.put([3], [3])
    try next.close()
    #expect(try StoreSample.contents(store.open(process: 2)).count == 3)
    _ = killed
  }

  @Test(.bug(id: "B55"), arguments: StoreVolume.allCases)
  func aLeftOverLockFileBlocksNobody(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    try store.files.makeDirectory(store.path)
    try store.files.create(store["LOCK"], Array("1".utf8))
    let database = try store.open(process: 1)
    try database.put([1], [1])
    #expect(try database.value(forKey: [1]) == [1])
  }

  @Test(.bug(id: "B50"), arguments: StoreVolume.allCases)
  func nothingCanBeDoneInAChildOfTheProcess(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let forking = HookedFileSystem(store.files)
    let database = try store.open(in: forking)
    func byteCounts() throws -> [String: Int] {
      let names = try store.files.list(store.path).map { name in
        (name, try store.files.status(store[name]).byteCount)
      }
      return Dictionary(uniqueKeysWithValues: names)
    }
    try database.put([1], [1])
    let snapshot = try database.snapshot()
    var cursor = try database.cursor()
    let before = try byteCounts()
    forking.fork()
    #expect(throws: DatabaseError.usedAfterFork) { try database.value(forKey: [1]) }
    #expect(throws: DatabaseError.usedAfterFork) { try database.put([2], [2]) }
    #expect(throws: DatabaseError.usedAfterFork) { try database.flush() }
    #expect(throws: DatabaseError.usedAfterFork) { try database.close() }
    #expect(throws: DatabaseError.usedAfterFork) { try snapshot.value(forKey: [1]) }
    do {
      _ = try cursor.next()
      Issue.record("a cursor moved in a child")
    } catch {
      #expect(error == .usedAfterFork)
    }
    #expect(try byteCounts() == before)
  }
}
