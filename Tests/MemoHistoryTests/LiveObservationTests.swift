import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Testing

/// What an owner is shown, and when: nothing is measured, a clock of the test moves.
@MainActor @Suite struct LiveObservationTests {
  /// A screen.
  private final class Screen {
    var snapshots: [HistorySnapshot<Memo>] = []
    var ids: [MemoID] { snapshots.last?.ids ?? [] }
  }

  private let clock = ManualClock()
  private let store: MemoStore<Memo>

  init() {
    store = MemoStore<Memo>.inMemory(clock: clock)
  }

  private func insert(_ ids: ClosedRange<Int64>) async throws {
    for id in ids { try await store.insert(try memo(id, at: id)) }
  }

  private func row(_ id: MemoID) -> Int { Int("\(id)") ?? -1 }

  private func ids(_ ids: [Int64]) -> [MemoID] { ids.map { MemoID($0) } }

  @Test func theFirstSnapshotIsThereWhenTheCallReturns() async throws {
    try await insert(1...3)
    let screen = Screen()
    store.observe(MemoQuery(limit: 2), by: screen) { $0.snapshots.append($1) }
    #expect(screen.snapshots.count == 1)
    #expect(screen.ids == ids([3, 2]))
    let first = try #require(screen.snapshots.first)
    #expect(first.cause == .first && first.generation == 1 && first.error == nil)
    #expect(first.difference.insertions == [0, 1])
  }

  /// An insertion waits 200 ms, everything else 16.
  @Test func whatIsWrittenIsShownAfterItsTime() async throws {
    let screen = Screen()
    store.observe(by: screen) { $0.snapshots.append($1) }
    try await insert(1...1)
    await clock.advance(by: .milliseconds(199))
    #expect(screen.snapshots.count == 1)
    await clock.advance(by: .milliseconds(1))
    #expect(screen.ids == ids([1]) && screen.snapshots.last?.cause == .inserted)
    try await store.upsert(try memo(1, at: 1, body: "changed"))
    await clock.advance(by: .milliseconds(15))
    #expect(screen.snapshots.count == 2)
    await clock.advance(by: .milliseconds(1))
    #expect(screen.snapshots.last?.items.map(\.body) == ["changed"])
    #expect(screen.snapshots.last?.difference.changed == ids([1]))
    #expect(screen.snapshots.last?.cause == .updated)
  }

