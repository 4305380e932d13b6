import Foundation
import MemoHistory
import SwiftUI

struct NotesView: View {
  @State private var notes: LiveHistory<Note>
  @State private var draft = ""

  init(_ store: MemoStore<Note>) { _notes = State(initialValue: LiveHistory(store)) }

  var body: some View {
    List {
      TextField("New note", text: $draft).onSubmit { notes.insert(Note(text: draft)) }
      ForEach(notes.items) { note in Text(note.text) }.onDelete { notes.delete(at: $0) }
    }.searchable(text: $notes.query.search)
  }
}
