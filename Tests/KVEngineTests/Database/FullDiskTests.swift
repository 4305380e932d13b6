import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// A full disk is a state that ends.
@Suite struct FullDiskTests {
  private static let fillerByteCount = 48 << 10

  /// A store on a small volume that shares it with a file of somebody else.
  private struct Volume {
    var store: StoreSample
    private var filler: String { store.folder.path + "/filler" }

    init(on volume: StoreVolume, freeByteCount: Int) throws {
      let capacity = freeByteCount + FullDiskTests.fillerByteCount
      store = try StoreSample(on: volume, capacity: capacity, isTiny: true)
      let bytes = [UInt8](repeating: 1, count: FullDiskTests.fillerByteCount)
      try store.files.create(filler, bytes)
    }

    func makeRoom() throws { try store.files.unlink(filler) }

    var hasReserve: Bool { (try? store.files.status(store["RESERVE"])) != nil }
  }

  private func value(_ number: UInt8) -> [UInt8] {
    [UInt8](repeating: number, count: 350 + Int(number) * 7)
  }

  /// Writes numbers until the disk is full; what was acknowledged.
  private func fill(
    _ database: Database, from first: UInt8
  ) throws -> [[UInt8]: [UInt8]] {
    var stored: [[UInt8]: [UInt8]] = [:]
    for number in first...255 {
      do throws(DatabaseError) {
        try database.put(value(number), [number])
        stored[[number]] = value(number)
      } catch {
        guard case .diskFull = error else { throw error }
        return stored
      }
    }
    Issue.record("the volume never became full")
    return stored
  }

  private func isDiskFull(_ body: () throws(DatabaseError) -> Void) throws -> Bool {
    do throws(DatabaseError) {
      try body()
      return false
    } catch {
      guard case .diskFull = error else { throw error }
      return true
    }
  }

  @Test(.bug(id: "B59"), .bug(id: "B61"), arguments: StoreVolume.seeds(16, onDisk: 3))
  func aFullVolumeTakesDeletionsAndRecoversByItself(storage: StoreVolume, level: UInt64) throws {
    let volume = try Volume(on: storage, freeByteCount: (14 << 10) + Int(level) * 1777)
    let database = try volume.store.open()
    var expected = try fill(database, from: 1)
    #expect(expected.count > 5)
    #expect(try StoreSample.contents(database) == expected, "level \(level)")

    // RESERVE is given up for deletions, and then puts are refused until it is there again.
    let hadReserve = volume.hasReserve
    for number in 1...4 as ClosedRange<UInt8> {
      let isRefused = try isDiskFull { () throws(DatabaseError) in try database.remove([number]) }
      #expect(!(isRefused && hadReserve), "level \(level), deletion \(number)")
      if !isRefused { expected[[number]] = nil }
    }
    let isPutRefused = try isDiskFull { () throws(DatabaseError) in
      try database.put([UInt8](repeating: 0, count: 4000), [0])
    }
    #expect(isPutRefused, "level \(level)")
    #expect(try StoreSample.contents(database) == expected, "level \(level)")
    #expect(try database.verify().isSound)
    try database.close()

    // It opens and reads while there is no room.
    let full = try volume.store.open()
    #expect(try StoreSample.contents(full) == expected, "level \(level)")
    if try !isDiskFull({ () throws(DatabaseError) in try full.remove([5]) }) {
      expected[[5]] = nil
    }
    #expect(try StoreSample.contents(full) == expected, "level \(level)")

    try volume.makeRoom()
    for number in 0...30 as ClosedRange<UInt8> {
      try full.put([number], [number])
      expected[[number]] = [number]
    }
    try full.flush()
    #expect(volume.hasReserve)
    #expect(try StoreSample.contents(full) == expected, "level \(level)")
    try full.close()
    let again = try volume.store.open()
    #expect(try StoreSample.contents(again) == expected, "level \(level)")
    #expect(try again.verify().isSound)
  }

