import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Synchronization
import Testing

@testable import KVInspectCore

/// What is damage and what only changed while it was looked at.
@Suite struct StoreReadingTests {
  /// Merges everything and removes what was replaced, as a writer does within ten minutes.
  private static func replaceSegments(of store: TestStore) throws {
    let clock = Clock()
    var options = DatabaseOptions()
    options.wallClock = { clock.next() }
    let timeline = try MemoTimeline(at: store.path, options: options)
    try timeline.database.compact()
    // A replaced file stays for one more generation.
    for memo in memos(1000..<1003) {
      _ = try timeline.importBatch([memo])
      try timeline.flush()
    }
    try timeline.close()
  }

  private final class Clock: Sendable {
    private let now = Atomic<Int64>(1_900_000_000_000_000)

    func next() -> Int64 { now.add(3_600_000_000, ordering: .relaxed).newValue }
  }

  private static func damage(_ reason: String) -> Corruption {
    Corruption(fileName: "x", offset: 0, structure: "x", reason: reason)
  }

  /// A writer replaces the segments between the look at the MANIFEST and the look at them.
  @Test(.bug(id: "B52")) func filesThatGoMeanwhileAreNoDamage() throws {
    let store = try TestStore(memos(0..<100), segments: 4)
    let count = Mutex(0)
    let failure = Mutex<(any Error)?>(nil)
    let (names, damage) = try StoreReading.read(store.path) {
      reading, damage throws(DatabaseError) in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      if isFirst {
        do { try Self.replaceSegments(of: store) } catch { failure.withLock { $0 = error } }
      }
      var names: [String] = []
      for segment in reading.manifest.segments {
        let file = try damage.noting { () throws(DatabaseError) in
          try reading.open(.segment(segment.number))
        }
        if file != nil { names.append(segment.fileName) }
      }
      return names
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
    #expect(damage == [])
    #expect(count.withLock { $0 } == 2)
    let present = try store.names(".seg")
    #expect(names.count > 1 && Set(names).isSubset(of: present))
  }

  @Test func whatTwoReadingsFindIsDamage() throws {
    let store = try TestStore(memos(0..<100), segments: 4)
    let name = try store.names(".seg")[1]
    try FileManager.default.removeItem(atPath: store.path + "/" + name)
    let count = Mutex(0)
    let (_, damage) = try StoreReading.read(store.path) { reading, damage throws(DatabaseError) in
      count.withLock { $0 += 1 }
      for segment in reading.manifest.segments {
        try damage.noting { () throws(DatabaseError) in
          try reading.open(.segment(segment.number))
        }
      }
    }
    #expect(damage.map(\.fileName) == [name])
    #expect(count.withLock { $0 } == 2)
  }

  /// A log that is written while it is read looks damaged in one place, then in another.
  @Test func damageThatMovesIsNone() throws {
    let store = try TestStore(memos(0..<10))
    let count = Mutex(0)
    let (_, damage) = try StoreReading.read(store.path) { _, damage throws(DatabaseError) in
      let position = count.withLock { count in
        count += 1
        return count
      }
      if position < 4 { damage.add([Self.damage("\(position)")]) }
    }
    #expect(damage == [] && count.withLock { $0 } == 4)
    #expect(throws: MemoError.database(.busy)) {
      try StoreReading.read(store.path) { _, damage throws(DatabaseError) in
        let position = count.withLock { count in
          count += 1
          return count
        }
        damage.add([Self.damage("\(position)")])
      }
    }
  }

  @Test func damageIsNotedOnceAndOtherErrorsEndTheReading() throws {
    var notes = DamageNotes()
    for _ in 0..<2 {
      let value: Int? = try notes.noting { () throws(DatabaseError) in
        throw .damaged(Self.damage("a"))
      }
      #expect(value == nil)
    }
    #expect(notes.corruptions == [Self.damage("a")])
    #expect(try notes.noting { () throws(DatabaseError) in 1 } == 1)
    #expect(throws: DatabaseError.busy) {
      try notes.noting { () throws(DatabaseError) in throw DatabaseError.busy }
    }
  }
}

@Suite struct KeyTextTests {
  @Test(
    arguments: [
      ("abc", Array("abc".utf8)), ("0x", nil), ("0x0", nil), ("0xzz", nil), ("0x00fF", [0, 255]),
      ("0X00", Array("0X00".utf8)), ("\u{E9}", [0xC3, 0xA9]),
    ] as [(String, [UInt8]?)])
  func wordsAreTextOrHexadecimal(word: String, bytes: [UInt8]?) {
    #expect(KeyText.bytes(of: word) == bytes)
  }

  @Test(arguments: [[], [0], [0xFF, 0x7F, 0x1B], Array("abc".utf8)] as [[UInt8]])
  func hexadecimalIsReadBack(bytes: [UInt8]) {
    let text = KeyText.hexadecimal(bytes)
    #expect(KeyText.bytes(of: text) == (bytes.isEmpty ? nil : bytes))
    #expect(text == "0x" + bytes.map { String(format: "%02x", $0) }.joined())
  }

  @Test func shortTextsAreForPeople() {
    let memo = MemoKey(microseconds: 1_000_000, arrival: 9)
    #expect(KeyText.short([1] + memo.encode()) == "1970-01-01T00:00:01Z")
    let id = IDKey(hash: 255, memoKey: memo)
    #expect(KeyText.short([2] + id.encode()) == "0x00000000000000ff 1970-01-01T00:00:01Z")
    #expect(KeyText.short([64] + Array("key".utf8)) == "key")
    #expect(KeyText.short([64, 0x1B, 0x5B]) == "0x1b5b")
    #expect(KeyText.short([1, 7]) == "0x07")
    #expect(KeyText.short([64] + [UInt8](repeating: 97, count: 500)).count == 40)
  }

  @Test func columnsAreAsWideAsTheirCells() {
    var table = TextTable([("a", .left), ("number", .right), ("rest", .left)])
    table.add(["long", "1", "x"])
    table.add(["", "12345678"])
    #expect(table.lines == ["a       number  rest", "long         1  x", "      12345678"])
  }
}
