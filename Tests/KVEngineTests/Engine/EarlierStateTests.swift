import KVTestSupport
import Testing

@testable import KVEngine

/// A store whose newest state is not there: which state opens, what is said, what is kept.
@Suite struct EarlierStateTests {
  /// A store of four generations with keys and sequences 1 to 4, of which the last is in the log:
  /// segments 2, 4 and 6, logs 1, 3, 5 and 7.
  private func makeStore(on volume: StoreVolume) throws -> StoreSample {
    var store = try StoreSample(on: volume)
    store.options.wallClock = { 1_700_000_000_000_000 }
    let database = try store.open()
    for key in 1...3 as ClosedRange<UInt8> {
      try database.put([key], [key])
      try database.flush()
    }
    try database.put([4], [4])
    try database.close()
    store.options.onDamage = .openEarlierState
    return store
  }

  /// What may become of a store's files.
  enum Damage: CaseIterable {
    case missingManifest, bothCopies, missingSegment, shortSegment, missingLog, logOfAnother
    case damagedLogHead, holeInLog, missingTwoSegments

    /// The generation that is complete then, and the keys in it.
    var expected: (generation: UInt64, keyCount: UInt8, missing: ClosedRange<UInt64>?) {
      switch self {
      case .missingManifest, .bothCopies, .damagedLogHead: (4, 4, nil)
      case .missingSegment, .shortSegment: (3, 3, 4...4)
      case .missingLog, .logOfAnother: (3, 3, nil)
      case .holeInLog: (4, 3, 4...6)
      case .missingTwoSegments: (2, 2, 3...4)
      }
    }

    var structure: String {
      switch self {
      case .missingManifest: "MANIFEST"
      case .bothCopies: "file header"
      case .missingSegment, .shortSegment, .missingTwoSegments: "segment"
      case .missingLog: "log"
      case .logOfAnother: "file header"
      case .damagedLogHead: "log preamble"
      case .holeInLog: "log record"
      }
    }

    func apply(to store: StoreSample) throws {
      let files = store.files
      switch self {
      case .missingManifest: try files.unlink(store["MANIFEST"])
      case .bothCopies:
        // A file of its own, as in a copy: the second name is another one there.
        try files.unlink(store["MANIFEST"])
        try files.create(store["MANIFEST"], [UInt8](repeating: 7, count: 1024))
      case .missingSegment: try files.unlink(store["000006.seg"])
      case .shortSegment:
        let bytes = try files.bytes(of: store["000006.seg"])
        try files.unlink(store["000006.seg"])
        try files.create(store["000006.seg"], bytes.dropLast())
      case .missingLog: try files.unlink(store["000007.log"])
      case .logOfAnother:
        try files.unlink(store["000007.log"])
        try files.rename(store["000005.log"], to: store["000007.log"])
        try files.create(
          store["000005.log"], files.bytes(of: store["000007.log"]))
      case .damagedLogHead:
        try files.open(store["000007.log"], .update).write([1], at: 60)
      case .holeInLog:
        var options = store.options
        options.onDamage = .report
        let database = try Database(at: store.path, in: files, options: options)
        for key in [5, 6] as [UInt8] { try database.put([key], [key]) }
        try database.close()
        // In the first of three records; the last one says that it had been durable.
        try files.open(store["000007.log"], .update).write([1], at: 120)
      case .missingTwoSegments:
        for name in ["000004.seg", "000006.seg"] { try files.unlink(store[name]) }
        try files.unlink(store["MANIFEST-000004"])
      // Generation 3 names segment 4, generation 2 does not.
      }
    }
  }

