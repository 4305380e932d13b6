/// What a live history shows.
public struct MemoQuery: Sendable, Hashable {
  /// How many of the newest memos, at least 1; a smaller number counts as 1.
  public var limit: Int
  /// Which end of the list stays where it is when memos come and go; see ``HistoryAnchor``.
  public var anchor: HistoryAnchor

  /// The newest memos.
  ///
  /// - Parameters:
  ///   - limit: How many. Default: 200, which is what fits on some screens.
  ///   - anchor: Which end stays. Default: the newest one.
  public init(limit: Int = 200, anchor: HistoryAnchor = .newest) {
    self.limit = limit
    self.anchor = anchor
  }
}
