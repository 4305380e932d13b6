import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// A checkpoint is the store of its moment, or no store.
@Suite struct CheckpointTests {
  /// The copy beside a store.
  private func copy(
    of store: StoreSample, mayCreate: Bool = false
  ) throws(DatabaseError) -> Database {
    var options = store.options
    options.createIfMissing = mayCreate
    return try Database(at: store.folder.path + "/copy", in: store.files, options: options)
  }

  /// A store with segments, deleted keys, a space and a memtable.
  private func makeSource(_ store: StoreSample) throws -> (Database, Space) {
    let database = try store.open()
    for number in 1...12 as ClosedRange<UInt8> {
      try database.write(NumberedCommits.batch(number))
    }
    let space = try database.space("side")
    var batch = WriteBatch()
    batch.put([42], forKey: [1], in: space)
    try database.write(batch)
    try database.write(NumberedCommits.batch(13))
    #expect(try database.statistics().segmentCount > 0)
    return (database, space)
  }

  private func numbers(_ database: Database) throws -> Int? {
    let found = try NumberedCommits.numbers(in: database)
    guard let found else { return nil }
    #expect(found == (0..<found.count).map { UInt8($0 + 1) })
    return found.count
  }

  @Test(arguments: StoreVolume.allCases, [false, true])
  func aCopyIsTheMomentAndGoesItsOwnWay(volume: StoreVolume, areLinksRefused: Bool) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    let files = store.addFaults()
    let (database, space) = try makeSource(store)
    if areLinksRefused {
      files.plan(Fault(.error(EXDEV), at: 1, of: [.link], isLasting: true))
    }
    try database.checkpoint(to: store.folder.path + "/copy/")
    #expect(files.wasHit == areLinksRefused)
    files.plan()
    try database.write(NumberedCommits.batch(14))
    try database.compact()

