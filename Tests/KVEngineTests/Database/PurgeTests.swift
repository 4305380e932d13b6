import KVTestSupport
import Testing

@testable import KVEngine

/// What was deleted stands in no file after a purge.
@Suite struct PurgeTests {
  /// A value that compression cannot take apart.
  private static func mark(_ number: UInt64, version: UInt64 = 0) -> [UInt8] {
    var generator = SeededGenerator(seed: number, stream: version)
    return (0..<24).map { _ in UInt8.random(in: 1...255, using: &generator) }
  }

  private static func key(_ number: UInt64) -> [UInt8] {
    [UInt8(number >> 8), UInt8(number & 255)]
  }

  /// Which of some marks stand in some file of the store.
  private func found(_ marks: [[UInt8]], in store: StoreSample) throws -> [[UInt8]] {
    var found: Set<[UInt8]> = []
    for name in try store.files.list(store.path) {
      guard let file = try? store.files.open(store.path + "/" + name, .read) else { continue }
      let bytes = try file.bytes()
      let places = Dictionary(grouping: bytes.indices) { bytes[$0] }
      for mark in marks where !found.contains(mark) {
        let isThere = places[mark[0], default: []].contains { bytes[$0...].starts(with: mark) }
        if isThere { found.insert(mark) }
      }
    }
    return marks.filter { found.contains($0) }
  }

  @Test(arguments: StoreVolume.allCases)
  func whatIsDeletedOrOverwrittenIsGoneFromAllFiles(volume: StoreVolume) throws {
    var store = try StoreSample(on: volume, isTiny: true)
    store.options.segmentByteCount = 8 << 10
    let database = try store.open()
    let count: UInt64 = 300
    for number in 0..<count {
      try database.put(Self.mark(number), Self.key(number), durability: .lazy)
      if number % 70 == 69 { try database.flush() }
    }
    try database.compact()
    for number in stride(from: 0, to: count, by: 3) {
      if number % 2 == 0 {
        try database.write(durability: .lazy) { $0.delete(Self.key(number)) }
      } else {
        try database.put(Self.mark(number, version: 1), Self.key(number), durability: .lazy)
      }
    }
    let old = stride(from: 0, to: count, by: 3).map { Self.mark($0) }
    let live = (0..<count).compactMap { number in
      if number % 3 != 0 { return Self.mark(number) }
      return number % 2 == 0 ? nil : Self.mark(number, version: 1)
    }
    // Or the search finds nothing anywhere.
    #expect(try found(old + live, in: store).count == old.count + live.count)

    let snapshot = try database.snapshot()
    try database.compact()
    #expect(try found(old, in: store) == old, "files stay for copies")
    _ = consume snapshot
    try database.purge()
    #expect(try found(old, in: store) == [])
    #expect(try found(live, in: store) == live)
    #expect(try database.verify().isSound)
    try database.close()
    let again = try store.open()
    #expect(try StoreSample.contents(again).count == live.count)
    try again.close()
  }

  /// A snapshot keeps what it sees, until it goes.
  @Test(arguments: StoreVolume.allCases)
  func whatASnapshotSeesGoesWithIt(volume: StoreVolume) throws {
    let store = try StoreSample(on: volume, isTiny: true)
    let database = try store.open()
    try database.put(Self.mark(1), [1])
    try database.flush()
    let snapshot = try database.snapshot()
    try database.write { $0.delete([1]) }
    try database.purge()
    #expect(try snapshot.value(forKey: [1]) == Self.mark(1))
    _ = consume snapshot
    try database.purge()
    #expect(try found([Self.mark(1)], in: store) == [])
    #expect(try database.verify().isSound)
    try database.close()
  }

  @Test func aStoreThatIsNotThereStaysAway() throws {
    let store = try StoreSample(on: .memory)
    let database = try store.open()
    try database.purge()
    #expect(try database.value(forKey: [1]) == nil)
    try database.close()
    #expect(throws: DatabaseError.closed) { try database.purge() }
  }
}
