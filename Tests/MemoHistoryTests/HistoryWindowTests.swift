import KVTestSupport
import Testing

@testable import MemoHistory

/// What a window shows after memos came and went.
@Suite struct HistoryWindowTests {
  private func count(
    limit: Int = 200, kept: Int, _ anchor: HistoryAnchor
  ) -> Int {
    HistoryWindow(limit: limit, keptCount: kept, anchor: anchor).count
  }

  @Test func atTheTopItHasItsUsualLength() {
    #expect(HistoryWindow(limit: 200).count == 200)
    for kept in [0, 150, 200, 205] { #expect(count(kept: kept, .newest) == 200) }
  }

  @Test func belowTheTopItKeepsItsOldEnd() {
    #expect(count(kept: 205, .oldEnd) == 205)
    #expect(count(kept: 203, .oldEnd) == 203)
    #expect(count(kept: 203, .newest) == 200)
  }

  @Test func itIsNeverShorterThanItsLimit() {
    #expect(count(kept: 190, .oldEnd) == 200)
    #expect(count(limit: 400, kept: 200, .oldEnd) == 400)
    #expect(count(limit: 400, kept: 200, .newest) == 400)
    #expect(count(limit: 100, kept: 200, .oldEnd) == 200)
  }

  @Test func anImportDoesNotBringAllMemosIntoMemory() {
    let most = 200 + HistoryWindow.maximumGrowth
    #expect(count(kept: most, .oldEnd) == most)
    #expect(count(kept: most + 1, .oldEnd) == 200)
    #expect(count(kept: .max, .oldEnd) == 200)
  }

  @Test func oddLimitsAreNoTrap() {
    #expect(HistoryWindow(limit: -1).count == 0)
    #expect(count(limit: .min, kept: .max, .oldEnd) == 0)
    #expect(count(limit: .max, kept: 0, .oldEnd) == .max)
    #expect(count(limit: 0, kept: -5, .oldEnd) == 0)
  }

  /// No memo that a user below the top had on the screen goes, unless it was deleted.
  @Test(arguments: Thoroughness.seeds(200))
  func rowsBelowTheTopStay(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var memos = Array((0..<30).reversed())
    var window = HistoryWindow(limit: 10)
    for _ in 0..<20 {
      let shown = Array(memos.prefix(window.count))
      for _ in 0..<Int.random(in: 0...5, using: &generator) {
        memos.insert((memos.first ?? 0) + 1, at: 0)
      }
      for _ in 0..<Int.random(in: 0...3, using: &generator) where memos.count > 1 {
        memos.remove(at: Int.random(in: 1..<memos.count, using: &generator))
      }
      let kept = memos.count { $0 >= (shown.last ?? 0) }
      window = HistoryWindow(limit: 10, keptCount: kept, anchor: .oldEnd)
      let now = Array(memos.prefix(window.count))
      #expect(now.count >= min(10, memos.count))
      #expect(Set(shown).intersection(memos).subtracting(now) == [], "seed \(seed)")
      if let last = now.last, now.count > 10 { #expect(last >= (shown.last ?? 0)) }
    }
  }
}
