/// Which end of a live history's window stays where it is when memos come and go.
public enum HistoryAnchor: Sendable, Hashable {
  /// The newest memo is on the screen: the window follows it and has its usual length.
  case newest
  /// The user reads further down: the window keeps its old end.
  case oldEnd
}

/// How many memos, from the newest one on, a live history shows.
///
/// A window of the newest 200 loses a memo at its old end for every one that comes. For a user at
/// the top that is right; for one who reads memo 150 the rows below would go one by one, and in the
/// end the one being read. So while the user is not at the top the window *keeps its old end*: it
/// holds every memo that is not older than its oldest one was, and grows by what comes above. It is
/// never shorter than the query's limit, so memos deleted above let older ones follow at the old
/// end. At the top it has its usual length again, which costs nobody a row that can be seen.
///
/// The new end is always the newest memo: nothing that is written is hidden from the user.
struct HistoryWindow: Sendable, Hashable {
  /// How many memos a window may hold beyond its query's limit.
  ///
  /// An import of a million memos must not bring them all into memory because somebody has
  /// scrolled. Beyond it the window is given up for its usual length.
  static let maximumGrowth = 10_000

  /// How many of the newest memos to read; at least the query's limit and 0.
  let count: Int

  /// A window of the usual length, as a history starts with.
  init(limit: Int) {
    count = max(0, limit)
  }

  /// The window after memos came or went, or after the query's limit was changed.
  ///
  /// - Parameters:
  ///   - limit: What the query asks for now.
  ///   - keptCount: How many memos there are now that are not older than the oldest one that was
  ///     shown, whether that one still exists or not; 0 when none was.
  ///   - anchor: What stays.
  /// - Complexity: O(1).
  init(limit: Int, keptCount: Int, anchor: HistoryAnchor) {
    self.init(limit: limit)
    if anchor == .oldEnd, keptCount - count <= Self.maximumGrowth {
      self.init(limit: max(count, keptCount))
    }
  }
}
