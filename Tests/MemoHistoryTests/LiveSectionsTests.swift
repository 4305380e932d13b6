import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import MemoHistoryTesting
import Testing

/// Lists with headers that follow what is written.
@MainActor @Suite struct LiveSectionsTests {
  private let clock = ManualClock()
  private let store: MemoStore<Memo>
  private let screen = HistoryScreen<Memo>()

  init() {
    store = MemoStore<Memo>.inMemory(clock: clock)
  }

  /// Day and row numbers of a list with headers.
  private func table(_ snapshot: HistorySnapshot<Memo>) -> [TableModel.Section] {
    (snapshot.sections?.headers ?? []).map { header in
      guard case .day(let day) = header.key else { return TableModel.Section(name: -1, rows: []) }
      return TableModel.Section(
        name: 1000 * day.day + header.repetition,
        rows: snapshot.ids[header.items].map { Int("\($0)") ?? -1 })
    }
  }

  private func batch(_ difference: HistorySectionDifference) -> TableModel.Batch {
    let path = { (path: HistoryPath) in TableModel.Path(section: path.section, row: path.row) }
    var batch = TableModel.Batch()
    batch.removedSections = difference.removedSections
    batch.insertedSections = difference.insertedSections
    batch.removals = difference.removals.map(path)
    batch.insertions = difference.insertions.map(path)
    batch.moves = difference.moves.map { (path($0.source), path($0.target)) }
    return batch
  }

  /// A memo of one of some days.
  private func memo(_ id: Int64, hours: Int64, _ body: String = "milk") throws -> Memo {
    try MemoHistoryTests.memo(id, at: hours * 3600, body: body)
  }

  /// A table view accepts each difference, with a filter and without one.
  @Test(arguments: 0..<6 as Range<UInt64>)
  func differencesReplayed(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    var query = MemoQuery<Memo>(limit: 12, sections: .day)
    if seed % 2 == 1 { query.search = "milk" }
    let observation = store.observe(query, by: screen) { $0.show($1) }
    for _ in 0..<120 {
      let id = Int64.random(in: 0..<30, using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: try await store.delete(MemoID(id))
      case 1: observation.refresh()
      case 2: await clock.advance(by: .milliseconds(Int.random(in: 0...250, using: &generator)))
      default:
        let hours = Int64.random(in: 0..<100, using: &generator)
        let body = ["milk", "oat milk", "bread"][Int.random(in: 0..<3, using: &generator)]
        try await store.upsert(try memo(id, hours: hours, body))
      }
    }
    await clock.advance(by: .seconds(1))
    let last = try #require(screen.snapshots.last)
    #expect(last.items == (try await store.memos(query)), "seed \(seed)")
    #expect(screen.snapshots.count > 10)
    var model = TableModel([])
    for snapshot in screen.snapshots {
      let difference = try #require(snapshot.sectionDifference)
      try model.perform(batch(difference), dataSource: table(snapshot))
    }
  }