    let copied = try copy(of: store)
    #expect(try numbers(copied) == 13)
    #expect(try copied.space("side") == space)
    #expect(try copied.value(forKey: [1], in: space) == [42])
    #expect(try copied.snapshot().sequence + 3 == database.snapshot().sequence)
    #expect(try copied.verify().damage == [])
    #expect(try copied.storeSummary().identity != database.storeSummary().identity)
    for number in 14...20 as ClosedRange<UInt8> {
      try copied.write(NumberedCommits.batch(number))
    }
    try copied.compact()
    #expect(try numbers(copied) == 20)
    #expect(try numbers(database) == 14)
    #expect(try database.verify().damage == [])
    try database.close()
    try copied.close()
    #expect(try numbers(copy(of: store)) == 20)
    #expect(try numbers(store.open()) == 14)
  }

  @Test(arguments: StoreVolume.allCases)
  func anEmptyStoreAndARecoveredLogAreCopiedToo(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume, isTiny: true)
    let empty = try store.open()
    try empty.checkpoint(to: store.folder.path + "/copy")
    #expect(try StoreSample.contents(copy(of: store)) == [:])
    try empty.put([1], [1])
    try empty.close()
    // Nothing but a log that was read at open, in a handle that only reads.
    var reading = store
    reading.options.isReadOnly = true
    let reader = try reading.open()
    let path = store.folder.path + "/second"
    try reader.checkpoint(to: path)
    let second = try Database(at: path, in: store.files, options: store.options)
    #expect(try StoreSample.contents(second) == [[1]: [1]])
    #expect(try second.verify().isSound)
  }

  @Test(arguments: StoreVolume.allCases)
  func aTargetThatExistsIsNotTouched(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume, isTiny: true)
    let (files, folder) = (store.files, store.folder.path)
    let (database, _) = try makeSource(store)
    try files.makeDirectory(folder + "/copy")
    try files.create(folder + "/copy/precious", [1, 2, 3])
    try files.create(folder + "/file", [4])
    for name in ["copy", "file", "store"] {
      let names = try Set(files.list(store.path))
      let failure = IOFailure(operation: "makeDirectory", fileName: name, code: EEXIST)
      #expect(throws: DatabaseError.notWritten(failure)) {
        try database.checkpoint(to: folder + "/" + name)
      }
      #expect(try Set(files.list(store.path)) == names)
    }
    #expect(try files.list(folder + "/copy") == ["precious"])
    #expect(try numbers(database) == 13)
  }

  /// What stands at the target is complete or no store.
  private func check(_ store: StoreSample, mustExist: Bool, _ comment: Comment) throws {
    let found: Database
    do throws(DatabaseError) {
      found = try copy(of: store)
    } catch {
      switch error {
      case .damaged, .notFound: #expect(!mustExist, comment)
      default: Issue.record("\(error): \(comment)")
      }
      // Even a handle that may create takes it for damaged, or for a creation that never was.
      if let created = try? copy(of: store, mayCreate: true) {
        #expect(try StoreSample.contents(created) == [:], comment)
      }
      return
    }
    // A segment that is missing is found out when it is read.
    do {
      #expect(try numbers(found) == 13, comment)
      #expect(try found.value(forKey: [1], in: found.space("side")) == [42], comment)
    } catch DatabaseError.damaged {
      #expect(!mustExist, comment)
    }
  }

  @Test(arguments: CrashVariant.allCases)
  func aPowerCutLeavesACompleteCopyOrNone(variant: CrashVariant) throws {
    let recording = RecordingFileSystem()
    let (database, _) = try makeSource(StoreSample(recording, isTiny: true))
    let start = recording.operationCount
    try database.checkpoint(to: "/copy")
    let end = recording.operationCount
    #expect(end > start + 5)
    for count in start...end {
      for seed in 0..<4 as Range<UInt64> {
        let image = recording.image(after: count, variant: variant, seed: seed)
        let comment: Comment = "\(variant) seed \(seed) after \(count) of \(end)"
        let store = StoreSample(image, isTiny: true)
        try check(store, mustExist: count == end, comment)
        #expect(try numbers(store.open()) == 13, comment)
      }
    }
  }

  @Test(arguments: [EIO, ENOSPC])
  func aFailingCallLeavesNoWrongCopy(code: Int32) throws {
    for position in 1... {
      var store = StoreSample(isTiny: true)
      let files = store.addFaults()
      let (database, _) = try makeSource(store)
      files.plan(
        Fault(.error(code), at: position), Fault(.error(EXDEV), at: 1, of: [.link]))
      var isDone = false
      do throws(DatabaseError) {
        try database.checkpoint(to: "/copy")
        isDone = true
      } catch {
        switch error {
        case .diskFull: #expect(code == ENOSPC)
        case .notWritten, .io: break
        default: Issue.record("\(error) at call \(position)")
        }
      }
      let callCount = files.callCount
      files.plan()
      try check(store, mustExist: isDone, "call \(position)")
      try database.write(NumberedCommits.batch(14))
      #expect(try numbers(database) == 14)
      if callCount < position { return #expect(isDone && position > 10) }
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func aSegmentThatEndsEarlyIsNotCopied(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    let files = store.addFaults()
    let (database, _) = try makeSource(store)
    let segment = try #require(database.state.readView.version.segments.first?.descriptor)
    files.plan(
      Fault(.error(EXDEV), at: 1, of: [.link], isLasting: true),
      Fault(.short(0), at: 1, of: [.read], isLasting: true))
    let failure = IOFailure(operation: "read", fileName: segment.fileName, code: EIO)
    #expect(throws: DatabaseError.notWritten(failure)) {
      try database.checkpoint(to: store.folder.path + "/copy")
    }
    files.plan()
    #expect(try store.files.list(store.folder.path + "/copy") == [])
    #expect(try numbers(database) == 13)
  }

  @Test(arguments: StoreVolume.allCases)
  func ofAFailedHandleThereIsNoCopy(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    let files = store.addFaults()
    let (database, _) = try makeSource(store)
    let path = store.folder.path + "/copy"
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    #expect(throws: DatabaseError.self) { try database.write(NumberedCommits.batch(14)) }
    #expect(throws: DatabaseError.failed) { try database.checkpoint(to: path) }
    #expect(throws: DatabaseError.notFound(fileName: path)) { try copy(of: store) }
  }
}
