/// What a commit has done to memos.
package enum MemoChange: Sendable {
  case inserted, updated, deleted, restored
  /// Deleted memos went for good: nothing that anybody lists.
  case purged
}
