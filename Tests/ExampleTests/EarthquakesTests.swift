import MemoHistory
import MemoHistoryTesting
import Testing

@MainActor @Suite struct EarthquakesTests {
  private let clock = ManualClock()
  private let store: MemoStore<Quake>
  private let model: QuakesModel

  init() {
    store = MemoStore<Quake>.inMemory(clock: clock)
    model = QuakesModel(store)
  }

  private static func quake(_ number: Int) -> Quake {
    Quake(
      id: "q\(number)",
      createdAt: MemoTimestamp(microseconds: Int64(number) * 43_200_000_000) ?? .now,
      text: number.isMultiple(of: 2) ? "Honshu, Japan" : "Alaska", magnitude: Double(number % 8))
  }

  @Test func theSameFeedChangesNothing() async throws {
    let feed = (0..<40).map { Self.quake($0) }
    #expect(try await model.update(from: feed).insertedCount == 40)
    let again = try await model.update(from: feed + [Self.quake(40)])
    #expect(again.unchangedCount == 40 && again.insertedCount == 1 && again.refusedCount == 0)
    #expect(try store.count() == 41)
  }

  @Test func theStrongestComeFirst() async throws {
    _ = try await model.update(from: (0..<40).map { Self.quake($0) })
    try await store.indexesAreReady()
    #expect(try model.strongest(7).map(\.magnitude) == [7, 7, 7, 7, 7, 6, 6])
    let time = try #require(MemoTimestamp(microseconds: 30 * 43_200_000_000))
    #expect(try await model.count(since: time) == 10)
  }

  @Test func groupsAndSearchChangeWhileItIsShown() async throws {
    _ = try await model.update(from: (0..<40).map { Self.quake($0) })
    model.show(groupedBy: .day)
    await model.quakes.settle()
    #expect(model.quakes.sections.count == 20)
    model.show(search: "japan", atLeast: 2, groupedBy: .strength)
    await model.quakes.settle()
    #expect(model.quakes.items.count == 15)
    #expect(model.quakes.items.allSatisfy { $0.text.hasSuffix("Japan") && $0.magnitude >= 2 })
    #expect(Set(model.quakes.sections.map(\.key)) == [.label("light"), .label("strong")])
    model.show(groupedBy: .none)
    await model.quakes.settle()
    #expect(model.quakes.items.count == 40 && model.quakes.sections.isEmpty)
  }
}
