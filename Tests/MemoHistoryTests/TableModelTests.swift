import Testing

/// The model of a table view refuses what UIKit refuses.
@Suite struct TableModelTests {
  private typealias Path = TableModel.Path

  private func row(_ row: Int) -> Path { Path(section: 0, row: row) }

  /// Why a batch from rows to rows is refused; `nil` when it is accepted.
  private func refusal(
    of batch: TableModel.Batch, from old: [Int], to new: [Int]
  ) -> TableModel.Refusal? {
    var table = TableModel(rows: old)
    do {
      try table.perform(batch, dataSource: [TableModel.Section(name: 0, rows: new)])
      return nil
    } catch {
      return error
    }
  }

  @Test func removalsAreMeantByTheOldTableAndInsertionsByTheNewOne() {
    var batch = TableModel.Batch()
    batch.removals = [row(0), row(2)]
    batch.insertions = [row(1), row(2)]
    #expect(refusal(of: batch, from: [1, 2, 3], to: [2, 8, 9]) == nil)
    #expect(refusal(of: batch, from: [1, 2, 3], to: [8, 2, 9]) == .wrongRow)
  }

  @Test func aMoveLeavesARowAndFillsAnother() {
    var batch = TableModel.Batch()
    batch.moves = [(row(0), row(2))]
    #expect(refusal(of: batch, from: [1, 2, 3], to: [2, 3, 1]) == nil)
    #expect(refusal(of: batch, from: [1, 2, 3], to: [2, 1, 3]) == .wrongRow)
    batch.moves = [(row(0), row(2)), (row(2), row(0))]
    #expect(refusal(of: batch, from: [1, 2, 3], to: [3, 2, 1]) == nil)
  }

  @Test func indexesThatTheTableDoesNotHaveAreRefused() {
    for index in [-1, 3] {
      let rows = [row(index)]
      #expect(refusal(of: .init(removals: rows), from: [1, 2, 3], to: [1]) == .outOfRange)
      #expect(refusal(of: .init(insertions: rows), from: [1], to: [1, 2, 3]) == .outOfRange)
      let moves = [(source: row(0), target: row(index))]
      #expect(refusal(of: .init(moves: moves), from: [1, 2, 3], to: [1, 2, 3]) == .outOfRange)
    }
    #expect(refusal(of: .init(insertedSections: [2]), from: [1], to: [1]) == .outOfRange)
  }

  @Test func aRowIsMentionedOnce() {
    let twice = [row(1), row(1)]
    #expect(refusal(of: .init(removals: twice), from: [1, 2], to: [1]) == .mentionedTwice)
    #expect(refusal(of: .init(insertions: twice), from: [1], to: [1, 2]) == .mentionedTwice)
    #expect(refusal(of: .init(reloads: twice), from: [1, 2], to: [1, 2]) == .mentionedTwice)
    let removedAndMoved = TableModel.Batch(removals: [row(1)], moves: [(row(1), row(0))])
    #expect(refusal(of: removedAndMoved, from: [1, 2], to: [2]) == .mentionedTwice)
    let insertedAndMovedTo = TableModel.Batch(insertions: [row(0)], moves: [(row(1), row(0))])
    #expect(refusal(of: insertedAndMovedTo, from: [1, 2], to: [2, 1, 3]) == .mentionedTwice)
    let reloadedAndMoved = TableModel.Batch(moves: [(row(1), row(0))], reloads: [row(1)])
    #expect(refusal(of: reloadedAndMoved, from: [1, 2], to: [2, 1]) == .mentionedTwice)
    let reloadedAndRemoved = TableModel.Batch(removals: [row(1)], reloads: [row(1)])
    #expect(refusal(of: reloadedAndRemoved, from: [1, 2], to: [1]) == .mentionedTwice)
  }

  @Test func theCountsHaveToAddUp() {
    #expect(refusal(of: .init(), from: [1], to: [1, 2]) == .wrongCount)
    #expect(refusal(of: .init(), from: [1, 2], to: [1]) == .wrongCount)
    #expect(refusal(of: .init(reloads: [row(0)]), from: [1], to: [1]) == nil)
    #expect(refusal(of: .init(insertedSections: [0]), from: [1], to: [1]) == .wrongCount)
  }

  @Test func aSectionComesAndGoesAsAWhole() {
    let one = TableModel.Section(name: 1, rows: [10, 11])
    let two = TableModel.Section(name: 2, rows: [20])
    var table = TableModel([one])
    var batch = TableModel.Batch(removedSections: [0], insertedSections: [0])
    batch.removals = [row(0)]
    #expect(throws: TableModel.Refusal.inChangedSection) {
      try table.perform(batch, dataSource: [two])
    }
    batch.removals = []
    batch.insertions = [row(0)]
    #expect(throws: TableModel.Refusal.inChangedSection) {
      try table.perform(batch, dataSource: [two])
    }
    batch.insertions = []
    #expect(throws: Never.self) { try table.perform(batch, dataSource: [two]) }
    #expect(throws: TableModel.Refusal.wrongRow) { try table.perform(.init(), dataSource: [one]) }
    #expect(table.sections == [two])
  }
}
