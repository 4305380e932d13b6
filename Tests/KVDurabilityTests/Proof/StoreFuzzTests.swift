import KVSalvage
import KVTestSupport
import Testing

@testable import KVEngine

/// Whole stores with changed bytes: T15 of the test plan (promises P7, P8, P10).
@Suite struct StoreFuzzTests {
  private static let partCount = 4

  /// What does not verify is never believed.
  @Test(arguments: 0..<partCount)
  func changedBytesAreRightOrDamaged(part: Int) throws {
    let store = try SmallStore()
    let forge = try StoreForge(store)
    FuzzRun("store", count: 500).run { seed in
      var mutator = ByteMutator(seed: seed ^ UInt64(part) << 40)
      let changed = forge.mutated(&mutator, isRepaired: false)
      do {
        let files = try MemoryFileSystem(storeFiles: changed)
        _ = try store.read(files, allowed: 0...store.lastIndex)
        try use(changed)
      } catch {
        Issue.record("seed \(seed), part \(part): \(error)")
      }
    }
  }

  /// Behind checksums that hold, lies are met: any answer, any of our errors, but no trap and an
  /// end.
  @Test(arguments: 0..<partCount)
  func forgedStoresEndInAnAnswerOrAnError(part: Int) throws {
    let store = try SmallStore()
    let forge = try StoreForge(store)
    FuzzRun("forgery", count: 1000).run { seed in
      var mutator = ByteMutator(seed: seed ^ UInt64(part + Self.partCount) << 40)
      do {
        try use(forge.mutated(&mutator, isRepaired: true))
      } catch {
        Issue.record("seed \(seed), part \(part): \(error)")
      }
    }
  }

  /// A forged store of which nothing was changed is the store.
  @Test func theForgeKeepsWhatItDoesNotChange() throws {
    let store = try SmallStore()
    let forge = try StoreForge(store)
    var seenAsDamaged = 0
    for seed in 0..<200 as Range<UInt64> {
      var mutator = ByteMutator(seed: seed)
      let changed = forge.mutated(&mutator, isRepaired: true)
      let files = try MemoryFileSystem(storeFiles: changed)
      do {
        let database = try SmallStore.open(in: files)
        _ = try database.content()
      } catch let error as DatabaseError {
        // Not by a checksum: the lies themselves are found.
        if "\(error)".contains("checksum") { seenAsDamaged += 1 }
      } catch {}
    }
    #expect(seenAsDamaged < 20)
  }

  /// Everything that reads, then what writes; only errors of ours are fine.
  private func use(_ changed: [String: [UInt8]]) throws {
    let files = try MemoryFileSystem(storeFiles: changed)
    try attempt { try read(files) }
    try attempt {
      let database = try SmallStore.open(in: files)
      try database.write { $0.put([1], forKey: [7, 7, 7]) }
      try database.flush()
      try database.compact()
      try database.checkpoint(to: "/copy")
      try database.close()
    }
    try attempt { try read(files) }
    try attempt {
      _ = try Database.salvage(
        storeAt: TinyStore.path, to: "/rescued", in: files, options: SmallStore.options)
    }
  }

  private func read(_ files: MemoryFileSystem) throws {
    let database = try SmallStore.open(in: files)
    let snapshot = try database.snapshot()
    try attempt { _ = try database.verify() }
    for space in StoreContent.spaces {
      for isForward in [true, false] {
        try attempt {
          var cursor = try snapshot.cursor(space: space)
          var count = 0
          while try isForward ? cursor.moveForward() : cursor.moveBackward() {
            count += 1
            guard count < 100_000 else { throw Problem("a scan has no end") }
          }
        }
      }
      for key in [[0], [0x7F, 3, 0x61], [0xFF, 0xFF]] as [[UInt8]] {
        try attempt { _ = try snapshot.value(forKey: key, in: space) }
        try attempt {
          var cursor = try snapshot.cursor(space: space)
          _ = try cursor.seek(toLastKeyAtOrBefore: key)
          _ = try cursor.moveForward()
        }
      }
    }
  }

  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch is DatabaseError {}
  }
}