  /// A list that gets headers, loses them, or gets others.
  @Test func otherSectionsAreShownAtOnce() async throws {
    for id in 1...4 as ClosedRange<Int64> { try await store.insert(try memo(id, hours: 20 * id)) }
    let observation = store.observe(by: screen) { $0.show($1) }
    #expect(screen.snapshots.last?.sections == nil)
    observation.query.sections = .day
    await clock.advance(by: .zero)
    #expect(screen.snapshots.last?.sections?.headers.map(\.count) == [1, 1, 1, 1])
    #expect(screen.snapshots.last?.sectionDifference == nil, "the list before had none")
    observation.query.sections = .day { _ in 4 * 3600 }
    await clock.advance(by: .zero)
    let snapshot = try #require(screen.snapshots.last)
    #expect(
      snapshot.sections?.headers.map { "\($0.key)" }
        == ["1970-01-04", "1970-01-03", "1970-01-02"])
    #expect(snapshot.sections?.headers.map(\.count) == [1, 1, 2])
    #expect(snapshot.difference.isEmpty && snapshot.sectionDifference?.isEmpty == false)
    observation.query.sections = nil
    await clock.advance(by: .zero)
    #expect(screen.snapshots.last?.sections == nil)
    #expect(screen.snapshots.last?.sectionDifference == nil && screen.snapshots.count == 4)
  }

  /// When the reader travels, one refresh makes the sections of the new place.
  @Test(.bug(id: "B74")) func anotherZoneRebuildsTheSectionsOnce() async throws {
    for id in 0...3 as ClosedRange<Int64> { try await store.insert(try memo(id, hours: 8 * id)) }
    let offset = SharedLock(0)
    let query = MemoQuery<Memo>(sections: .day { _ in offset.withLock { $0 } })
    let observation = store.observe(query, by: screen) { $0.show($1) }
    #expect(screen.snapshots.last?.sections?.headers.map(\.count) == [1, 3])
    offset.withLock { $0 = 9 * 3600 }
    observation.refresh()
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.sections?.headers.map(\.count) == [2, 2])
    #expect(screen.snapshots.count == 2)
  }

  // MARK: - For views

  private func rows(_ history: LiveHistory<Memo>) -> [String: [String]] {
    Dictionary(
      uniqueKeysWithValues: history.sections.map { ("\($0.key)", $0.items.map { "\($0.id)" }) })
  }

  /// Headers and items are of the same list, with edits that no snapshot holds yet.
  @Test func sectionsHoldEditsAtOnce() async throws {
    for id in 1...3 as ClosedRange<Int64> { try await store.insert(try memo(id, hours: 20 * id)) }
    let history = LiveHistory(store, MemoQuery(sections: .day))
    #expect(history.sections.map(\.key.description) == ["1970-01-03", "1970-01-02", "1970-01-01"])
    history.insert(try memo(4, hours: 61))
    history.insert(try memo(5, hours: 100))
    history.delete(MemoID(2))
    let expected = ["1970-01-05": ["5"], "1970-01-03": ["4", "3"], "1970-01-01": ["1"]]
    #expect(rows(history) == expected)
    #expect(history.sections.flatMap(\.items) == history.items)
    await history.settle()
    #expect(rows(history) == expected)
    let section = try #require(history.sections.dropFirst().first)
    history.delete(at: [0, 7, -1], in: section)
    #expect(rows(history) == ["1970-01-05": ["5"], "1970-01-03": ["3"], "1970-01-01": ["1"]])
    await history.settle()
    #expect(try store.count() == 3 && history.sections.map(\.items.count) == [1, 1, 1])
    history.query.sections = nil
    await clock.advance(by: .zero)
    #expect(history.sections.isEmpty && history.items.count == 3)
  }

  /// Edits stand in a filtered list when they fit, and the made anew edit of one that others moved
  /// out of it is not lost.
  @Test func editsKeepToTheSearch() async throws {
    for id in 1...3 as ClosedRange<Int64> { try await store.insert(try memo(id, hours: id)) }
    let history = LiveHistory(store, MemoQuery(search: "milk", sections: .day))
    #expect(history.items.isEmpty && history.isReading)
    await clock.advance(by: .zero)
    #expect(history.items.count == 3 && !history.isReading)
    history.insert(try memo(4, hours: 4, "bread"))
    history.insert(try memo(5, hours: 5))
    history.update(MemoID(1)) { $0.body = "bread" }
    #expect(history.items.map(\.id) == [MemoID(5), MemoID(3), MemoID(2)])
    await history.settle()
    #expect(history.items.map(\.id) == [MemoID(5), MemoID(3), MemoID(2)])
    #expect(rows(history) == ["1970-01-01": ["5", "3", "2"]])
    try await store.update(MemoID(2)) { $0.body = "bread" }
    history.update(MemoID(2)) { $0.body += "!" }
    #expect(history.items.map(\.body) == ["milk", "milk", "milk!"])
    await history.settle()
    #expect(history.items.map(\.id) == [MemoID(5), MemoID(3)])
    #expect(try store.memo(for: MemoID(2))?.body == "bread!")
    #expect(try store.count() == 5 && history.error == nil)
  }
}
