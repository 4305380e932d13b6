/// What a commit has done to memos.
package enum MemoChange: Sendable {
  case inserted, updated, deleted, restored
}
