import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// The length of the log, whatever becomes of the flushes that should end it.
@Suite struct LogBoundTests {
  @Test(arguments: StoreVolume.allCases, [0, 1 << 12, 1 << 14])
  func theLogEndsAtItsBound(volume: StoreVolume, byteCount: Int) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.logByteCount = byteCount
    let database = try store.open()
    let bound = max(byteCount, 4 << 10)
    var segments = 0
    for index in 0..<200 as Range<UInt8> {
      try database.put([UInt8](repeating: 1, count: 200), [index], durability: .lazy)
      let logs = try store.names().filter { $0.hasSuffix(".log") }.sorted()
      let live = try store.files.status(store[#require(logs.last)]).byteCount
      #expect(live < bound + 64)
      let now = database.state.readView.version.segments.count
      #expect(now == segments || now == segments + 1)
      segments = now
    }
    #expect(segments >= 200 * 250 / (bound + 500))
  }

  @Test(arguments: StoreVolume.allCases)
  func aRecordAsLargeAsTheBoundIsFlushedAtOnce(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume, isTiny: true).open()
    try database.put([UInt8](repeating: 1, count: 5000), [1])
    #expect(database.state.readView.version.segments.count == 1)
    #expect(database.state.readView.tables[0].entryCount == 0)
    #expect(try database.value(forKey: [1])?.count == 5000)
  }

  @Test(arguments: StoreVolume.allCases)
  func aFailedFlushIsTriedAgainAndRefusesNoCommit(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    let files = store.addFaults()
    let database = try store.open()
    try database.put([0], [0])
    files.plan(Fault(.error(EMFILE), at: 1, of: [.open], isLasting: true))
    for index in 1...40 as ClosedRange<UInt8> {
      try database.put([UInt8](repeating: index, count: 300), [index], durability: .lazy)
    }
    #expect(database.state.readView.version.segments.isEmpty)
    files.plan()
    try database.put([41], [41])
    #expect(database.state.readView.version.segments.count == 1)
    #expect(try StoreSample.contents(database).count == 42)
  }

  /// A log that is longer than any reader takes would be lost as a whole.
  @Test func commitsAreRefusedBeforeTheLogIsTooLongToBeRead() throws {
    let files = FaultFileSystem(MemoryFileSystem())
    var store = StoreSample(files)
    store.options.zeroStepByteCount = Limits.Log.zeroStepByteCount
    store.options.logByteCount = 128 << 20
    let database = try store.open()
    try database.put([0], [0])
    files.plan(Fault(.error(EMFILE), at: 1, of: [.open], isLasting: true))
    let value = [UInt8](repeating: 7, count: Limits.Value.maximumByteCount)
    var failure: DatabaseError?
    var count = 0
    while failure == nil, count < 5 {
      do throws(DatabaseError) {
        try database.put(value, [1], durability: .lazy)
        count += 1
      } catch {
        failure = error
      }
    }
    guard case .notWritten(let cause) = failure else {
      Issue.record("\(String(describing: failure)) after \(count)")
      return
    }
    #expect(cause.code == EMFILE)
    try database.close()
    files.plan()
    let again = try store.open()
    #expect(try again.value(forKey: [0]) == [0])
    #expect(try again.value(forKey: [1])?.count == value.count)
  }
}
