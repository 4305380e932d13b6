import KVTestSupport
import Testing

@testable import KVEngine

/// Opening, writing, reading, closing.
@Suite struct DatabaseTests {
  @Test(arguments: StoreVolume.allCases)
  func whatIsWrittenIsReadNowAndAfterOpeningAgain(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let database = try store.open()
    #expect(try database.put([1], [10]) == 1)
    #expect(try database.put([2], [20]) == 2)
    #expect(try database.put([3], [10]) == 3)
    #expect(try database.remove([20]) == 4)
    #expect(try database.put([], [30]) == 5)
    func check(_ database: Database) throws {
      #expect(try database.value(forKey: [10]) == [3])
      #expect(try database.value(forKey: [20]) == nil)
      #expect(try database.value(forKey: [30]) == [])
      #expect(try database.value(forKey: [99]) == nil)
      #expect(try StoreSample.contents(database) == [[10]: [3], [30]: []])
      #expect(try database.snapshot().sequence == 5)
    }
    try check(database)
    try database.close()
    for _ in 0..<3 {
      let again = try store.open()
      try check(again)
      try again.close()
    }
    let writing = try store.open()
    #expect(try writing.put([4], [40]) == 6)
    #expect(try writing.value(forKey: [10]) == [3])
    try writing.close()
    #expect(try store.open().value(forKey: [40]) == [4])
  }

  @Test func openingAndReadingChangeNothing() throws {
    let recording = RecordingFileSystem()
    let store = StoreSample(recording)
    let database = try store.open()
    #expect(try database.value(forKey: [1]) == nil)
    var cursor = try database.cursor()
    #expect(try cursor.next() == nil)
    try database.close()
    #expect(recording.operationCount == 0)
    let writing = try store.open()
    try writing.put([1], [1])
    try writing.close()
    let count = recording.operationCount
    let reading = try store.open()
    #expect(try reading.value(forKey: [1]) == [1])
    try reading.close()
    #expect(recording.operationCount == count)
  }