  private func expectKeys(_ count: UInt8, in database: Database, _ comment: Comment) throws {
    let expected = (1...count).map { ([$0], [$0]) }
    #expect(
      try StoreSample.contents(database) == Dictionary(uniqueKeysWithValues: expected), comment)
  }

  @Test(arguments: StoreVolume.allCases, Damage.allCases)
  func theNewestCompleteStateOpensAndIsReported(volume: StoreVolume, damage: Damage) throws {
    let store = try makeStore(on: volume)
    try damage.apply(to: store)
    let before = try store.files.list(store.path).sorted()
    var reading = store
    reading.options.isReadOnly = true
    let database = try reading.open()
    let (generation, keyCount, missing) = damage.expected
    try expectKeys(keyCount, in: database, "\(damage)")
    let report = try #require(database.earlierState)
    #expect(report.generation == generation, "\(damage)")
    #expect(report.missingSequences == missing, "\(damage)")
    #expect(report.corruption.structure == damage.structure, "\(damage): \(report.corruption)")
    #expect(report.newestGeneration == 4, "\(damage)")
    #expect(try database.snapshot().sequence == missing?.upperBound ?? UInt64(keyCount))
    let verification = try database.verify()
    #expect(verification.damage.contains(report.corruption), "\(damage)")
    #expect(try store.files.list(store.path).sorted() == before, "nothing is written")
  }

  @Test(arguments: StoreVolume.allCases, Damage.allCases)
  func withoutBeingAskedForNothingElseOpens(volume: StoreVolume, damage: Damage) throws {
    var store = try makeStore(on: volume)
    try damage.apply(to: store)
    store.options.onDamage = .report
    do throws(DatabaseError) {
      let database = try store.open()
      #expect(database.earlierState == nil)
      // Segments are looked at when they are read.
      #expect(damage.structure == "segment", "\(damage)")
      #expect(try !database.verify().isSound, "\(damage)")
    } catch {
      #expect(isDamaged(error), "\(damage)")
    }
  }

  @Test(arguments: StoreVolume.allCases, Damage.allCases)
  func theFirstWriteGoesOnAboveEverything(volume: StoreVolume, damage: Damage) throws {
    let store = try makeStore(on: volume)
    try damage.apply(to: store)
    let before = try files(of: store)
    let (_, keyCount, missing) = damage.expected
    let database = try store.open()
    let sequence = try database.put([9], [9])
    #expect(sequence == (missing?.upperBound ?? UInt64(keyCount)) + 1, "\(damage)")
    try database.remove([9])
    try database.flush()
    #expect(database.earlierState != nil, "the report stays with the handle")
    try database.close()
    var strict = store
    strict.options.onDamage = .report
    let again = try strict.open()
    try expectKeys(keyCount, in: again, "\(damage)")
    #expect(try again.verify().damage == [])
    let manifest = try ManifestFile(files: store.files, folder: store.path).read().0
    #expect(manifest.generation > 5, "\(damage)")
    // All that was there is there, or in the folder for it.
    let folder = store["set-aside-000005"]
    for (name, bytes) in before where name != "LOCK" && name != "RESERVE" {
      let kept = try? store.files.bytes(of: folder + "/" + name)
      let stays = try? store.files.bytes(of: store[name])
      #expect(kept == bytes || stays == bytes, "\(damage): \(name)")
    }
  }

  private func files(of store: StoreSample) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try store.files.list(store.path) {
      files[name] = try store.files.bytes(of: store[name])
    }
    return files
  }

  @Test(arguments: StoreVolume.allCases)
  func whatTheStateDoesNotNameIsSetAside(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    try Damage.missingSegment.apply(to: store)
    let database = try store.open()
    try database.put([9], [9])
    #expect(
      try Set(store.files.list(store["set-aside-000005"])) == [
        "MANIFEST", "MANIFEST-000004", "000007.log",
      ])
    // The next damage has a folder of its own.
    try database.flush()
    try database.close()
    try store.files.unlink(store["MANIFEST"])
    let again = try store.open()
    #expect(again.earlierState?.generation == 6)
    try again.put([10], [10])
    #expect(try !store.files.list(store.path).contains("set-aside-000007"))
    #expect(try again.value(forKey: [9]) == [9])
  }

  @Test(arguments: StoreVolume.allCases)
  func whereNothingIsCompleteItIsDamaged(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    for name in try store.files.list(store.path) where name.hasSuffix(".log") {
      try store.files.unlink(store[name])
    }
    let error = #expect(throws: DatabaseError.self) { try store.open() }
    #expect(isDamaged(error))
  }

  @Test(arguments: StoreVolume.allCases)
  func aSoundStoreHasNoReport(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let database = try store.open()
    #expect(database.earlierState == nil)
    try database.put([9], [9])
    #expect(database.earlierState == nil)
  }

  /// A crash between link and rename leaves a state that is not in force; what is committed after
  /// it must not be lost to it.
  @Test(arguments: StoreVolume.allCases)
  func aNameAboveTheStateInForceGoesWithTheFirstWrite(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    var orphan = try ManifestFile(files: store.files, folder: store.path).read().0
    orphan.generation = 5
    try store.files.create(store["MANIFEST-000005"], orphan.encode())
    try store.files.create(store["MANIFEST-000009"], orphan.encode())
    let reading = try store.open()
    #expect(reading.earlierState == nil)
    try reading.put([9], [9])
    var names = try store.files.list(store.path)
    #expect(!names.contains("MANIFEST-000005") && names.contains("MANIFEST-000009"))
    try reading.flush()
    names = try store.files.list(store.path)
    #expect(names.contains("MANIFEST-000005") && !names.contains("MANIFEST-000009"))
    #expect(
      try ManifestFile(files: store.files, folder: store.path).read(.oldManifest(5)).0 != orphan)
  }

  @Test(arguments: StoreVolume.allCases)
  func aRestoredCopyGetsItsSecondName(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    try store.files.unlink(store["MANIFEST-000004"])
    let database = try store.open()
    try database.put([9], [9])
    #expect(try store.files.list(store.path).contains("MANIFEST-000004"))
  }

  @Test(arguments: StoreVolume.allCases)
  func theReportIsAnEventToo(volume: StoreVolume) throws {
    var store = try makeStore(on: volume)
    try store.files.unlink(store["MANIFEST"])
    let events = Lock<[DatabaseEvent]>([])
    store.options.eventHandler = { event in events.withLock { $0.append(event) } }
    let database = try store.open()
    let report = try #require(database.earlierState)
    #expect(events.withLock { $0 } == [.openedEarlierState(report)])
    #expect(
      "\(report)" == "generation 4 is open, since MANIFEST at byte 0: MANIFEST: "
        + "is missing though the folder holds a store's files")
    try database.put([9], [9])
    #expect(events.withLock { $0.count { $0 == .openedEarlierState(report) } } == 1)
  }

  @Test(arguments: StoreVolume.allCases)
  func aReaderFollowsWhoGoesOnFromAnEarlierState(volume: StoreVolume) throws {
    var store = try makeStore(on: volume)
    try Damage.missingSegment.apply(to: store)
    store.options.isReadOnly = true
    let reader = try store.open(process: 2)
    try expectKeys(3, in: reader, "reader")
    store.options.isReadOnly = false
    let writer = try store.open(process: 3)
    try writer.put([4], [4])
    try expectKeys(4, in: reader, "reader")
    try writer.put([5], [5])
    try expectKeys(5, in: reader, "reader")
  }
}
