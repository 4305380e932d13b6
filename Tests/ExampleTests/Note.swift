import Foundation
import MemoHistory

struct Note: MemoEntity {
  var id = UUID()
  var createdAt = MemoTimestamp.now
  var text: String
  var tags: [String] = []
  static let schema = MemoSchema<Note>(defaults: Note(text: ""))
}
