import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Which files of a store go, and when.
@Suite struct ObsoleteFilesTests {
  private let clock = SharedLock<Int64>(1_700_000_000_000_000)
  private static let minute: Int64 = 60_000_000

  private func makeStore(on volume: StoreVolume = .memory) throws -> StoreSample {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.wallClock = { [clock] in clock.withLock { $0 } }
    return store
  }

  private func advance(minutes: Int64) {
    clock.withLock { $0 += minutes * Self.minute }
  }

  private func names(_ store: StoreSample) throws -> Set<String> {
    Set(try store.files.list(store.path))
  }

  private func flush(_ database: Database, _ key: UInt8) throws {
    try database.put([key], [key])
    try database.flush()
  }

  @Test(arguments: StoreVolume.allCases)
  func whatAReplacedManifestNamesStaysForTenMinutes(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let database = try store.open()
    try flush(database, 1)
    #expect(
      try names(store) == [
        "LOCK", "MANIFEST", "MANIFEST-000001", "MANIFEST-000002", "RESERVE", "000001.log",
        "000002.seg", "000003.log",
      ])
    advance(minutes: 9)
    try flush(database, 2)
    #expect(try names(store).isSuperset(of: ["MANIFEST-000001", "000001.log"]))
    advance(minutes: 2)
    try flush(database, 3)
    // Generation 1 was replaced eleven minutes ago, generation 2 two minutes ago.
    let now = try names(store)
    #expect(now.isDisjoint(with: ["MANIFEST-000001", "000001.log"]))
    #expect(now.isSuperset(of: ["MANIFEST-000002", "MANIFEST-000003", "000003.log"]))
    #expect(try StoreSample.contents(database).count == 3)
  }

  @Test(arguments: StoreVolume.allCases)
  func theGraceCountsAcrossProcesses(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    for key in 1...4 as ClosedRange<UInt8> {
      let database = try store.open()
      try flush(database, key)
      try database.close()
      advance(minutes: 11)
    }
    let now = try names(store)
    #expect(now.isDisjoint(with: ["MANIFEST-000001", "MANIFEST-000002", "000001.log"]))
    #expect(now.isSuperset(of: ["MANIFEST", "MANIFEST-000004", "MANIFEST-000005"]))
    #expect(try StoreSample.contents(store.open()).count == 4)
  }

  @Test(arguments: StoreVolume.allCases)
  func theLastReplacedStateStaysHoweverOldItIs(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let database = try store.open()
    try flush(database, 1)
    advance(minutes: 100_000)
    try flush(database, 2)
    #expect(try names(store).isSuperset(of: ["MANIFEST-000002", "000003.log"]))
  }

  @Test(arguments: [-10_000_000_000, -11, -1] as [Int64]) func aClockThatGoesBackRemovesNothing(
    minutes: Int64
  ) throws {
    let store = try makeStore()
    let database = try store.open()
    try flush(database, 1)
    advance(minutes: minutes)
    try flush(database, 2)
    try flush(database, 3)
    #expect(try names(store).isSuperset(of: ["MANIFEST-000001", "000001.log"]))
    try database.close()
    #expect(try StoreSample.contents(store.open()).count == 3)
  }

  @Test(arguments: StoreVolume.allCases)
  func leftOversGoAndStrangersStay(volume: StoreVolume) throws {
    let store = try makeStore(on: volume)
    let database = try store.open()
    try database.put([1], [1])
    for name in [
      "MANIFEST.tmp", "000007.log.tmp", "000000.seg", "000000.log", "MANIFEST-000099",
      "notes.txt", "12.log", "RESERVE", "000500.seg", "000500.log",
    ] {
      try store.files.create(store[name], [1])
    }
    try flush(database, 2)
    let now = try names(store)
    #expect(
      now.isDisjoint(with: [
        "MANIFEST.tmp", "000007.log.tmp", "000000.seg", "000000.log", "MANIFEST-000099",
      ]))
    // Names that are not ours, and numbers that a job may be writing to.
    #expect(
      now.isSuperset(of: ["notes.txt", "12.log", "RESERVE", "000500.seg", "000500.log", "LOCK"]))
  }

  @Test(arguments: StoreVolume.allCases)
  func aReplacedManifestThatCannotBeReadStopsTheSweep(volume: StoreVolume) throws {
    var store = try makeStore(on: volume)
    let files = store.addFaults()
    for key in 1...3 as ClosedRange<UInt8> {
      let database = try store.open()
      try flush(database, key)
      try database.close()
      advance(minutes: 20)
    }
    let before = try names(store)
    let database = try store.open()
    try database.put([9], [9])
    // Reads of a flush are those of replaced MANIFESTs alone.
    files.plan(Fault(.error(EIO), at: 1, of: [.read], isLasting: true))
    try database.flush()
    #expect(files.wasHit)
    files.plan()
    #expect(try names(store).isSuperset(of: before))
    try flush(database, 10)
    #expect(try !names(store).isSuperset(of: before))
  }

  @Test(arguments: StoreVolume.allCases)
  func aNameThatCannotBeRemovedIsNoError(volume: StoreVolume) throws {
    var store = try makeStore(on: volume)
    let files = store.addFaults()
    let database = try store.open()
    files.plan(Fault(.error(EACCES), at: 1, of: [.unlink], isLasting: true))
    for key in 1...4 as ClosedRange<UInt8> {
      try flush(database, key)
      advance(minutes: 20)
    }
    #expect(try StoreSample.contents(database).count == 4)
  }

  /// A copy made file by file, in any order, while the store is written, holds a complete state.
  @Test(arguments: 0..<20 as Range<UInt64>) func aCopyFileByFileHoldsACompleteState(
    seed: UInt64
  ) throws {
    let store = try makeStore()
    let database = try store.open()
    for key in 1...3 as ClosedRange<UInt8> { try database.put([key], [key]) }
    try flush(database, 4)
    try flush(database, 5)
    var random = SeededGenerator(seed: seed)
    let copy = MemoryFileSystem()
    try copy.makeDirectory("/store")
    for (index, name) in try store.files.list(store.path).shuffled(using: &random).enumerated() {
      if let bytes = try? store.files.bytes(of: store[name]) {
        try copy.create("/store/" + name, bytes)
      }
      if random.coin() { try flush(database, UInt8(10 + index)) }
      // Ten minutes for all of them.
      advance(minutes: Int64(index % 2))
    }
    let names = Set(try copy.list("/store").compactMap { FileName($0) })
    let complete = names.compactMap { name -> Manifest? in
      let manifest = try? ManifestFile(files: copy, folder: "/store").read(name).0
      return manifest.flatMap { $0.fileNames.isSubset(of: names) ? $0 : nil }
    }
    #expect(complete.contains { $0.flushedSequence >= 4 }, "seed \(seed)")
  }
}
