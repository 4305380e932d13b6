import KVTestSupport
import Testing

@testable import KVEngine

/// Cursors over a database whose entries lie in several places.
@Suite struct CursorTests {
  /// Single-byte keys 1...n as a database, a third each in a segment, another one, and the
  /// memtable.
  private func make(_ keys: [[UInt8]], on volume: StoreVolume) throws -> Database {
    let database = try StoreSample(on: volume, isTiny: true).open()
    for start in 0..<3 {
      for index in stride(from: start, to: keys.count, by: 3) {
        try database.put(keys[index], keys[index], durability: .lazy)
      }
      if start < 2 { try database.flush() }
    }
    return database
  }

  private func numbers(_ range: ClosedRange<UInt8>) -> [[UInt8]] { range.map { [$0] } }

  @Test(.bug(id: "B17"), arguments: StoreVolume.allCases)
  func aKeyFromTheFutureIsNotSeenWhenTheDirectionChanges(volume: StoreVolume) throws {
    let database = try make([[10], [20], [30], [40], [50]], on: volume)
    var cursor = try database.cursor()
    try database.put([25], [25])
    #expect(try cursor.seek(toFirstKeyAtOrAfter: [50]))
    #expect(cursor.entry?.key == [50])
    #expect(try cursor.previous()?.key == [40])
    #expect(try cursor.previous()?.key == [30])
    #expect(try cursor.next()?.key == [40])
    #expect(try cursor.next()?.key == [50])
    #expect(try cursor.next() == nil)
  }

