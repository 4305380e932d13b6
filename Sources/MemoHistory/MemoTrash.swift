internal import MemoCore

/// A deleted memo that is kept in the trash.
public struct TrashedMemo<Entity: MemoEntity>: Sendable, Hashable {
  /// The memo as it was.
  public let memo: Entity
  /// Which deletion it was, for ``MemoStore/restore(_:origin:)`` and ``MemoStore/remove(_:)``.
  public let deletion: MemoDeletion
}

// The trash holds memos whose deletion can be undone, and, when the store was opened with a period
// for it, those that were deleted in that time.

extension MemoStore where Entity: MemoEntity {
  /// The memos in the trash, the latest deletion first.
  ///
  /// - Parameters:
  ///   - count: At most this many. Default: 200.
  ///   - report: Called for each memo that does not fit the app's type, which is then left out.
  ///     Default: the first such memo makes the call throw.
  /// - Returns: The memos with their deletions.
  /// - Throws: As ``latest(_:unreadable:)``.
  /// - Complexity: O(`count`).
  public func trash(
    _ count: Int = 200, unreadable report: ((MemoError) -> Void)? = nil
  ) throws(MemoError) -> [TrashedMemo<Entity>] {
    var trashed: [TrashedMemo<Entity>] = []
    for deleted in try timeline.deletedMemos(count) {
      let memo = try entities(of: [deleted.memo], report).first
      if let memo { trashed.append(TrashedMemo(memo: memo, deletion: MemoDeletion(deleted))) }
    }
    return trashed
  }

  /// Number of memos in the trash.
  ///
  /// - Returns: Those whose deletion can be undone, and those that are kept longer.
  /// - Throws: ``MemoError/database(_:)`` after ``close()``.
  /// - Complexity: O(1).
  public func trashCount() throws(MemoError) -> Int {
    try timeline.deletedCount()
  }

  /// Brings a memo back from the trash, also when its deletion can no longer be undone; durable
  /// when it returns.
  ///
  /// - Parameters:
  ///   - deletion: Which one.
  ///   - origin: Who does it: see ``HistorySnapshot/origin``.
  /// - Throws: ``MemoError/deletionExpired`` when it is not in the trash any more,
  ///   ``MemoError/duplicateID`` when there is a memo with its id again,
  ///   ``MemoError/duplicateKey(index:id:)`` when another one has its key in a unique index by now,
  ///   ``MemoError/database(_:)`` if it could not be written.
  public func restore(_ deletion: MemoDeletion, origin: String? = nil) async throws(MemoError) {
    try await write(origin) { memos throws(MemoError) in
      _ = try memos.edits.restore(deletion.key)
    }
  }

  /// Takes a memo out of the trash for good; durable when it returns.
  ///
  /// Its bytes go from the files with the next ``purge()``, or by themselves in the course of a
  /// day.
  ///
  /// - Parameter deletion: Which one.
  /// - Returns: Whether it was there.
  /// - Throws: ``MemoError/database(_:)`` if it could not be written.
  @discardableResult
  public func remove(_ deletion: MemoDeletion) async throws(MemoError) -> Bool {
    try await write(nil) { memos throws(MemoError) in try memos.edits.remove(deletion.key) }
  }

  /// Takes everything out of the trash for good, also what could still be undone; durable when it
  /// returns.
  ///
  /// - Returns: How many memos went.
  /// - Throws: ``MemoError/database(_:)`` if it could not be written.
  /// - Complexity: O(memos in the trash).
  @discardableResult
  public func emptyTrash() async throws(MemoError) -> Int {
    try await onQueue { store throws(MemoError) in try store.timeline.emptyTrash() }
  }
}