  @Test(arguments: StoreVolume.allCases)
  func aStoreThatMayNotBeCreatedIsNotFound(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume)
    store.options.createIfMissing = false
    #expect(throws: DatabaseError.notFound(fileName: store.path)) { try store.open() }
    store.options = DatabaseOptions()
    store.options.isReadOnly = true
    #expect(throws: DatabaseError.notFound(fileName: store.path)) { try store.open() }
    try store.files.makeDirectory(store.path)
    #expect(throws: DatabaseError.notFound(fileName: store.path)) { try store.open() }
  }

  @Test(arguments: StoreVolume.allCases)
  func aStoreThatWentAwayIsNotMadeAgainUnlessItMayBe(volume: StoreVolume) throws {
    for createIfMissing in [false, true] {
      var store = try StoreSample(on: volume)
      try store.open().put([1], [1])
      store.options.createIfMissing = createIfMissing
      let database = try store.open()
      for name in try store.files.list(store.path) { try store.files.unlink(store[name]) }
      if createIfMissing {
        try database.put([2], [2])
        #expect(try StoreSample.contents(database) == [[2]: [2]])
      } else {
        #expect(throws: DatabaseError.notFound(fileName: store.path)) {
          try database.put([2], [2])
        }
        #expect(try store.names() == ["LOCK"])
      }
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func aHandleForReadingRefusesWritesAndSitsBesideAWriter(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let writer = try store.open()
    try writer.put([1], [1])
    var reading = store
    reading.options.isReadOnly = true
    let reader = try reading.open()
    #expect(try reader.value(forKey: [1]) == [1])
    let error = #expect(throws: DatabaseError.self) { try reader.put([2], [2]) }
    guard case .invalidArgument = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try writer.put([2], [2])
    #expect(try store.files.list(store.path).contains("LOCK"))
    try reader.close()
    try writer.close()
  }

  @Test(arguments: StoreVolume.allCases)
  func aClosedHandleDoesNothing(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    try database.put([1], [1])
    let snapshot = try database.snapshot()
    var cursor = try database.cursor()
    try database.close()
    try database.close()
    #expect(throws: DatabaseError.closed) { try database.value(forKey: [1]) }
    #expect(throws: DatabaseError.closed) { try database.put([1], [1]) }
    #expect(throws: DatabaseError.closed) { try database.snapshot() }
    #expect(throws: DatabaseError.closed) { try database.flush() }
    #expect(throws: DatabaseError.closed) { try database.count(in: .standard) }
    #expect(throws: DatabaseError.closed) { try snapshot.value(forKey: [1]) }
    #expect(throws: DatabaseError.closed) { _ = try snapshot.cursor() }
    do {
      _ = try cursor.next()
      Issue.record("a cursor of a closed handle moved")
    } catch {
      #expect(error == .closed)
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func aHandleThatIsLetGoLosesNothing(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    do {
      let database = try store.open()
      try database.put([1], [1])
      try database.put([2], [2], durability: .lazy)
    }
    let database = try store.open()
    #expect(try StoreSample.contents(database) == [[1]: [1], [2]: [2]])
    try database.put([3], [3])
  }

  @Test(.bug(id: "B14"), arguments: StoreVolume.allCases)
  func aWriteThatThrowsWritesNothing(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    try database.put([1], [1])
    #expect(throws: DatabaseError.cancelled) {
      try database.write { batch throws(DatabaseError) in
        batch.put([2], forKey: [2])
        throw .cancelled
      }
    }
    #expect(try database.value(forKey: [2]) == nil)
    #expect(try database.put([3], [3]) == 2)
  }

  @Test(.bug(id: "B67"), .bug(id: "B68"), arguments: StoreVolume.allCases)
  func aBatchOverALimitLeavesTheStoreAsItWas(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let database = try store.open()
    #expect(throws: DatabaseError.limitExceeded(what: "key", maximum: 65_535)) {
      try database.put([1], [UInt8](repeating: 1, count: 65_536))
    }
    #expect(throws: DatabaseError.invalidArgument("a key has at least one byte")) {
      try database.put([1], [])
    }
    #expect(throws: SystemError.self) { try store.files.status(store.path) }
    let longest = [UInt8](repeating: 0, count: 65_535)
    try database.put([1], longest)
    try database.put([2], [0])
    #expect(try database.value(forKey: longest) == [1])
    #expect(try database.value(forKey: longest + [0]) == nil)
    #expect(try database.value(forKey: []) == nil)
    try database.close()
    #expect(try StoreSample.contents(store.open()) == [longest: [1], [0]: [2]])
  }

  @Test(arguments: StoreVolume.allCases)
  func spacesHoldTheSameKeysApart(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume).open()
    let codes: [UInt8] = [1, 63, 64, 65, 254]
    try database.write { batch in
      for code in codes { batch.put([code], forKey: [7], in: Space(code: code)) }
      batch.delete([7], in: Space(code: 63))
    }
    for code in codes where code != 63 {
      #expect(try database.value(forKey: [7], in: Space(code: code)) == [code])
      var cursor = try database.cursor(space: Space(code: code))
      #expect(try cursor.next() == Cursor.Entry(key: [7], value: [code]))
      #expect(try cursor.next() == nil)
      #expect(try cursor.previous() == Cursor.Entry(key: [7], value: [code]))
      #expect(try cursor.previous() == nil)
    }
    #expect(try database.value(forKey: [7], in: Space(code: 63)) == nil)
  }

  @Test func aDatabaseInMemoryDoesTheSame() throws {
    let database = Database.inMemory()
    let other = Database.inMemory()
    try database.put([1], [1])
    try other.put([2], [1])
    try database.flush()
    try database.remove([1])
    #expect(try database.value(forKey: [1]) == nil)
    #expect(try other.value(forKey: [1]) == [2])
    try database.close()
    #expect(throws: DatabaseError.closed) { try database.value(forKey: [1]) }
    try other.close()
  }

  @Test(arguments: StoreVolume.allCases)
  func countsFollowTheKindsOfEntries(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume)
    let database = try store.open()
    let space = Space(code: 1)
    func write(_ kind: RecordKind, _ key: UInt8) throws {
      var batch = WriteBatch()
      if kind.isPut {
        batch.put([1], forKey: [key], in: space, kind: kind)
      } else {
        batch.delete([key], in: space, kind: kind)
      }
      try database.write(batch)
    }
    let steps: [(RecordKind, UInt8, Int)] = [
      (.insertion, 1, 1), (.insertion, 2, 2), (.put, 1, 2), (.removal, 1, 1), (.tombstone, 1, 1),
      (.insertion, 1, 2),
    ]
    for (kind, key, count) in steps {
      try write(kind, key)
      #expect(try database.count(in: space) == count)
      #expect(try database.snapshot().count(in: space) == count)
    }
    try database.flush()
    #expect(try database.count(in: space) == 2)
    try write(.removal, 2)
    #expect(try database.count(in: space) == 1)
    try database.close()
    let again = try store.open()
    #expect(try again.count(in: space) == 1)
    #expect(try again.count(in: .standard) == 0)
  }

  @Test(arguments: StoreVolume.allCases, [true, false])
  func aRangeIsDeletedAsOneBatch(volume: StoreVolume, isFlushed: Bool) throws {
    let store = try StoreSample(on: volume)
    let database = try store.open()
    let other = Space(code: 70)
    try database.write { batch in
      for number in 0..<100 as Range<UInt8> {
        batch.put([number], forKey: [number / 10, number % 10])
        batch.put([], forKey: [number / 10, number % 10], in: other)
      }
    }
    if isFlushed { try database.flush() }
    let held = try database.snapshot()
    let commitCount = try database.statistics().commitCount
    #expect(try database.delete(.prefix([3])) == 10)
    #expect(try database.delete(.range(from: [5], upTo: [7, 5])) == 25)
    #expect(try database.delete(.prefix([3])) == 0)
    #expect(try database.statistics().commitCount == commitCount + 2)
    let expected = (0..<100 as Range<UInt8>).filter { number in
      !(30..<40).contains(number) && !(50..<75).contains(number)
    }
    #expect(try StoreSample.contents(database).values.map { $0[0] }.sorted() == expected)
    #expect(try held.value(forKey: [3, 3]) == [33])
    #expect(try database.value(forKey: [3, 3], in: other) == [])
    #expect(try database.delete(.all) == 65)
    #expect(try StoreSample.contents(database) == [:])
    try database.close()
    #expect(try StoreSample.contents(store.open()) == [:])
  }
}
