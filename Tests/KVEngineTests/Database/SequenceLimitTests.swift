import KVTestSupport
import Testing

@testable import KVEngine

/// A store whose numbers for writes come to their end.
@Suite struct SequenceLimitTests {
  private let last = Limits.Sequence.maximum

  /// A store with two sequences left.
  private func store(on volume: StoreVolume, isLoad: Bool) throws -> StoreSample {
    var store = try StoreSample(on: volume)
    if isLoad { store.options.logByteCount = 4096 }
    var manifest = ManifestSample.empty()
    manifest.flushedSequence = last - 2
    let preamble = LogPreamble(
      lastSequence: last - 2, predecessor: 0, predecessorByteCount: 0, predecessorLastSequence: 0,
      predecessorChain: 0)
    try store.files.makeDirectory(store.path)
    try store.files.create(
      store["000001.log"],
      LogWriter.emptyLog(number: 1, store: ManifestSample.store, preamble: preamble))
    try store.files.create(store["MANIFEST"], manifest.encode())
    return store
  }

  @Test(arguments: StoreVolume.allCases, [false, true])
  func theLastOneIsGivenOutAndNoneBehindIt(volume: StoreVolume, isLoad: Bool) throws {
    let store = try store(on: volume, isLoad: isLoad)
    let database = try store.open()
    let limit = DatabaseError.limitExceeded(what: "number of writes", maximum: Int(last))
    let value = [UInt8](repeating: 7, count: isLoad ? 20_000 : 1)
    func batch(_ count: UInt8) -> WriteBatch {
      var batch = WriteBatch()
      for key in 0..<count { batch.put(value, forKey: [key]) }
      return batch
    }
    #expect(throws: limit) { try database.write(batch(3)) }
    #expect(try StoreSample.contents(database) == [:])
    #expect(try database.write(batch(2)) == last)
    #expect(throws: limit) { try database.write(batch(1)) }
    let expected: [[UInt8]: [UInt8]] = [[0]: value, [1]: value]
    #expect(try StoreSample.contents(database) == expected)
    try database.compact()
    #expect(throws: limit) { try database.write(batch(1)) }
    try database.close()
    let again = try store.open()
    #expect(throws: limit) { try again.write(batch(1)) }
    #expect(try StoreSample.contents(again) == expected)
    #expect(try again.verify().isSound)
  }
}
