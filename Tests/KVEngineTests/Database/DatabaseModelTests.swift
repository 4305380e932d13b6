import KVTestSupport
import Testing

@testable import KVEngine

/// Random calls against a dictionary, with logs and blocks so small that flushes are frequent.
@Suite struct DatabaseModelTests {
  /// A database, its model, and what was taken from both earlier.
  private struct Run {
    var random: SeededGenerator
    let store: StoreSample
    var database: Database
    var model: [[UInt8]: [UInt8]] = [:]
    var snapshots: [(snapshot: Snapshot, model: [[UInt8]: [UInt8]])] = []

    init(seed: UInt64, on volume: StoreVolume) throws {
      random = SeededGenerator(seed: seed)
      store = try StoreSample(on: volume, isTiny: true)
      database = try store.open()
    }

    mutating func key() -> [UInt8] {
      let tricky = ModelEntry.trickyKeys
      if random.coin() { return tricky[Int.random(in: 0..<tricky.count, using: &random)] }
      return [UInt8(random.next() % 40), UInt8(random.next() % 4)]
    }

    mutating func value() -> [UInt8] {
      let count = Int.random(in: 0..<20, using: &random) == 0 ? 3000 : 90
      return random.bytes(Int.random(in: 0...count, using: &random))
    }

    /// Writes a batch of random operations.
    mutating func write() throws {
      var batch = WriteBatch()
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        let key = key()
        if Int.random(in: 0..<3, using: &random) == 0 {
          batch.delete(key)
          model[key] = nil
        } else {
          let value = value()
          batch.put(value, forKey: key)
          model[key] = value
        }
      }
      try database.write(batch, durability: random.coin() ? .full : .lazy)
    }

    mutating func reopen() throws {
      snapshots = []
      if random.coin() { try database.close() }
      // Without a close, letting go of the handle has to be enough.
      database = Database.inMemory()
      database = try store.open()
    }

    /// A walk of random moves over a random range, compared with the sorted model.
    mutating func walk(_ database: Snapshot, _ model: [[UInt8]: [UInt8]]) throws -> Bool {
      var (low, high) = (key(), key())
      if high.lexicographicallyPrecedes(low) { swap(&low, &high) }
      let range = random.coin() ? KeyRange.all : .range(from: low, upTo: high)
      var cursor = try database.cursor(in: range)
      let inside = model.filter { key, _ in
        !key.lexicographicallyPrecedes(range.lower ?? [])
          && range.upper.map { key.lexicographicallyPrecedes($0) } ?? true
      }
      var expected = ModelCursor(
        inside.map { ModelEntry(key: $0, sequence: 0, kind: .put, value: $1) }
          .sorted { $0.precedes($1) })
      for _ in 0..<25 {
        let target = key()
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
          _ = try cursor.seek(toFirstKeyAtOrAfter: target)
          expected.seek(toFirstAtOrAfter: target)
        case 1:
          _ = try cursor.seek(toLastKeyAtOrBefore: target)
          expected.seek(toLastAtOrBefore: target)
        case 2...4:
          _ = try cursor.moveForward()
          expected.next()
        default:
          _ = try cursor.moveBackward()
          expected.previous()
        }
        guard cursor.entry?.key == expected.current?.key,
          cursor.entry?.value == expected.current?.value
        else { return false }
      }
      return true
    }
  }

  @Test(.bug(id: "B29"), arguments: StoreVolume.seeds(6))
  func everyCallAnswersAsADictionaryWould(volume: StoreVolume, seed: UInt64) throws {
    var run = try Run(seed: seed, on: volume)
    for step in 0..<250 {
      switch Int.random(in: 0..<30, using: &run.random) {
      case 0: try run.reopen()
      case 1: try run.database.flush()
      case 2...3: run.snapshots.append((try run.database.snapshot(), run.model))
      case 4: run.snapshots = Array(run.snapshots.dropFirst())
      case 5...14:
        let now = (snapshot: try run.database.snapshot(), model: run.model)
        let (snapshot, model) = run.snapshots.randomElement(using: &run.random) ?? now
        let isRight = try run.walk(snapshot, model)
        #expect(isRight, "seed \(seed) step \(step)")
        let key = run.key()
        #expect(try snapshot.value(forKey: key) == model[key], "seed \(seed) step \(step)")
      case 15...18:
        let key = run.key()
        #expect(try run.database.value(forKey: key) == run.model[key], "seed \(seed) \(step)")
      default: try run.write()
      }
    }
    #expect(try StoreSample.contents(run.database) == run.model, "seed \(seed)")
    let report = try run.database.verify()
    #expect(report.damage == [], "seed \(seed)")
    try run.reopen()
    #expect(try StoreSample.contents(run.database) == run.model, "seed \(seed)")
    #expect(run.database.state.readView.version.segments.count > 3, "seed \(seed)")
  }
}
