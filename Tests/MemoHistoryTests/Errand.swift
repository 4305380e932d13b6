import KVEngine
import MemoCore
import Testing

@testable import MemoHistory

/// A memo with a number that no other has, and an order.
struct Errand: MemoEntity {
  var id: Int
  var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
  var text = "milk"
  var number: Int?
  var priority: Int?

  static let byNumber = MemoIndex<Errand>.unique("number") { $0.number.map { [.integer($0)] } }
  static let byPriority = MemoIndex<Errand>.ordered("order") { errand in
    errand.priority.map { [.integer($0), .text(errand.text)] } ?? []
  }

  static let schema = MemoSchema<Errand>(
    defaults: Errand(id: 0), indexes: [byNumber, byPriority])
}

/// The same, by a version of the app that had no indexes.
struct OldErrand: MemoEntity {
  var id: Int
  var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
  var text = "milk"
  var number: Int?
  var priority: Int?
}

extension MemoTimeline {
  /// All entries of a space, key and value.
  func entries(_ space: Space) throws -> [[[UInt8]]] {
    var cursor = try snapshot().cursor(space: space)
    var entries: [[[UInt8]]] = []
    while let entry = try cursor.next() { entries.append([entry.key, entry.value]) }
    return entries
  }

  /// The indexes of the store.
  func indexTable() throws -> MemoIndexTable {
    let value = try snapshot().value(forKey: MemoIndexTable.key, in: MemoSpace.meta)
    let bytes = try #require(value)
    return try MemoIndexTable.decode(bytes.rawBytes)
  }
}

extension MemoStore where Entity == Errand {
  /// Checks that the indexes have an entry for each memo that they should have, and no other one.
  func expectIndexesInStep(_ comment: Comment) throws {
    let names = try timeline.reloadedNames()
    let (unique, ordered) = (names.number(of: "number") ?? -1, names.number(of: "order") ?? -1)
    var (uniqueEntries, orderedEntries): ([[[UInt8]]], [[[UInt8]]]) = ([], [])
    var cursor = try timeline.cursor()
    while let (key, memo) = try cursor.next() {
      guard let errand = try? entity(of: memo) else { continue }
      if let number = errand.number {
        let key = MemoIndexKey(number: unique, values: [.integer(number)])
        uniqueEntries.append([key.encode(), memo.id.encoded])
      }
      if let priority = errand.priority {
        let index = MemoIndexKey(
          number: ordered, values: [.integer(priority), .text(errand.text)])
        orderedEntries.append([index.encode() + key.encode(), []])
      }
    }
    uniqueEntries.sort { $0[0].lexicographicallyPrecedes($1[0]) }
    orderedEntries.sort { $0[0].lexicographicallyPrecedes($1[0]) }
    #expect(try timeline.entries(MemoSpace.uniqueKeys) == uniqueEntries, comment)
    #expect(try timeline.entries(MemoSpace.orderedKeys) == orderedEntries, comment)
  }
}