  @Test(.bug(id: "B59"), arguments: StoreVolume.seeds(16, onDisk: 3))
  func theSameHandleGoesOnAfterRoomReturned(storage: StoreVolume, level: UInt64) throws {
    var volume = try Volume(on: storage, freeByteCount: (17 << 10) + Int(level) * 1333)
    let events = Lock<[DatabaseEvent]>([])
    volume.store.options.eventHandler = { event in events.withLock { $0.append(event) } }
    let database = try volume.store.open()
    var expected = try fill(database, from: 1)
    for number in 1...4 as ClosedRange<UInt8> {
      if try !isDiskFull({ () throws(DatabaseError) in try database.remove([number]) }) {
        expected[[number]] = nil
      }
    }
    try volume.makeRoom()
    for (key, value) in try fill(database, from: 100) { expected[key] = value }
    #expect(expected[[100]] != nil && expected[[110]] != nil, "level \(level)")
    #expect(try StoreSample.contents(database) == expected, "level \(level)")
    let told = events.withLock { $0 }.filter { $0 == .diskFull || $0 == .diskAvailable }
    for (index, event) in told.enumerated() {
      #expect(event == (index % 2 == 0 ? .diskFull : .diskAvailable), "level \(level)")
    }
    try database.close()
    #expect(try StoreSample.contents(volume.store.open()) == expected, "level \(level)")
  }

  @Test(arguments: StoreVolume.allCases)
  func aDeletionThatMeetsAPutOnAFullVolumeIsTaken(storage: StoreVolume) throws {
    var volume = try Volume(on: storage, freeByteCount: 30 << 10)
    let events = Lock<[DatabaseEvent]>([])
    volume.store.options.eventHandler = { event in events.withLock { $0.append(event) } }
    let database = try volume.store.open()
    var expected = try fill(database, from: 1)
    #expect(volume.hasReserve)
    events.withLock { $0 = [] }
    var put = WriteBatch()
    put.put([UInt8](repeating: 7, count: 5000), forKey: [0])
    var deletion = WriteBatch()
    deletion.delete([1])
    let group = [put, deletion, put].map { CommitRequest(batch: $0, durability: .full) }
    let results = try database.pipeline.exclusively { $0.commit(group) }
    expected[[1]] = nil
    for index in [0, 2] {
      #expect(throws: DatabaseError.self) { try results[index].get() }
    }
    _ = try results[1].get()
    #expect(try StoreSample.contents(database) == expected)
    var large = 20 as UInt8
    // Deletions that do not fit into what the log has ahead give the ballast up.
    while volume.hasReserve, large < 200 {
      large += 1
      var deletion = WriteBatch()
      deletion.delete([UInt8](repeating: large, count: 300))
      try database.write(deletion)
    }
    #expect(events.withLock { $0.filter { $0 == .diskFull } } == [.diskFull])
    try volume.makeRoom()
    try database.put([2], [2])
    expected[[2]] = [2]
    #expect(volume.hasReserve)
    let told = events.withLock { $0 }.filter { $0 == .diskFull || $0 == .diskAvailable }
    #expect(told == [.diskFull, .diskAvailable])
    try database.close()
    #expect(try StoreSample.contents(volume.store.open()) == expected)
  }

  @Test(arguments: StoreVolume.allCases, [EDQUOT, EFBIG, ENOSPC])
  func quotaAndFileSizeLimitsAreAFullDisk(volume: StoreVolume, code: Int32) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    let files = store.addFaults()
    let database = try store.open()
    try database.put(value(1), [1])
    for progress in [Fault.Progress.nothing, .part] {
      files.plan(Fault(.error(code, after: progress), at: 1, of: [.write], isLasting: true))
      #expect(try isDiskFull { () throws(DatabaseError) in try database.put([2], [2]) })
      #expect(files.wasHit)
      #expect(try StoreSample.contents(database) == [[1]: value(1)])
    }
    files.plan()
    try database.put([2], [2])
    try database.close()
    #expect(try StoreSample.contents(store.open()) == [[1]: value(1), [2]: [2]])
  }
}