  @Test func tenDeletionsWithinAFrameAreOneSnapshot() async throws {
    try await insert(1...20)
    let screen = Screen()
    store.observe(by: screen) { $0.snapshots.append($1) }
    for id in 1...10 as ClosedRange<Int64> {
      try await store.delete(MemoID(id))
      await clock.advance(by: .milliseconds(1))
    }
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.count == 2)
    #expect(screen.ids == ids(Array((11...20).reversed())))
    #expect(screen.snapshots.last?.difference.removals == Array(10...19))
  }

  @Test func aPauseIsSilentAndEndsWithOneSnapshot() async throws {
    let screen = Screen()
    let observation = store.observe(by: screen) { $0.snapshots.append($1) }
    observation.pause()
    try await insert(1...7)
    await clock.advance(by: .seconds(10))
    #expect(screen.snapshots.count == 1)
    observation.resume()
    await clock.advance(by: .zero)
    #expect(screen.snapshots.count == 2 && screen.ids.count == 7)
    observation.pause()
    observation.resume()
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.count == 2)
  }

  /// Each difference turns the list of the snapshot before into the next.
  @Test(arguments: 0..<10 as Range<UInt64>)
  func differencesReplayed(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let screen = Screen()
    let observation = store.observe(MemoQuery(limit: 12), by: screen) { $0.snapshots.append($1) }
    for _ in 0..<120 {
      let id = Int64.random(in: 0..<30, using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: try await store.delete(MemoID(id))
      case 1: observation.refresh()
      case 2: await clock.advance(by: .milliseconds(Int.random(in: 0...250, using: &generator)))
      case 3:
        let deletions = try store.undoableDeletions()
        if let deletion = deletions.randomElement(using: &generator) {
          try? await store.undo(deletion)
        }
      default:
        let time = Int64.random(in: 0..<40, using: &generator)
        try await store.upsert(try memo(id, at: time, body: "\(generator.next() % 3)"))
      }
    }
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.items == (try store.latest(12)))
    var shown: [Memo] = []
    for snapshot in screen.snapshots {
      let difference = snapshot.difference
      var table = TableModel(rows: shown.map { row($0.id) })
      var batch = TableModel.Batch()
      batch.removals = difference.removals.map { TableModel.Path(section: 0, row: $0) }
      batch.insertions = difference.insertions.map { TableModel.Path(section: 0, row: $0) }
      batch.moves = difference.moves.map { move in
        (
          TableModel.Path(section: 0, row: move.source),
          TableModel.Path(section: 0, row: move.target)
        )
      }
      let rows = snapshot.ids.map(row)
      try table.perform(batch, dataSource: [TableModel.Section(name: 0, rows: rows)])
      let changed = Set(difference.changed)
      let old = Dictionary(uniqueKeysWithValues: shown.map { ($0.id, $0) })
      for item in snapshot.items {
        if let before = old[item.id] { #expect((before != item) == changed.contains(item.id)) }
      }
      shown = snapshot.items
    }
    #expect(screen.snapshots.map(\.generation) == Array(1...screen.snapshots.count))
  }

  // MARK: - Ends

  /// With a delivery pending nothing holds the owner.
  @Test func anOwnerIsNotKeptAlive() async throws {
    var screen: Screen? = Screen()
    weak let observed = screen
    if let screen { store.observe(by: screen) { $0.snapshots.append($1) } }
    try await insert(1...1)
    screen = nil
    #expect(observed == nil)
    await clock.advance(by: .seconds(1))
    try await insert(2...2)
    await clock.advance(by: .seconds(1))
    #expect(await clock.advanceToNext() == false, "nothing waits any more")
  }

  /// Cancelled at once, or with a snapshot that is due: nothing comes any more.
  @Test(.bug(id: "B91"), .bug(id: "B92"), arguments: [false, true])
  func aCancelledObservationShowsNothingMore(hasWritten: Bool) async throws {
    let screen = Screen()
    let observation = store.observe(by: screen) { $0.snapshots.append($1) }
    if hasWritten { try await insert(1...1) }
    observation.cancel()
    if !hasWritten { try await insert(1...1) }
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.count == 1)
  }

  /// What did not change is not shown again.
  @Test(.bug(id: "B88")) func theFirstSnapshotComesOnce() async throws {
    try await insert(1...3)
    let screen = Screen()
    store.observe(by: screen) { $0.snapshots.append($1) }
    await clock.advance(by: .seconds(10))
    try await store.upsert(try memo(3, at: 3))
    await clock.advance(by: .seconds(10))
    #expect(screen.snapshots.count == 1)
  }

  /// A failed read leaves what is shown and says why; the next one goes on.
  @Test func anErrorStandsBesideTheItems() async throws {
    try await insert(1...2)
    let screen = Screen()
    let observation = store.observe(by: screen) { $0.snapshots.append($1) }
    try await store.close()
    observation.refresh()
    await clock.advance(by: .zero)
    #expect(screen.ids == ids([2, 1]))
    #expect(screen.snapshots.last?.error == .database(.closed))
    #expect(screen.snapshots.last?.difference.isEmpty == true)
  }

  // MARK: - Windows

  @Test func theOldEndStaysWhileNotAtTheTop() async throws {
    try await insert(1...10)
    let screen = Screen()
    let query = MemoQuery<Memo>(limit: 4, anchor: .oldEnd)
    let observation = store.observe(query, by: screen) { $0.snapshots.append($1) }
    #expect(screen.ids == ids([10, 9, 8, 7]))
    try await insert(11...13)
    await clock.advance(by: .seconds(1))
    #expect(screen.ids == ids([13, 12, 11, 10, 9, 8, 7]))
    observation.query = MemoQuery(limit: 4)
    try await insert(14...14)
    await clock.advance(by: .seconds(1))
    #expect(screen.ids == ids([14, 13, 12, 11]))
    observation.query.limit = 6
    await clock.advance(by: .zero)
    #expect(screen.ids == ids([14, 13, 12, 11, 10, 9]))
  }

  // MARK: - Sequence

  @Test func aSequenceGivesTheNewestWhenAsked() async throws {
    var snapshots = store.snapshots(of: MemoQuery(limit: 3)).makeAsyncIterator()
    #expect(await snapshots.next()?.items == [])
    try await insert(1...2)
    await clock.advance(by: .seconds(1))
    try await insert(3...4)
    await clock.advance(by: .seconds(1))
    let second = try #require(await snapshots.next())
    #expect(second.ids == ids([4, 3, 2]) && second.generation == 2)
    #expect(second.difference.insertions == [0, 1, 2])
    let waiting = Task { [store] in
      var snapshots = store.snapshots().makeAsyncIterator()
      _ = await snapshots.next()
      return await snapshots.next() == nil
    }
    waiting.cancel()
    #expect(await waiting.value)
  }
}
