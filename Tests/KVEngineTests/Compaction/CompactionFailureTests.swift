import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// Compactions that meet damage, are cancelled, or lose the lock.
@Suite struct CompactionFailureTests {
  /// A store of five flushes, and the file names of their segments, oldest first.
  private func fill(
    _ store: StoreSample
  ) throws -> (store: StoreSample, database: Database, names: [String]) {
    let database = try store.open()
    for flush in 0..<5 as Range<UInt8> {
      for key in 0..<8 as Range<UInt8> {
        try database.put([flush], [flush, key], durability: .lazy)
      }
      try database.remove([flush, 0])
      try database.flush()
    }
    return (store, database, database.liveSegments.map(\.fileName).reversed())
  }

  private func keys(_ flush: UInt8) -> [[UInt8]] { (1..<8).map { [flush, $0] } }

  @Test(arguments: StoreVolume.allCases)
  func aDamagedInputIsLeftAloneAndCostsOnlyItsKeys(volume: StoreVolume) throws {
    let (store, first, names) = try fill(CompactionSample.store(on: volume))
    try first.close()
    let file = try store.files.open(store[names[2]], .update)
    let middle = try file.status().byteCount / 4
    try file.write(try file.bytes(at: middle, count: 1).map { $0 ^ 0x40 }, at: middle)
    let before = try store.files.bytes(of: store[names[2]])
    let database = try store.open()
    try database.put([1], [100])
    try database.compact()
    #expect(database.liveSegments.contains { $0.fileName == names[2] })
    #expect(database.liveSegments.count == 2)
    #expect(try store.files.bytes(of: store[names[2]]) == before)
    for flush in [0, 1, 3, 4] as [UInt8] {
      for key in keys(flush) { #expect(try database.value(forKey: key) == [flush]) }
    }
    #expect(try database.value(forKey: [100]) == [1])
    var lost = 0
    for key in keys(2) {
      do throws(DatabaseError) {
        _ = try database.value(forKey: key)
      } catch {
        guard case .damaged = error else { throw error }
        lost += 1
      }
    }
    #expect(lost > 0)
    // It ends, however often it is asked for.
    try database.compact()
    let byteCount = try database.statistics().compactionByteCount
    try database.compact()
    #expect(try database.statistics().compactionByteCount == byteCount)
  }

  @Test(arguments: StoreVolume.allCases)
  func aMissingInputIsLeftAlone(volume: StoreVolume) throws {
    let (store, first, names) = try fill(CompactionSample.store(on: volume))
    try first.close()
    try store.files.unlink(store[names[1]])
    let database = try store.open()
    try database.put([1], [100])
    try database.compact()
    #expect(database.liveSegments.count == 2)
    for key in keys(3) { #expect(try database.value(forKey: key) == [3]) }
  }

  @Test(arguments: StoreVolume.allCases)
  func cancellingLeavesNothingBehind(volume: StoreVolume) throws {
    let (store, database, names) = try fill(CompactionSample.store(on: volume))
    let before = try store.names()
    for position in 1...3 {
      let calls = Lock(0)
      do throws(DatabaseError) {
        _ = try database.compactor.step(isRequested: true) {
          calls.withLock { calls in
            calls += 1
            return calls >= position
          }
        }
      } catch {
        #expect(error == .cancelled)
        #expect(try store.names() == before)
        #expect(Set(database.liveSegments.map(\.fileName)) == Set(names))
      }
    }
    try database.compact()
    #expect(database.liveSegments.count == 1)
  }

  /// Flushes meanwhile sweep the folder, and take numbers of their own.
  @Test(arguments: StoreVolume.allCases)
  func outputThatIsNotPublishedIsNeverSwept(volume: StoreVolume) throws {
    let clock = Lock<Int64>(1_700_000_000_000_000)
    var sample = try CompactionSample.store(on: volume)
    let hooks = HookedFileSystem(sample.files)
    sample.files = hooks
    var (store, first, _) = try fill(sample)
    try first.close()
    store.options.wallClock = {
      clock.withLock { now in
        now += 400_000_000
        return now
      }
    }
    let database = try store.open()
    try database.put([1], [200])
    let flushes = Lock<UInt8>(0)
    hooks.beforeEvery(.read, of: ".seg") {
      let key = flushes.withLock { flushes in
        flushes += 1
        return flushes
      }
      if key > 6 { return }
      do {
        try database.put([key], [201, key])
        try database.flush()
      } catch {
        flushes.withLock { $0 = 100 }
      }
    }
    try database.compact()
    #expect(flushes.withLock { $0 } < 100 && flushes.withLock { $0 } > 6)
    try database.close()
    let again = try store.open()
    #expect(try again.verify().damage == [])
    for flush in 0..<5 as Range<UInt8> {
      for key in keys(flush) { #expect(try again.value(forKey: key) == [flush]) }
    }
    for key in 1...6 as ClosedRange<UInt8> {
      #expect(try again.value(forKey: [201, key]) == [key])
    }
  }

  /// What was planned before the lock went to another process is void, even if that one left every
  /// input alone: it may have swept the output.
  @Test(arguments: StoreVolume.allCases)
  func aCompactionDoesNotOutliveItsLock(volume: StoreVolume) throws {
    let clock = Lock<Int64>(1_700_000_000_000_000)
    var sample = try CompactionSample.store(on: volume)
    let hooks = HookedFileSystem(sample.files)
    sample.files = hooks
    var (store, first, _) = try fill(sample)
    try first.close()
    store.options.wallClock = {
      clock.withLock { now in
        now += 400_000_000
        return now
      }
    }
    let other = store
    let database = try store.open()
    try database.put([1], [200])
    let findings = Findings()
    let next = try database.pipeline.exclusively { writer in
      guard case .open(let open) = writer.status else { return UInt64(0) }
      return open.manifest.nextFileNumber
    }
    // The output is read back before it is published.
    hooks.before(1, .read, of: FileName.segment(next).text) {
      findings.catching("the other process") {
        try database.suspend()
        let other = try other.open(process: 2)
        for key in 0..<6 as Range<UInt8> {
          try other.put([key], [210, key])
          try other.flush()
        }
        try other.close()
        try database.resume()
        try database.put([1], [220])
      }
    }
    #expect(throws: DatabaseError.cancelled) {
      _ = try database.compactor.step(isRequested: true, isCancelled: { false })
    }
    #expect(findings.all == [])
    try database.close()
    let again = try store.open()
    #expect(try again.verify().damage == [])
    #expect(try again.value(forKey: [210, 5]) == [5])
    for key in keys(4) { #expect(try again.value(forKey: key) == [4]) }
    try again.compact()
    #expect(try again.verify().damage == [])
  }

  /// After the rename of a MANIFEST whose outcome nobody knows, its files stay.
  @Test(arguments: StoreVolume.allCases, [SystemError.Operation.rename, .syncDirectory])
  func outputOfAPublishInDoubtStays(
    volume: StoreVolume, operation: SystemError.Operation
  ) throws {
    var sample = try CompactionSample.store(on: volume)
    let files = sample.addFaults()
    let (store, database, _) = try fill(sample)
    let position = operation == .rename ? 1 : 2
    files.plan(Fault(.error(EIO, after: .everything), at: position, of: [operation]))
    #expect { _ = try database.compactor.step(isRequested: true, isCancelled: { false }) } throws: {
      guard case .io? = $0 as? DatabaseError else { return false }
      return true
    }
    #expect(files.wasHit)
    try? database.close()
    let again = try store.open()
    #expect(again.liveSegments.count == 1, "the new MANIFEST is in force")
    #expect(try again.verify().damage == [])
    for key in keys(4) { #expect(try again.value(forKey: key) == [4]) }
  }

  @Test(arguments: StoreVolume.allCases)
  func thereIsNoCompactionWithoutRoom(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume, capacity: 160 << 10, isTiny: true)
    let (_, database, names) = try fill(CompactionSample.tuned(store))
    #expect {
      _ = try database.compactor.step(isRequested: true, isCancelled: { false })
    } throws: {
      guard case .diskFull? = $0 as? DatabaseError else { return false }
      return true
    }
    #expect(Set(database.liveSegments.map(\.fileName)).isSuperset(of: names))
    for key in keys(4) { #expect(try database.value(forKey: key) == [4]) }
  }

  @Test(arguments: StoreVolume.allCases)
  func aHandlerMayUseTheStore(volume: StoreVolume) throws {
    let box = Lock<Database?>(nil)
    let count = Lock(0)
    var store = try CompactionSample.store(on: volume)
    store.options.eventHandler = { event in
      guard case .compacted = event, let database = box.withLock({ $0 }) else { return }
      count.withLock { $0 += 1 }
      try? database.compact()
    }
    let database = try store.open()
    box.withLock { $0 = database }
    for key in 0..<4 as Range<UInt8> {
      try database.put([key], [key])
      try database.flush()
    }
    try database.compact()
    box.withLock { $0 = nil }
    #expect(count.withLock { $0 } > 0)
    #expect(database.liveSegments.count == 1)
  }
}
