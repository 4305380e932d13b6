import KVTestSupport
import Testing

@testable import KVEngine

/// Kinds of entries and the counts they carry.
@Suite struct RecordKindTests {
  @Test func theStoredNumbersNeverChange() {
    let numbers: [RecordKind: UInt8] = [.tombstone: 0, .put: 1, .insertion: 2, .removal: 3]
    for kind in RecordKind.allCases { #expect(kind.rawValue == numbers[kind]) }
    #expect(RecordKind.allCases.count == 4)
    #expect(RecordKind(rawValue: 4) == nil)
  }

  /// Every history that keeps count of one key: whether it is there, and how that changes.
  private func countedHistories(ofLength length: Int) -> [[RecordKind]] {
    var histories: [(kinds: [RecordKind], exists: Bool)] = [([], true), ([], false)]
    for _ in 0..<length {
      histories = histories.flatMap { history in
        let puts: RecordKind = history.exists ? .put : .insertion
        let deletes: RecordKind = history.exists ? .removal : .tombstone
        return [
          (history.kinds + [puts], true), (history.kinds + [deletes], false),
        ]
      }
    }
    return histories.map(\.kinds)
  }

  @Test(arguments: 1...6) func mergingKeepsTheSumOfChangesAndWhetherTheKeyExists(
    length: Int
  ) throws {
    for history in countedHistories(ofLength: length) {
      let newest = try #require(history.last)
      let older = history.dropLast().reduce(0) { $0 + $1.change }
      let merged = newest.merged(withOlderChange: older)
      #expect(merged.change == history.reduce(0) { $0 + $1.change }, "\(history)")
      #expect(merged.isPut == newest.isPut, "\(history)")
    }
  }

  @Test(arguments: 2...6) func mergingInStepsIsMergingAtOnce(length: Int) throws {
    for history in countedHistories(ofLength: length) {
      let newest = try #require(history.last)
      let atOnce = newest.merged(withOlderChange: history.dropLast().reduce(0) { $0 + $1.change })
      for cut in 1..<history.count {
        let old = history[..<cut]
        let young = history[cut...].dropLast()
        let oldNewest = try #require(old.last)
        let oldMerged = oldNewest.merged(
          withOlderChange: old.dropLast().reduce(0) { $0 + $1.change })
        let youngMerged = newest.merged(withOlderChange: young.reduce(0) { $0 + $1.change })
        #expect(youngMerged.merged(withOlderChange: oldMerged.change) == atOnce, "\(history)")
      }
    }
  }

  @Test func spacesThatDoNotCountStayUncounted() {
    #expect(RecordKind.put.merged(withOlderChange: 0) == .put)
    #expect(RecordKind.tombstone.merged(withOlderChange: 0) == .tombstone)
  }
}
