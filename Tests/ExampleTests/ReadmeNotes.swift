import MemoHistory

func keepNotes(in folder: String) async throws {
  let store = try MemoStore<Note>(at: folder)
  // What was deleted shortly before the last program ended can be undone still.
  for deletion in try store.undoableDeletions() { try await store.undo(deletion) }

  let note = Note(text: "milk")
  try await store.insert(note)
  try await store.update(note.id) { $0.tags.append("food") }

  // Three seconds unless it is said; `nil` when there is no such note.
  if let deletion = try await store.delete(note.id, undoWithin: .seconds(60)) {
    try await store.undo(deletion)
  }
  try await store.perform { notes in
    try notes.insert(Note(text: "tea"))
    try notes.delete(note.id)
  }
  try await store.close()
}
