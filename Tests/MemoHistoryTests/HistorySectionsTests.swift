import KVTestSupport
import MemoHistory
import Testing

/// Lists with headers: what stands where, and differences that a table view accepts.
@Suite struct HistorySectionsTests {
  private struct Row: Identifiable, Hashable {
    let id: Int
    var day: Int
  }

  private func sections(_ rows: [Row]) -> HistorySections<Int> {
    HistorySections(keys: rows.map(\.day))
  }

  /// The table as it is shown; a section's name is its key and how often that comes up again.
  private func table(_ rows: [Row]) -> [TableModel.Section] {
    sections(rows).headers.map { header in
      TableModel.Section(
        name: 1000 * header.key + header.repetition, rows: rows[header.items].map(\.id))
    }
  }

  private func batch(from old: [Row], to new: [Row]) -> TableModel.Batch {
    let difference = HistorySectionDifference(
      HistoryDifference(from: old, to: new), from: sections(old), to: sections(new))
    let path = { (path: HistoryPath) in TableModel.Path(section: path.section, row: path.row) }
    var batch = TableModel.Batch()
    batch.removedSections = difference.removedSections
    batch.insertedSections = difference.insertedSections
    batch.removals = difference.removals.map(path)
    batch.insertions = difference.insertions.map(path)
    batch.moves = difference.moves.map { (path($0.source), path($0.target)) }
    return batch
  }

  /// Why a table view refuses the difference of two lists; `nil` when it accepts it.
  private func refusal(from old: [Row], to new: [Row]) -> TableModel.Refusal? {
    var model = TableModel(table(old))
    do {
      try model.perform(batch(from: old, to: new), dataSource: table(new))
      return nil
    } catch {
      return error
    }
  }

  @Test func neighboursWithOneKeyShareAHeader() {
    let sections = HistorySections(keys: [3, 3, 2, 1, 1, 1])
    #expect(sections.headers.map(\.key) == [3, 2, 1])
    #expect(sections.headers.map(\.count) == [2, 1, 3])
    #expect(sections.path(of: 0) == sections.path(of: 0))
    let paths = (0..<6).compactMap(sections.path)
    #expect(paths.map(\.section) == [0, 0, 1, 2, 2, 2])
    #expect(paths.map(\.row) == [0, 1, 0, 0, 1, 2])
    #expect(sections.path(of: 6) == nil && sections.path(of: -1) == nil)
    #expect(HistorySections(keys: [Int]()).headers == [])
  }

  @Test func aDayThatComesUpAgainIsASectionOfItsOwn() {
    let headers = HistorySections(keys: [1, 2, 1]).headers
    #expect(headers.map(\.key) == [1, 2, 1])
    #expect(headers.map(\.repetition) == [1, 0, 0])
  }

  @Test func aFirstMemoOfADayBringsItsHeader() {
    let old = [Row(id: 1, day: 1)]
    let new = [Row(id: 2, day: 2), Row(id: 1, day: 1)]
    let batch = batch(from: old, to: new)
    #expect(batch.insertedSections == [0] && batch.insertions == [])
    #expect(refusal(from: old, to: new) == nil)
    #expect(self.batch(from: new, to: old).removedSections == [0])
    #expect(self.batch(from: new, to: old).removals == [])
  }

  @Test func aMemoMovesBetweenDaysThatStay() {
    let old = [Row(id: 3, day: 2), Row(id: 2, day: 1), Row(id: 1, day: 1)]
    let new = [Row(id: 3, day: 2), Row(id: 2, day: 2), Row(id: 1, day: 1)]
    let batch = batch(from: old, to: new)
    #expect(batch.moves.count == 1 && batch.removals == [] && batch.insertions == [])
    #expect(refusal(from: old, to: new) == nil)
  }

  /// Every way to give up to four memos to two days, before and after, in any order.
  @Test func everySmallDifferenceIsAccepted() {
    var lists: [[Row]] = [[]]
    for count in 1...3 {
      for number in 0..<(1 << (3 * count)) {
        let rows = (0..<count).map { index in
          let digit = number >> (3 * index) & 7
          return Row(id: digit >> 1, day: digit & 1)
        }
        if Set(rows.map(\.id)).count == count { lists.append(rows) }
      }
    }
    for number in Thoroughness.part(of: 0..<(lists.count * lists.count), step: 7) {
      let (old, new) = (lists[number / lists.count], lists[number % lists.count])
      if let refusal = refusal(from: old, to: new) {
        Issue.record("\(refusal): \(old) to \(new)")
        return
      }
    }
  }

  @Test(arguments: 0..<4)
  func randomDifferencesAreAccepted(part: Int) {
    let count = Thoroughness.count(quick: 250, push: 5000, nightly: 250_000)
    for seed in Thoroughness.seeds(4 * count) where Int(seed % 4) == part {
      var generator = SeededGenerator(seed: seed)
      let dayCount = Int.random(in: 1...6, using: &generator)
      var rows = (0..<Int.random(in: 0...20, using: &generator))
        .map { Row(id: $0, day: Int.random(in: 0..<dayCount, using: &generator)) }
      let isByDay = generator.coin()
      if isByDay { rows.sort { $0.day > $1.day } }
      var next = rows
      next.removeAll { _ in Int.random(in: 0..<4, using: &generator) == 0 }
      for id in 0..<Int.random(in: 0...4, using: &generator) {
        let day = Int.random(in: 0...dayCount, using: &generator)
        let place = Int.random(in: 0...next.count, using: &generator)
        next.insert(Row(id: 100 + id, day: day), at: place)
      }
      for index in next.indices where Int.random(in: 0..<8, using: &generator) == 0 {
        next[index].day = Int.random(in: 0...dayCount, using: &generator)
      }
      if Int.random(in: 0..<10, using: &generator) == 0 { next.shuffle(using: &generator) }
      if isByDay { next.sort { $0.day > $1.day } }
      if let refusal = refusal(from: rows, to: next) {
        Issue.record("seed \(seed): \(refusal)")
        return
      }
    }
  }
}
