import KVTestSupport
import Testing

@testable import KVEngine

/// Notes of stretches without a visible key change the cost of reads and nothing else.
@Suite struct GapNotesTests {
  private func tuned(_ store: StoreSample, notesGaps: Bool) -> StoreSample {
    var store = store
    store.options.blockByteCount = 256
    store.options.cacheByteCount = 0
    store.options.notesGaps = notesGaps
    return store
  }

  private func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

  /// The newest keys, newest first.
  private func newest(_ count: Int, in database: Database) throws -> [[UInt8]] {
    var cursor = try database.cursor()
    var keys: [[UInt8]] = []
    while keys.count < count, let entry = try cursor.previous() { keys.append(entry.key) }
    return keys
  }

  private func oldest(_ count: Int, in database: Database) throws -> [[UInt8]] {
    var cursor = try database.cursor()
    var keys: [[UInt8]] = []
    while keys.count < count, let entry = try cursor.next() { keys.append(entry.key) }
    return keys
  }

  private func write(
    _ database: Database, puts: some Sequence<Int>, deletions: some Sequence<Int>
  ) throws {
    var batch = WriteBatch()
    for number in puts { batch.put([1], forKey: key(number)) }
    for number in deletions { batch.delete(key(number)) }
    try database.write(batch)
  }

  @Test(arguments: StoreVolume.allCases, [false, true])
  func theSecondReadOfTheNewestJumps(volume: StoreVolume, isNewest: Bool) throws {
    var store = tuned(try StoreSample(on: volume), notesGaps: true)
    let files = store.addFaults()
    let database = try store.open()
    let dead = isNewest ? 1000..<6000 : 0..<5000
    // Values that do not shrink, so that stepping over them is many reads.
    var generator = SeededGenerator(seed: 1)
    var batch = WriteBatch()
    for number in 0..<6000 { batch.put(generator.bytes(300), forKey: key(number)) }
    try database.write(batch)
    try database.flush()
    try write(database, puts: [], deletions: dead)
    try database.flush()
    let live = (isNewest ? (980..<1000).reversed() : Array(5000..<5020)).map(key)
    func read() throws -> (keys: [[UInt8]], readCount: Int) {
      let before = files.callCount
      let keys = try isNewest ? newest(20, in: database) : oldest(20, in: database)
      return (keys, files.callCount - before)
    }
    let first = try read()
    let second = try read()
    #expect(first.keys == live && second.keys == live)
    #expect(second.readCount * 4 < first.readCount, "\(second.readCount) of \(first.readCount)")

    // A put into the stretch is seen at once, and by old snapshots never.
    let snapshot = try database.snapshot()
    let middle = isNewest ? 3000 : 2000
    try write(database, puts: [middle], deletions: [])
    #expect(try read().keys == [key(middle)] + live.dropLast())
    #expect(try snapshot.value(forKey: key(middle)) == nil)
    try write(database, puts: [], deletions: [middle])
    #expect(try read().keys == live)
    #expect(try read().keys == live)
  }

  @Test(arguments: StoreVolume.allCases)
  func anotherProcessPutsIntoTheStretch(volume: StoreVolume) throws {
    let store = tuned(try StoreSample(on: volume), notesGaps: true)
    let database = try store.open()
    try write(database, puts: 0..<600, deletions: 100..<600)
    #expect(try newest(1, in: database) == [key(99)])
    #expect(try newest(1, in: database) == [key(99)])
    try database.suspend()
    let other = try store.open(process: 2)
    try write(other, puts: [300], deletions: [])
    try other.close()
    try database.resume()
    #expect(try newest(2, in: database) == [key(300), key(99)])
  }

  /// The same history with and without notes.
  private struct Pair {
    let noted: Database
    let plain: Database
    var snapshots: [(Snapshot, Snapshot)] = []

    func both(_ body: (Database) throws -> Void) rethrows {
      try body(noted)
      try body(plain)
    }
  }

  private func contents(_ cursor: consuming Cursor, isForward: Bool) throws -> [Cursor.Entry] {
    var found: [Cursor.Entry] = []
    while let entry = isForward ? try cursor.next() : try cursor.previous() { found.append(entry) }
    return found
  }

  /// A walk that seeks and turns around.
  private func walk(_ cursor: consuming Cursor, seed: UInt64) throws -> [[UInt8]?] {
    var generator = SeededGenerator(seed: seed)
    var found: [[UInt8]?] = []
    for _ in 0..<20 {
      let target = key(Int.random(in: 0..<500, using: &generator))
      switch generator.next() % 6 {
      case 0: _ = try cursor.seek(toFirstKeyAtOrAfter: target)
      case 1: _ = try cursor.seek(toLastKeyAtOrBefore: target)
      case 2, 3: _ = try cursor.moveForward()
      default: _ = try cursor.moveBackward()
      }
      found.append(cursor.entry?.key)
    }
    return found
  }

  private func compare(_ pair: Pair, seed: UInt64, step: Int) throws {
    let comment: Comment = "seed \(seed) step \(step)"
    var generator = SeededGenerator(seed: seed, stream: UInt64(step) + 1)
    var views: [(Snapshot, Snapshot)] = pair.snapshots
    views.append((try pair.noted.snapshot(), try pair.plain.snapshot()))
    let lower = Int.random(in: 0..<400, using: &generator)
    let range = KeyRange.range(
      from: key(lower), upTo: key(lower + Int.random(in: 1..<300, using: &generator)))
    for (noted, plain) in views {
      for isForward in [true, false] {
        #expect(
          try contents(noted.cursor(in: range), isForward: isForward)
            == contents(plain.cursor(in: range), isForward: isForward), comment)
      }
      let walkSeed = generator.next()
      #expect(
        try walk(noted.cursor(), seed: walkSeed) == walk(plain.cursor(), seed: walkSeed), comment)
    }
  }

  @Test(arguments: StoreVolume.seeds(5))
  func readsAreEqualWithAndWithoutNotes(volume: StoreVolume, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var pair = Pair(
      noted: try tuned(StoreSample(on: volume), notesGaps: true).open(),
      plain: try tuned(StoreSample(on: volume), notesGaps: false).open())
    try pair.both { try write($0, puts: 0..<500, deletions: []) }
    for step in 0..<24 {
      let first = Int.random(in: 0..<450, using: &generator)
      let end = min(500, first + Int.random(in: 1..<250, using: &generator))
      let few = (0..<3).map { _ in Int.random(in: 0..<500, using: &generator) }
      switch generator.next() % 10 {
      case 0...3: try pair.both { try write($0, puts: [], deletions: first..<end) }
      case 4...6: try pair.both { try write($0, puts: few, deletions: []) }
      case 7: try pair.both { try $0.flush() }
      case 8:
        pair.snapshots.append((try pair.noted.snapshot(), try pair.plain.snapshot()))
        if pair.snapshots.count > 2 { pair.snapshots.removeFirst() }
      default:
        try pair.both { try step % 3 == 0 ? $0.compact() : write($0, puts: few, deletions: few) }
      }
      try compare(pair, seed: seed, step: step)
    }
  }
}
