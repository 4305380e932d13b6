internal import Dispatch
internal import MemoCore

extension MemoStore where Entity: MemoEntity {
  /// The memos that a query wants, newest first, as they are at one moment.
  ///
  /// Reads on a queue of its own, never on the caller's thread, and holds no more memos in memory
  /// than it returns. What a live history needs beside that has no effect: anchor and sections.
  ///
  /// ```swift
  /// let unsent = try await store.memos(MemoQuery(search: "milk") { !$0.sent })
  /// ```
  ///
  /// - Parameters:
  ///   - query: Which memos, and at most how many.
  ///   - report: Called for each memo that does not fit the app's type, which is then left out.
  ///     Default: the first such memo makes the call throw.
  /// - Returns: The memos; fewer than the query's limit when no more are wanted.
  /// - Throws: ``MemoError/cancelled`` when the task is cancelled before the read has ended, which
  ///   it then does before the next memo; else as ``latest(_:unreadable:)``.
  /// - Complexity: O(limit) without filter and search, else O(memos up to the last one returned).
  public func memos(
    _ query: MemoQuery<Entity>, unreadable report: (@Sendable (MemoError) -> Void)? = nil
  ) async throws(MemoError) -> [Entity] {
    let scan = HistoryScan(self)
    let reading = try await DispatchQueue.scan { isWanted throws(MemoError) in
      try scan.read(query, while: isWanted) { (error) throws(MemoError) in
        guard let report else { throw error }
        report(error)
      }
    }
    return reading.items
  }
}
