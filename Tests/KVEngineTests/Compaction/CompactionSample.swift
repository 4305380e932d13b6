import KVTestSupport

@testable import KVEngine

/// A store with limits so small that every size of run is met, with a space that counts its keys,
/// and what it holds by a model.
struct CompactionSample {
  /// The first one counts its keys.
  static let spaces = [Space(code: 1), .standard]

  typealias Contents = [[[UInt8]: [UInt8]]]

  /// What a writer knows to be stored.
  struct Model {
    var contents: Contents = [[:], [:]]
    var random: SeededGenerator

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
    }

    mutating func key() -> [UInt8] {
      let first = UInt8(random.next() % 40)
      return [first] + [UInt8](repeating: 7, count: Int(random.next() % 3))
    }

    /// A batch of puts, overwrites and deletes.
    mutating func batch(upTo count: Int = 12) -> WriteBatch {
      var batch = WriteBatch()
      for _ in 0..<Int.random(in: 1...count, using: &random) {
        let index = random.coin() ? 0 : 1
        let (key, space) = (key(), CompactionSample.spaces[index])
        let isPresent = contents[index][key] != nil
        if random.next() % 3 == 0 {
          batch.delete(key, in: space, kind: index == 0 && isPresent ? .removal : .tombstone)
          contents[index][key] = nil
        } else {
          let value = random.bytes(Int(random.next() % (random.next() % 20 == 0 ? 900 : 30)))
          batch.put(
            value, forKey: key, in: space, kind: index == 0 && !isPresent ? .insertion : .put)
          contents[index][key] = value
        }
      }
      return batch
    }

    /// A batch that deletes everything.
    mutating func emptying() -> WriteBatch {
      var batch = WriteBatch()
      for (index, space) in CompactionSample.spaces.enumerated() {
        for key in contents[index].keys {
          batch.delete(key, in: space, kind: index == 0 ? .removal : .tombstone)
        }
        contents[index] = [:]
      }
      return batch
    }
  }

  static func store(_ files: any FileSystem = MemoryFileSystem()) -> StoreSample {
    tuned(StoreSample(files, isTiny: true))
  }

  static func store(on volume: StoreVolume) throws -> StoreSample {
    tuned(try StoreSample(on: volume, isTiny: true))
  }

  static func tuned(_ sample: StoreSample) -> StoreSample {
    var store = sample
    store.options.segmentByteCount = 4096
    store.options.logByteCount = 64 << 10
    return store
  }

  /// Everything a snapshot sees, read forward.
  static func contents(_ snapshot: Snapshot) throws(DatabaseError) -> Contents {
    var found: Contents = []
    for space in spaces {
      var cursor = try snapshot.cursor(space: space)
      var entries: [[UInt8]: [UInt8]] = [:]
      while let entry = try cursor.next() { entries[entry.key] = entry.value }
      found.append(entries)
    }
    return found
  }

  /// What does not agree with the model, `nil` for nothing.
  static func difference(
    _ database: Database, _ contents: Contents
  ) throws(DatabaseError) -> String? {
    let snapshot = try database.snapshot()
    let found = try Self.contents(snapshot)
    if found != contents {
      return "holds \(found.map(\.count)) instead of \(contents.map(\.count)) keys"
    }
    let count = snapshot.count(in: spaces[0])
    return count == contents[0].count ? nil : "counts \(count) instead of \(contents[0].count)"
  }
}

extension Database {
  /// Descriptors of the live segments.
  var liveSegments: [SegmentDescriptor] { state.readView.version.segments.map(\.descriptor) }
}
