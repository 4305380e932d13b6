import MemoHistory
import MemoHistoryTesting
import Testing

/// The first seed: a list in UIKit that follows a history, without a token and without a weak self.
@MainActor @Suite struct HistoryReflectorTests {
  private let clock = ManualClock()
  private let store: MemoStore<Note>

  init() { store = MemoStore<Note>.inMemory(clock: clock) }

  @Test func anInsertAppearsAfter200Milliseconds() async throws {
    let controller = NotesController(store)
    #expect(controller.history?.items.isEmpty == true)
    try await store.insert(Note(text: "milk"))
    await clock.advance(by: .milliseconds(199))
    #expect(controller.history?.items.isEmpty == true)
    await clock.advance(by: .milliseconds(1))
    #expect(controller.history?.items.map(\.text) == ["milk"])
  }

  @Test func aHiddenListIsSilentAndCatchesUpAtOnce() async throws {
    let controller = NotesController(store)
    controller.viewDidDisappear(false)
    for text in ["milk", "tea", "bread"] { try await store.insert(Note(text: text)) }
    await clock.advance(by: .seconds(10))
    #expect(controller.history?.generation == 1)
    controller.viewWillAppear(false)
    await clock.advance(by: .zero)
    #expect(controller.history?.items.map(\.text) == ["bread", "tea", "milk"])
    #expect(controller.history?.generation == 2)
  }

  @Test func aListThatIsGoneIsNotKept() async throws {
    weak var controller: NotesController?
    do {
      let shown = NotesController(store)
      controller = shown
      try await store.insert(Note(text: "milk"))
    }
    #expect(controller == nil, "though a snapshot is due")
    await clock.advance(by: .seconds(1))
  }
}
