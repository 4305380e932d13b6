import KVTestSupport
import Testing

@testable import KVEngine

/// What is kept in memory of what was read, as calls to the volume show it.
@Suite struct CacheCeilingTests {
  /// Calls of three reads of all keys, the last of them behind a release of the memory.
  private func callCounts(
    on volume: StoreVolume, cacheByteCount: Int
  ) throws -> [Int] {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.logByteCount = 1 << 20
    store.options.cacheByteCount = cacheByteCount
    let files = store.addFaults()
    let database = try store.open()
    for key in 0..<100 as Range<UInt8> {
      try database.put([UInt8](repeating: key, count: 100), [key], durability: .lazy)
    }
    try database.flush()
    try database.releaseMemory()
    return try (0..<3).map { round in
      if round == 2 { try database.releaseMemory() }
      let before = files.callCount
      for key in 0..<100 as Range<UInt8> {
        #expect(try database.value(forKey: [key])?.first == key)
      }
      return files.callCount - before
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func whatIsInTheCacheIsNotReadAgain(volume: StoreVolume) throws {
    let counts = try callCounts(on: volume, cacheByteCount: 1 << 20)
    #expect(counts[0] > 10 && counts[1] == 0)
    #expect(counts[2] == counts[0], "\(counts)")
  }

  @Test(arguments: StoreVolume.allCases, [0, 4 << 10])
  func whatDoesNotFitIsReadAgain(volume: StoreVolume, cacheByteCount: Int) throws {
    let counts = try callCounts(on: volume, cacheByteCount: cacheByteCount)
    #expect(counts[0] > 10 && counts[1] > 10, "\(counts)")
  }
}
