import KVTestSupport
import Testing

@testable import KVEngine

/// Named spaces: one name, one space, for ever.
@Suite struct SpaceTests {
  private func store(on volume: StoreVolume) throws -> StoreSample {
    try StoreSample(on: volume, isTiny: true)
  }

  private func put(
    _ value: UInt8, _ key: [UInt8], in space: Space, _ database: Database
  ) throws(DatabaseError) {
    var batch = WriteBatch()
    batch.put([value], forKey: key, in: space)
    try database.write(batch)
  }

  private func keys(of space: Space, in database: Database) throws -> [[UInt8]] {
    var cursor = try database.cursor(in: .all, space: space)
    var forward: [[UInt8]] = []
    while let entry = try cursor.next() { forward.append(entry.key) }
    var backward: [[UInt8]] = []
    while let entry = try cursor.previous() { backward.append(entry.key) }
    #expect(backward == forward.reversed())
    return forward
  }

  @Test(.bug(id: "B79"), arguments: StoreVolume.allCases)
  func namesAreStableBytesOverReopeningAndProcesses(volume: StoreVolume) throws {
    let store = try store(on: volume)
    let names = ["notes", "\u{E9}", "e\u{301}", "a\0b", String(repeating: "x", count: 255)]
    let database = try store.open()
    let made = try names.map { try database.space($0) }
    #expect(Set(made + [.standard]).count == names.count + 1)
    for (index, space) in made.enumerated() { try put(UInt8(index), [1], in: space, database) }
    try database.flush()
    try database.close()

    let other = try store.open(process: 2)
    #expect(try names.reversed().map { try other.space($0) } == made.reversed())
    #expect(try other.spaceNames().map { Array($0.utf8) } == names.map { Array($0.utf8) })
    for (index, space) in made.enumerated() {
      #expect(try other.value(forKey: [1], in: space) == [UInt8(index)])
    }
    #expect(try other.value(forKey: [1]) == nil)
  }

  @Test(arguments: StoreVolume.allCases)
  func theEmptyNameIsTheStandardSpace(volume: StoreVolume) throws {
    let database = try store(on: volume).open()
    #expect(try database.space("") == .standard)
    #expect(try database.spaceNames() == [])
    try database.put([7], [1])
    #expect(try database.value(forKey: [1], in: database.space("")) == [7])
  }

  @Test func limitsAreTypedAndChangeNothing() throws {
    let store = try store(on: .memory)
    let database = try store.open()
    let long = String(repeating: "\u{E9}", count: 128)
    #expect(throws: DatabaseError.limitExceeded(what: "name of a space", maximum: 255)) {
      try database.space(long)
    }
    #expect(try database.spaceNames() == [])
    var made: Set<Space> = [.standard]
    for number in 0..<190 { made.insert(try database.space("\(number)")) }
    #expect(made.count == 191)
    for _ in 0..<2 {
      #expect(throws: DatabaseError.limitExceeded(what: "number of spaces", maximum: 190)) {
        try database.space("one more")
      }
    }
    #expect(try made.contains(database.space("189")))
    try put(3, [UInt8](repeating: 0xFF, count: 65_535), in: database.space("189"), database)
    try database.flush()
    try database.close()
    let again = try store.open()
    #expect(try again.spaceNames().count == 190)
    #expect(try keys(of: again.space("189"), in: again).map(\.count) == [65_535])
    #expect(try again.verify().isSound)
  }

  @Test(arguments: StoreVolume.allCases)
  func keysOfSpacesNeverMeet(volume: StoreVolume) throws {
    let store = try store(on: volume)
    let database = try store.open()
    let spaces = [Space.standard, try database.space("b"), try database.space("a")]
    let last = [UInt8](repeating: 0xFF, count: 300)
    for (index, space) in spaces.enumerated() {
      for key in [[0], [UInt8(index) + 1], [64], [65], [66], last] as [[UInt8]] {
        try put(UInt8(index), key, in: space, database)
      }
      if index == 1 { try database.flush() }
    }
    var batch = WriteBatch()
    batch.delete([64], in: spaces[1])
    try database.write(batch)
    for handle in [database, database] {
      for (index, space) in spaces.enumerated() {
        let all = [[0], [UInt8(index) + 1], [64], [65], [66], last] as [[UInt8]]
        let expected = index == 1 ? all.filter { $0 != [64] } : all
        #expect(try keys(of: space, in: handle) == expected)
        #expect(try handle.value(forKey: [65], in: space) == [UInt8(index)])
        var cursor = try handle.cursor(in: .all, space: space)
        #expect(try !cursor.seek(toFirstKeyAtOrAfter: last + [0]))
        #expect(try cursor.seek(toLastKeyAtOrBefore: last + [0]))
      }
      try handle.compact()
    }
    #expect(try database.verify().isSound)
  }

  @Test(arguments: StoreVolume.allCases)
  func aReadOnlyHandleFindsNamesAndMakesNone(volume: StoreVolume) throws {
    let store = try store(on: volume)
    var reading = store
    reading.options.isReadOnly = true
    let database = try store.open()
    try database.put([1], [1])
    let reader = try reading.open()
    #expect(throws: DatabaseError.notFound(fileName: "space")) { try reader.space("late") }
    let late = try database.space("late")
    try put(9, [1], in: late, database)
    #expect(try reader.space("late") == late)
    #expect(try reader.value(forKey: [1], in: late) == [9])
    #expect(throws: DatabaseError.notFound(fileName: "space")) { try reader.space("never") }
  }

  @Test(arguments: StoreVolume.allCases)
  func twoProcessesThatMakeTheSameNameGetTheSameSpace(volume: StoreVolume) throws {
    let store = try store(on: volume)
    let first = try store.open()
    let second = try store.open(process: 2)
    let shared = try second.space("shared")
    #expect(throws: DatabaseError.alreadyOpen) { try first.space("own") }
    try second.close()
    #expect(try first.space("shared") == shared)
    let own = try first.space("own")
    #expect(own != shared)
    try first.close()
    let third = try store.open(process: 3)
    #expect(try third.spaceNames() == ["shared", "own"])
  }

  @Test(arguments: CrashVariant.allCases)
  func aSpaceIsThereOrNotAfterAPowerCut(variant: CrashVariant) throws {
    let recording = RecordingFileSystem()
    let database = try StoreSample(recording, isTiny: true).open()
    try database.put([1], [1])
    let start = recording.operationCount
    let space = try database.space("one")
    let made = recording.operationCount
    try put(2, [1], in: space, database)
    let written = recording.operationCount
    #expect(start < made && made < written)
    for count in start...written {
      for seed in 0..<6 as Range<UInt64> {
        let image = recording.image(after: count, variant: variant, seed: seed)
        let found = try StoreSample(image, isTiny: true).open()
        let comment: Comment = "\(variant) seed \(seed) after \(count)"
        let names = try found.spaceNames()
        #expect(names == ["one"] || (names == [] && count < made), comment)
        #expect(try found.value(forKey: [1]) == [1], comment)
        #expect(try found.space("one") == space, comment)
        let value = try found.value(forKey: [1], in: space)
        #expect(value == [2] || (value == nil && count < written), comment)
      }
    }
  }
}
