import KVTestSupport
import Testing

@testable import KVEngine

/// Several handles and several processes on one store.
@Suite struct DatabaseTurnsTests {
  private let files = MemoryFileSystem()
  private var first: StoreSample { StoreSample(files.process(1)) }
  private var second: StoreSample { StoreSample(files.process(2)) }

  @Test(.bug(id: "B49")) func aSecondWritableHandleIsRefusedUntilTheFirstIsClosed() throws {
    let database = try first.open()
    try database.put([1], [1])
    #expect(throws: DatabaseError.alreadyOpen) { try first.open() }
    try database.close()
    let again = try first.open()
    #expect(throws: DatabaseError.alreadyOpen) { try first.open() }
    try again.close()
    try first.open().close()
  }

  @Test(.bug(id: "B49")) func twoHandlesOfAMissingStoreMeetAtTheFirstWrite() throws {
    let one = try first.open()
    let two = try first.open()
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

  @Test(.bug(id: "B56")) func processesTakeTurns() throws {
    let one = try first.open()
    let two = try second.open()
    try one.put([1], [1])
    #expect(throws: DatabaseError.alreadyOpen) { try two.put([2], [2]) }
    #expect(try two.value(forKey: [1]) == [1])
    try one.put([3], [3])
    try one.close()
    // What was read before the lock was taken is not what is written on.
    #expect(try two.put([4], [4]) == 3)
    #expect(try StoreSample.contents(two) == [[1]: [1], [3]: [3], [4]: [4]])
    let three = try first.open()
    #expect(throws: DatabaseError.alreadyOpen) { try three.put([5], [5]) }
    #expect(try StoreSample.contents(three).count == 3)
    try two.close()
    #expect(try three.put([5], [5]) == 4)
  }

  @Test(.bug(id: "B56")) func turnsAcrossFlushesLoseNothing() throws {
    var expected: [[UInt8]: [UInt8]] = [:]
    for turn in 0..<12 as Range<UInt8> {
      let database = try (turn % 2 == 0 ? first : second).open()
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
    let killed = try first.open()
    try killed.put([1], [1])
    try killed.put([2], [2], durability: .lazy)
    files.process(1).endProcess()
    let next = try second.open()
    #expect(try StoreSample.contents(next) == [[1]: [1], [2]: [2]])
    try next.put([3], [3])
    try next.close()
    #expect(try StoreSample.contents(second.open()).count == 3)
    _ = killed
  }

  @Test(.bug(id: "B55")) func aLeftOverLockFileBlocksNobody() throws {
    try files.makeDirectory("/store")
    try files.create("/store/LOCK", Array("1".utf8))
    let database = try first.open()
    try database.put([1], [1])
    #expect(try database.value(forKey: [1]) == [1])
  }

  @Test(.bug(id: "B50")) func nothingCanBeDoneInAChildOfTheProcess() throws {
    let forking = HookedFileSystem(files)
    let store = StoreSample(forking)
    let database = try store.open()
    try database.put([1], [1])
    let snapshot = try database.snapshot()
    var cursor = try database.cursor()
    let before = files.tree
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
    #expect(files.tree.folders == before.folders)
    #expect(files.tree.files.mapValues(\.byteCount) == before.files.mapValues(\.byteCount))
  }
}
