import MemoHistory
import MemoHistoryTesting
import Testing

/// The tests that the app of the second seed would have: no mock, a store in memory.
@MainActor @Suite struct TodoTests {
  private let clock = ManualClock()
  private let store: MemoStore<Todo>
  private let model: TodoListModel

  init() {
    store = MemoStore<Todo>.inMemory(clock: clock)
    model = TodoListModel(
      store, client: TodoClient { [Todo(text: "from the server"), Todo(text: "another")] })
  }

  @Test func aDraftIsShownAtOnceAndStored() async throws {
    model.draft = "milk"
    model.add()
    model.add()
    #expect(model.todos.items.map(\.text) == ["milk"])
    #expect(model.draft.isEmpty)
    await model.todos.settle()
    #expect(try store.latest(9).map(\.text) == ["milk"])
  }

  @Test func whatIsDoneIsRemovedAndComesBack() async throws {
    try await model.refresh()
    model.todos.refresh()
    model.toggle(try #require(model.todos.items.first))
    #expect(model.todos.items.map(\.isDone) == [true, false])
    await model.todos.settle()
    let deletions = try await model.removeDone()
    #expect(deletions.count == 1)
    await clock.advance(by: .milliseconds(300))
    #expect(model.todos.items.map(\.isDone) == [false])
    for deletion in deletions { try await store.undo(deletion) }
    #expect(try store.count() == 2)
  }

  @Test func aServerThatFailsChangesNothing() async throws {
    struct Offline: Error {}
    let model = TodoListModel(store, client: TodoClient { throw Offline() })
    await #expect(throws: Offline.self) { try await model.refresh() }
    #expect(try store.count() == 0)
  }
}