  @Test(.bug(id: "B19"), arguments: StoreVolume.allCases)
  func aPrefixIsWalkedNewestFirst(volume: StoreVolume) throws {
    let keys = ["a:1", "b:2", "b:3", "b:4", "c:1"].map { Array($0.utf8) }
    let database = try make(keys, on: volume)
    var cursor = try database.cursor(in: .prefix("b:".utf8))
    for index in [3, 2, 1] { #expect(try cursor.previous()?.key == keys[index]) }
    #expect(try cursor.previous() == nil)
    #expect(try cursor.next()?.key == keys[1])
  }

  @Test(.bug(id: "B20"), arguments: StoreVolume.allCases)
  func backwardSeeksBeyondTheLastKeyFindTheLast(volume: StoreVolume) throws {
    let database = try make([[10], [20], [30], [40]], on: volume)
    func backward(from key: [UInt8]?, _ range: KeyRange = .all) throws -> [UInt8] {
      var cursor = try database.cursor(in: range)
      var found: [UInt8] = []
      let isThere =
        if let key {
          try cursor.seek(toLastKeyAtOrBefore: key)
        } else {
          try cursor.moveBackward()
        }
      if !isThere { return [] }
      while let entry = cursor.entry {
        found += entry.key
        _ = try cursor.moveBackward()
      }
      return found
    }
    #expect(try backward(from: [40]) == [40, 30, 20, 10])
    #expect(try backward(from: [45]) == [40, 30, 20, 10])
    #expect(try backward(from: [90]) == [40, 30, 20, 10])
    #expect(try backward(from: [255, 255]) == [40, 30, 20, 10])
    #expect(try backward(from: [0]) == [])
    #expect(try backward(from: nil) == [40, 30, 20, 10])
    #expect(try backward(from: nil, .upTo([40])) == [30, 20, 10])
    #expect(try backward(from: [40], .upTo([40])) == [30, 20, 10])
  }

  @Test(.bug(id: "B22"), arguments: StoreVolume.allCases, [true, false])
  func deletingUnderTheCursorSkipsNothing(volume: StoreVolume, isForward: Bool) throws {
    let database = try StoreSample(on: volume, isTiny: true).open()
    var batch = WriteBatch()
    let keys = (0..<200).map { [UInt8($0 / 100), UInt8($0 % 100)] }
    for key in keys { batch.put(key, forKey: key) }
    try database.write(batch)
    var cursor = try database.cursor()
    var visited: [[UInt8]] = []
    while let entry = try (isForward ? cursor.next() : cursor.previous()) {
      visited.append(entry.key)
      try database.remove(entry.key, durability: .lazy)
      if visited.count % 7 == 0 { try database.flush() }
    }
    #expect(visited == (isForward ? keys : keys.reversed()))
    #expect(try StoreSample.contents(database).isEmpty)
  }

  @Test(.bug(id: "B23"), arguments: StoreVolume.allCases)
  func valuesBelongToTheirKeysWhenStepsGoBack(volume: StoreVolume) throws {
    let database = try StoreSample(on: volume, isTiny: true).open()
    var random = SeededGenerator(seed: 23)
    var expected: [[UInt8]: [UInt8]] = [:]
    for index in 0..<90 as Range<UInt8> {
      let value = random.bytes(index.isMultiple(of: 5) ? 700 : Int(index % 13))
      try database.put(value, [index], durability: .lazy)
      expected[[index]] = value
      if index % 31 == 30 { try database.flush() }
    }
    var cursor = try database.cursor()
    var kept: [Cursor.Entry] = []
    while try cursor.moveBackward() {
      // The borrowed value is right until the next move, the copy for ever.
      let (key, value) = ([UInt8](copying: cursor.key), [UInt8](copying: cursor.value))
      #expect(expected[key] == value)
      if let entry = cursor.entry { kept.append(entry) }
    }
    #expect(kept.count == 90)
    for entry in kept { #expect(expected[entry.key] == entry.value) }
  }

  @Test(.bug(id: "B25"), arguments: StoreVolume.allCases)
  func boundsAreNeverPassed(volume: StoreVolume) throws {
    let database = try make(numbers(1...9), on: volume)
    var cursor = try database.cursor(in: .upTo([5]))
    #expect(try !cursor.seek(toFirstKeyAtOrAfter: [7]))
    #expect(try cursor.previous()?.key == [4])
    #expect(try cursor.seek(toFirstKeyAtOrAfter: [4]))
    #expect(try cursor.next() == nil)
    #expect(try cursor.previous()?.key == [4])
    #expect(try !cursor.seek(toFirstKeyAtOrAfter: [5]))
    #expect(try cursor.previous()?.key == [4])
    var inside = try database.cursor(in: .range(from: [3], upTo: [7]))
    #expect(try inside.seek(toFirstKeyAtOrAfter: [1]))
    #expect(inside.entry?.key == [3])
    #expect(try inside.previous() == nil)
    #expect(try inside.next()?.key == [3])
    #expect(try inside.seek(toLastKeyAtOrBefore: [9]))
    #expect(inside.entry?.key == [6])
    #expect(try !inside.seek(toLastKeyAtOrBefore: [2]))
    #expect(try inside.next()?.key == [3])
  }

  @Test(arguments: StoreVolume.seeds(4))
  func backwardIsTheMirrorImageOfForward(volume: StoreVolume, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func key() -> [UInt8] { random.bytes(Int.random(in: 1...3, using: &random)).map { $0 % 9 } }
    let keys = Set((0..<120).map { _ in key() }).sorted { $0.lexicographicallyPrecedes($1) }
    let database = try make(keys.shuffled(using: &random), on: volume)
    let deleted = Set(keys.shuffled(using: &random).prefix(25))
    for key in deleted { try database.remove(key, durability: .lazy) }
    let sorted = keys.filter { !deleted.contains($0) }
    for range in [
      .all, .from([3]), .upTo([5, 1]), .range(from: [2], upTo: [6]), .prefix([4]), .prefix([7, 7]),
    ] as [KeyRange] {
      let inside = sorted.filter { key in
        !key.lexicographicallyPrecedes(range.lower ?? [])
          && range.upper.map { key.lexicographicallyPrecedes($0) } ?? true
      }
      var cursor = try database.cursor(in: range)
      var found: [[UInt8]] = []
      while let entry = try cursor.next() { found.append(entry.key) }
      #expect(found == inside, "seed \(seed) \(range)")
      var backward: [[UInt8]] = []
      while let entry = try cursor.previous() { backward.append(entry.key) }
      #expect(backward == inside.reversed(), "seed \(seed) \(range)")
      for _ in 0..<30 {
        let target = key()
        _ = try cursor.seek(toFirstKeyAtOrAfter: target)
        let first = inside.first { !$0.lexicographicallyPrecedes(target) }
        #expect(cursor.entry?.key == first, "seed \(seed) \(range) \(target)")
        _ = try cursor.seek(toLastKeyAtOrBefore: target)
        let last = inside.last { !target.lexicographicallyPrecedes($0) }
        #expect(cursor.entry?.key == last, "seed \(seed) \(range) \(target)")
      }
    }
  }

  @Test(.bug(id: "B26"), arguments: StoreVolume.allCases)
  func aBackwardSeekStaysInItsPrefix(volume: StoreVolume) throws {
    let database = try make([[1, 9], [4, 0]], on: volume)
    var cursor = try database.cursor(in: .prefix([3]))
    #expect(try !cursor.seek(toLastKeyAtOrBefore: [3, 255]))
    #expect(try cursor.previous() == nil)
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.policy = { $0 == 1 ? SpacePolicy(filter: .prefix(1)) : .standard(code: $0) }
    let ids = Space(code: 1)
    let many = try store.open()
    for prefix in 0..<120 as Range<UInt8> {
      for index in 0...(prefix % 3) {
        try many.write(durability: .lazy) { $0.put([prefix], forKey: [prefix, index], in: ids) }
      }
      if prefix % 40 == 39 { try many.flush() }
    }
    for prefix in 0..<121 as Range<UInt8> {
      var cursor = try many.snapshot().cursor(withPrefix: [prefix], space: ids)
      let newest = try cursor.previous()
      #expect(newest?.key == (prefix < 120 ? [prefix, prefix % 3] : nil))
      var count = newest == nil ? 0 : 1
      while try cursor.moveBackward() { count += 1 }
      #expect(count == (prefix < 120 ? Int(prefix % 3) + 1 : 0))
    }
  }

  @Test(arguments: StoreVolume.allCases)
  func anErrorIsNeverTheEndOfTheData(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    let files = store.addFaults()
    store.options.cacheByteCount = 0
    let database = try store.open()
    for index in 0..<60 as Range<UInt8> {
      try database.put([UInt8](repeating: index, count: 40), [index], durability: .lazy)
    }
    try database.flush()
    try database.close()
    for position in 1... {
      let fresh = try store.open()
      var cursor = try fresh.cursor()
      files.plan(Fault(.error(5), at: position, of: [.open, .read]))
      var count = 0
      var failure: DatabaseError?
      do throws(DatabaseError) {
        while try cursor.moveForward() { count += 1 }
      } catch {
        failure = error
      }
      let wasHit = files.wasHit
      files.plan()
      guard wasHit else {
        #expect(count == 60 && failure == nil && position > 2)
        return
      }
      guard case .io = failure else {
        Issue.record("read \(position): \(String(describing: failure)) after \(count) keys")
        return
      }
      let first = failure
      #expect(!cursor.isValid && cursor.entry == nil)
      for _ in 0..<2 {
        do throws(DatabaseError) {
          _ = try cursor.previous()
          Issue.record("a cursor in error moved")
        } catch {
          #expect(error == first)
        }
      }
      try fresh.close()
    }
  }
}
