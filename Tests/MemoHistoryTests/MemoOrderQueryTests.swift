import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// Lists in the order of an index: what they show, when it changes, and while an index is built.
@MainActor @Suite struct MemoOrderQueryTests {
  private struct Task: MemoEntity {
    var id: Int
    var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
    var text = ""
    var state = "open"
    var due: Int?

    static let byDue = MemoIndex<Task>.ordered("due") { $0.due.map { [.integer($0)] } }
    static let byState = MemoIndex<Task>.ordered("state") {
      [.text($0.state), .integer($0.due ?? 0)]
    }
    static let schema = MemoSchema<Task>(indexes: [byDue, byState])
  }

  private let clock = ManualClock()

  private func store(_ tasks: [Task] = []) async throws -> MemoStore<Task> {
    let store = MemoStore<Task>.inMemory(clock: clock)
    try await store.insert(contentsOf: tasks)
    return store
  }

  private let tasks = [
    Task(id: 1, text: "milk", due: 30), Task(id: 2, text: "oat milk", due: 10),
    Task(id: 3, text: "tea"), Task(id: 4, text: "milk tea", state: "done", due: 20),
  ]

  @Test func aListFollowsTheOrderOfItsIndex() async throws {
    let store = try await store(tasks)
    let screen = HistoryScreen<Task>()
    let query = MemoQuery<Task>(order: .key(Task.byDue))
    let observation = store.observe(query, by: screen) { $0.show($1) }
    #expect(screen.snapshots.last?.ids == [2, 4, 1])
    try await store.update(1) { $0.due = 5 }
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.ids == [1, 2, 4])
    #expect(screen.snapshots.last?.difference.moves.isEmpty == false)
    try await store.update(2) { $0.due = nil }
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.ids == [1, 4])
    observation.query.order = .key(Task.byDue, descending: true)
    await clock.advance(by: .zero)
    #expect(screen.snapshots.last?.ids == [4, 1])
    observation.query.order = .newest
    await clock.advance(by: .zero)
    #expect(screen.snapshots.last?.ids == [4, 3, 2, 1])
  }

  @Test func aRangeAFilterAndASearchGoWithAnOrder() async throws {
    let store = try await store(tasks)
    let open = MemoOrder<Task>.key(Task.byState, from: ["open"], through: ["open"])
    #expect(try await store.memos(MemoQuery(order: open)).map(\.id) == [3, 2, 1])
    #expect(try await store.memos(MemoQuery(limit: 2, order: open)).map(\.id) == [3, 2])
    let milk = MemoQuery<Task>(order: open, search: "milk")
    #expect(try await store.memos(milk).map(\.id) == [2, 1])
    let late = MemoQuery<Task>(order: .key(Task.byDue, descending: true)) { $0.due != 20 }
    #expect(try await store.memos(late).map(\.id) == [1, 2])
    let history = LiveHistory(store, milk)
    #expect(history.items.isEmpty && history.isReading)
    await history.settle()
    #expect(history.items.map(\.id) == [2, 1] && !history.isReading)
  }

  @Test func equalOrdersAnswerEachOther() {
    typealias Order = MemoOrder<Task>
    #expect(Order.newest == .newest)
    #expect(Order.key(Task.byDue) == .key(Task.byDue))
    #expect(Order.key(Task.byDue) != .newest && Order.newest != .key(Task.byDue))
    #expect(Order.key(Task.byDue) != .key(Task.byState))
    #expect(Order.key(Task.byDue) != .key(Task.byDue, descending: true))
    #expect(Order.key(Task.byDue, from: [1]) != .key(Task.byDue))
    #expect(Order.key(Task.byDue, through: [1]) != .key(Task.byDue, through: [2]))
  }

  /// An edit stands at once where the store will have it, whatever it changes.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func anEditIsShownWhereItWillBe(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let orders: [MemoOrder<Task>] = [
      .newest, .key(Task.byDue), .key(Task.byDue, descending: true),
      .key(Task.byDue, from: [2], through: [4]),
      .key(Task.byState, from: ["open"], through: ["open"], descending: true),
    ]
    for order in orders {
      let store = try await store()
      let history = LiveHistory(store, MemoQuery(order: order))
      var nextID = 0
      for call in 0..<60 {
        let due = Bool.random(using: &random) ? Int.random(in: 0...5, using: &random) : nil
        let state = Bool.random(using: &random) ? "open" : "done"
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
          nextID += 1
          // Which of one key and one instant arrived first is not to be seen in memos.
          let moment: Int64 = .random(in: 0...3, using: &random)
          let time = MemoTimestamp(
            microseconds: order == .newest ? moment : moment * 1_000 + Int64(nextID))
          history.insert(
            Task(id: nextID, createdAt: try #require(time), state: state, due: due))
        case 2:
          if let task = history.items.randomElement(using: &random) {
            history.update(task.id) { task in
              task.due = due
              task.state = state
            }
          }
        default:
          if let task = history.items.randomElement(using: &random) { history.delete(task.id) }
        }
        let shown = history.items
        await history.settle()
        #expect(history.items == shown, "seed \(seed), call \(call)")
        #expect(history.error == nil, "seed \(seed), call \(call)")
      }
    }
  }

  /// A list by an index that an update has brought says so and fills when it is there.
  @Test func aListWaitsForItsIndex() async throws {
    struct Plain: MemoEntity {
      var id: Int
      var createdAt = MemoTimestamp(microseconds: 1_000_000) ?? .now
      var text = ""
      var state = "open"
      var due: Int?
    }
    let volume = TestVolume()
    let old = try volume.open(Plain.self)
    try await old.insert(contentsOf: (0..<2_000).map { Plain(id: $0, due: -$0) })
    try await old.close()
    let store = try volume.relaunch(Task.self, clock: clock)
    let screen = HistoryScreen<Task>()
    store.observe(MemoQuery(limit: 3, order: .key(Task.byDue)), by: screen) { $0.show($1) }
    try await store.indexesAreReady()
    await clock.advance(by: .seconds(1))
    #expect(screen.snapshots.last?.ids == [1999, 1998, 1997])
    #expect(screen.snapshots.last?.error == nil)
    for snapshot in screen.snapshots.dropLast() {
      #expect(snapshot.ids.isEmpty && snapshot.error == .indexNotReady(index: "due"))
    }
  }
}
