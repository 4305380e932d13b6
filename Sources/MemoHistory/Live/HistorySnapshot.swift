/// What a live history shows at one moment, and how that differs from what it showed before.
public struct HistorySnapshot<Entity: MemoEntity>: Sendable {
  /// The memos, newest first.
  public let items: [Entity]
  /// The ids of the memos, in their order.
  public let ids: [Entity.ID]
  /// What turns the list of the snapshot before into this one; for the first it inserts everything.
  public let difference: HistoryDifference<Entity.ID>
  /// The headers, if the query asks for any.
  public let sections: HistorySections<HistorySectionKey>?
  /// What turns the list with headers of the snapshot before into this one, for the first from an
  /// empty list; `nil` where one of the two has no headers: show such a list anew.
  ///
  /// Memos that are not equal any more stand in ``difference``.
  public let sectionDifference: HistorySectionDifference?
  /// How many snapshots this observer has got, this one included.
  public let generation: Int
  /// The newest of the commits that it shows.
  public let cause: HistoryCause
  /// What the write said that made that commit, so that a list can tell its own changes from those
  /// of a sync; `nil` when it said nothing, or when there was none.
  public let origin: String?
  /// Why the memos could not be read, or that some of them do not fit the app's type; `nil` when
  /// all went well.
  ///
  /// When nothing could be read, the items are those of the snapshot before, and the next commit or
  /// refresh tries again.
  public let error: MemoError?
  /// The query that it answers, which may be older than the one that is set.
  public let query: MemoQuery<Entity>
  /// The commits through this store that it certainly shows.
  let commitCount: UInt64
}

extension HistorySnapshot {
  /// Makes a snapshot without a store, for a test of what an app does with one.
  ///
  /// - Parameters:
  ///   - items: The memos, in the order in which they are shown.
  ///   - old: The snapshot before, from which it differs; `nil` for the first one.
  ///   - query: What it answers; has the sections.
  ///   - cause: Why there is a new one. Default: that it is the first, or that somebody asked.
  ///   - origin: Who wrote.
  ///   - error: Why the memos could not be read.
  /// - Complexity: As ``HistoryDifference/init(from:to:)``.
  public init(
    _ items: [Entity], after old: HistorySnapshot? = nil,
    query: MemoQuery<Entity> = MemoQuery(), cause: HistoryCause? = nil, origin: String? = nil,
    error: MemoError? = nil
  ) {
    self.init(
      items, after: old, query: query, cause: cause ?? (old == nil ? .first : .refreshed),
      origin: origin, error: error,
      commitCount: 0)
  }

  /// Makes the snapshot that follows one, or the first one.
  init(
    _ items: [Entity], after old: HistorySnapshot?, query: MemoQuery<Entity>, cause: HistoryCause,
    origin: String?, error: MemoError?, commitCount: UInt64
  ) {
    let ids = items.map(\.id)
    let difference = HistoryDifference(
      from: old?.items ?? [], ids: old?.ids ?? [], to: items, ids: ids)
    let sections = query.sections?.sections(of: items)
    let oldSections = old == nil ? HistorySections(keys: []) : old?.sections
    var sectionDifference: HistorySectionDifference?
    if let oldSections, let sections {
      sectionDifference = HistorySectionDifference(difference, from: oldSections, to: sections)
    }
    self.init(
      items: items, ids: ids, difference: difference, sections: sections,
      sectionDifference: sectionDifference, generation: (old?.generation ?? 0) + 1,
      cause: cause, origin: origin, error: error, query: query, commitCount: commitCount)
  }
}

/// Why there is a new snapshot of a live history.
public enum HistoryCause: Sendable, Hashable {
  /// It is the first one.
  case first
  /// A memo was inserted, or more than one.
  case inserted
  /// A memo was changed.
  case updated
  /// A memo was deleted.
  case deleted
  /// A deleted memo was brought back.
  case restored
  /// Somebody asked for it.
  case refreshed

  /// Whether the wait for inserts applies.
  var holdsInsert: Bool { self == .inserted }
}

extension HistoryCause {
  /// What a commit has done.
  init(_ change: MemoChange) {
    switch change {
    case .inserted: self = .inserted
    case .updated: self = .updated
    case .deleted: self = .deleted
    case .restored: self = .restored
    }
  }
}
