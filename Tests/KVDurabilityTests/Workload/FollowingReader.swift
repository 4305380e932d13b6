@testable import KVEngine

/// Commits that show whether a read saw one of them as a whole, and a reader that tells.
extension FollowingReaderTests {
  static let keyCount: UInt8 = 24

  /// Every commit writes its number under all keys: a complete one shows one number.
  static func batch(_ number: UInt64) -> WriteBatch {
    var batch = WriteBatch()
    for key in 0..<keyCount {
      batch.put(bytes(number) + [UInt8](repeating: key, count: 20), forKey: [key])
    }
    // Something that is gone again, so that compaction has work.
    batch.put([1], forKey: [200] + bytes(number))
    if number > 1 { batch.delete([200] + bytes(number - 1)) }
    return batch
  }

  static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  static func number(_ value: [UInt8]) -> UInt64 {
    value.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The number that all keys show.
  static func commit(_ entries: [Cursor.Entry]) throws -> UInt64 {
    let entries = entries.filter { $0.key.count == 1 }
    let numbers = Set(entries.map { number($0.value) })
    if entries.isEmpty { return 0 }
    guard numbers.count == 1, entries.count == Int(keyCount), let found = numbers.first else {
      throw Problem("\(entries.count) keys of the commits \(numbers.sorted())")
    }
    return found
  }

  static func entries(_ cursor: inout Cursor) throws -> [Cursor.Entry] {
    var found: [Cursor.Entry] = []
    while let entry = try cursor.next() { found.append(entry) }
    return found
  }

  /// One way of reading, by turns: a cursor, a snapshot that is held, single keys.
  struct Reader {
    let database: Database
    var newest: UInt64 = 0
    var held: (snapshot: Snapshot, commit: UInt64)?

    init(_ database: Database) { self.database = database }

    mutating func read(_ turn: Int) throws {
      let sequence = try database.snapshot().sequence
      switch turn % 4 {
      case 0:
        var cursor = try database.cursor()
        try see(try FollowingReaderTests.commit(FollowingReaderTests.entries(&cursor)))
      case 1:
        if let held {
          var cursor = try held.snapshot.cursor()
          let again = try FollowingReaderTests.commit(FollowingReaderTests.entries(&cursor))
          guard again == held.commit else { throw Problem("a snapshot changes") }
        }
        let snapshot = try database.snapshot()
        let value = try snapshot.value(forKey: [3])
        held = (snapshot, value.map(FollowingReaderTests.number) ?? 0)
      case 2:
        let value = try database.value(forKey: [UInt8(turn % Int(FollowingReaderTests.keyCount))])
        try see(value.map(FollowingReaderTests.number) ?? 0)
      default:
        var found: [Cursor.Entry] = []
        try database.briefly { snapshot throws(DatabaseError) in
          found = []
          var cursor = try snapshot.cursor()
          while let entry = try cursor.next() { found.append(entry) }
        }
        try see(try FollowingReaderTests.commit(found))
      }
      guard try database.snapshot().sequence >= sequence else { throw Problem("goes back") }
    }

    private mutating func see(_ commit: UInt64) throws {
      guard commit >= newest else { throw Problem("commit \(commit) after \(newest)") }
      newest = commit
    }
  }
}
