import MemoHistory
import MemoHistoryTesting
import Testing

@MainActor @Test func anInsertIsShownAfter200Milliseconds() async throws {
  let clock = ManualClock()
  let store = MemoStore<Note>.inMemory(clock: clock)
  let notes = LiveHistory(store)
  #expect(notes.items.isEmpty)  // A list reads when it is asked first.
  try await store.insert(Note(text: "milk"))
  await clock.advance(by: .milliseconds(200))
  #expect(notes.items.map(\.text) == ["milk"])
}

@Test func aFullDiskIsAnErrorAndTheNextWriteSucceeds() async throws {
  let volume = TestVolume()
  let store = try volume.open(Note.self)
  volume.fault = .diskFull  // Throws MemoError.database(.diskFull), with what the system said.
  await #expect(throws: MemoError.self) { try await store.insert(Note(text: "milk")) }
  volume.fault = nil
  try await store.insert(Note(text: "milk"))
}
