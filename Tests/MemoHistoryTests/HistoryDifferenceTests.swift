import KVTestSupport
import MemoHistory
import Testing

/// Differences of lists: what a table view accepts, complete, and with as few moves as possible.
@Suite struct HistoryDifferenceTests {
  private struct Row: Identifiable, Hashable {
    let id: Int
    var version = 0
  }

  /// What is wrong with the difference of two lists of distinct ids; `nil` when nothing is.
  private func fault(from old: [Row], to new: [Row]) -> String? {
    let difference = HistoryDifference(from: old, to: new)
    var table = TableModel(rows: old.map(\.id))
    do {
      try table.perform(difference, rows: new.map(\.id))
    } catch {
      return "\(error)"
    }
    let places = Dictionary(uniqueKeysWithValues: old.indices.map { (old[$0].id, $0) })
    let kept = new.indices.filter { places[new[$0].id] != nil }
    let sources = kept.compactMap { places[new[$0].id] }
    let changed = zip(kept, sources).filter { new[$0] != old[$1] }.map(\.0)
    let gone = Set(old.indices).subtracting(sources)
    if difference.insertions != Array(Set(new.indices).subtracting(kept)).sorted() {
      return "inserted"
    }
    if difference.removals != gone.sorted() { return "removed" }
    if difference.changedIndexes != changed { return "changed" }
    if difference.changed != changed.map({ new[$0].id }) { return "ids of changed" }
    if difference.moves.map(\.target) != difference.moves.map(\.target).sorted() { return "order" }
    let fewest = kept.count - Self.longestAscent(sources)
    if difference.moves.count != fewest { return "too many moves" }
    if difference.isEmpty != (old == new) { return "empty" }
    return nil
  }

  /// The obvious way, in quadratic time.
  private static func longestAscent(_ numbers: [Int]) -> Int {
    var lengths: [Int] = []
    for (index, number) in numbers.enumerated() {
      let before = (0..<index).filter { numbers[$0] < number }.map { lengths[$0] }.max()
      lengths.append((before ?? 0) + 1)
    }
    return lengths.max() ?? 0
  }

  /// Every way to choose and order some of the ids.
  private static func arrangements(of ids: [Int]) -> [[Int]] {
    [[]]
      + ids.flatMap { id in arrangements(of: ids.filter { $0 != id }).map { [id] + $0 } }
  }

  @Test func everyPairOfListsOfUpToFiveIDsIsRight() {
    let arrangements = Self.arrangements(of: Array(0..<5))
    #expect(arrangements.count == 326)
    var pairs = 0
    // Ids are only names: any old list is one of these, and the new ones hold the same and others.
    for count in 0...5 {
      let old = (0..<count).map { Row(id: $0) }
      for ids in arrangements {
        for mask in Thoroughness.part(of: 0..<32, step: 31, offset: pairs) {
          let new = ids.map { Row(id: $0, version: mask >> $0 & 1) }
          if let fault = fault(from: old, to: new) {
            Issue.record("\(fault): \(old.map(\.id)) to \(ids), changed \(mask)")
          }
          pairs += 1
        }
      }
    }
    #expect(pairs >= 6 * 326)
  }

  /// Lists of which the next differs from the last by some writes, as a history's do.
  private struct RandomList {
    var generator: SeededGenerator
    var rows: [Row] = []
    private var lastID = 0

    init(seed: UInt64) {
      generator = SeededGenerator(seed: seed)
      let count = Int.random(in: 0...(seed % 50 == 0 ? 200 : 12), using: &generator)
      for _ in 0..<count { insert(at: 0) }
    }

    private mutating func insert(at index: Int) {
      lastID += 1
      rows.insert(Row(id: lastID), at: index)
    }

    mutating func change() {
      for _ in 0..<Int.random(in: 0...6, using: &generator) {
        let place = Int.random(in: 0...rows.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: insert(at: 0)
        case 1: insert(at: place)
        case _ where place == rows.count: continue
        case 2: rows.remove(at: place)
        case 3: rows[place].version += 1
        case 4: rows.insert(rows.remove(at: place), at: 0)
        default: rows.removeSubrange(place..<min(place + 5, rows.count))
        }
      }
      if Int.random(in: 0..<20, using: &generator) == 0 { rows.shuffle(using: &generator) }
    }
  }

  @Test(arguments: 0..<4)
  func randomHistoriesAreRight(part: Int) {
    let count = Thoroughness.count(quick: 500, push: 25_000, nightly: 250_000)
    for seed in Thoroughness.seeds(4 * count) where Int(seed % 4) == part {
      var list = RandomList(seed: seed)
      let old = list.rows
      list.change()
      if let fault = fault(from: old, to: list.rows) {
        Issue.record("seed \(seed): \(fault)")
        return
      }
    }
  }

  @Test func aMovedMemoThatChangedIsBoth() {
    let old = [Row(id: 1), Row(id: 2), Row(id: 3)]
    let new = [Row(id: 3, version: 1), Row(id: 1), Row(id: 2)]
    let difference = HistoryDifference(from: old, to: new)
    #expect(difference.moves.map(\.source) == [2])
    #expect(difference.moves.map(\.target) == [0])
    #expect(difference.changed == [3])
    #expect(difference.changedIndexes == [0])
    #expect(difference.removals == [] && difference.insertions == [])
  }

  @Test func anIDThatAListHoldsTwiceDoesNoHarm() {
    for seed in Thoroughness.seeds(2000) {
      var generator = SeededGenerator(seed: seed)
      let lists = (0..<2).map { _ in
        (0..<Int.random(in: 0...9, using: &generator))
          .map { _ in Row(id: Int.random(in: 0..<4, using: &generator)) }
      }
      var table = TableModel(rows: lists[0].map(\.id))
      let difference = HistoryDifference(from: lists[0], to: lists[1])
      #expect(throws: Never.self, "seed \(seed)") {
        try table.perform(difference, rows: lists[1].map(\.id))
      }
    }
  }

  @Test func memosAreToldApartByTheBytesOfTheirIDs() throws {
    let composed = try Memo(id: MemoID("caf\u{E9}"), createdAt: .now, body: "caf\u{E9}")
    let decomposed = try Memo(
      id: MemoID("cafe\u{301}"), createdAt: composed.createdAt, body: composed.body)
    let other = HistoryDifference(from: [composed], to: [decomposed])
    #expect(other.removals == [0] && other.insertions == [0])
    var edited = composed
    edited.body = "cafe\u{301}"
    #expect(HistoryDifference(from: [composed], to: [edited]).changed == [composed.id])
  }
}
