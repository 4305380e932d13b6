/// A memo that stands elsewhere in a history than before.
public struct HistoryMove: Sendable, Hashable {
  /// Its index in the old list.
  public let source: Int
  /// Its index in the new list.
  public let target: Int
}

/// What turns one list of a history into the next, in one step and by the rules of UIKit's batch
/// updates.
///
/// Removals and the sources of moves are indexes of the old list, insertions and the targets of
/// moves are indexes of the new one, and no index is in two of them; so all three fit into one
/// `performBatchUpdates`, in any order. Every memo that is in both lists and is not moved keeps its
/// order among those like it; the moves are as few as possible.
///
/// A changed memo is named by its id and its *new* index, because UIKit does not accept a row that
/// is moved and reloaded in one batch: reconfigure changed rows after the batch, or hand the ids to
/// a diffable data source.
///
/// ```swift
/// tableView.performBatchUpdates {
///   rows = history.items
///   tableView.deleteRows(at: difference.removals.map(path), with: .automatic)
///   tableView.insertRows(at: difference.insertions.map(path), with: .automatic)
///   for move in difference.moves {
///     tableView.moveRow(at: path(move.source), to: path(move.target))
///   }
/// }
/// tableView.reconfigureRows(at: difference.changedIndexes.map(path))
/// ```
public struct HistoryDifference<ID: Hashable & Sendable>: Sendable, Hashable {
  /// Indexes of the old list whose memos are gone, ascending.
  public let removals: [Int]
  /// Indexes of the new list whose memos were not in the old one, ascending.
  public let insertions: [Int]
  /// Memos of both lists that stand elsewhere, by ascending target.
  ///
  /// A memo only moves when its time of creation was changed.
  public let moves: [HistoryMove]
  /// Memos of both lists that are not equal any more, in the order of the new list.
  public let changed: [ID]
  /// Indexes of ``changed`` in the new list, ascending.
  public let changedIndexes: [Int]

  /// Whether the lists are equal.
  public var isEmpty: Bool {
    removals.isEmpty && insertions.isEmpty && moves.isEmpty && changed.isEmpty
  }

  /// Compares two lists.
  ///
  /// Items are told apart by their ids and compared by `==`. An id that a list holds twice does no
  /// harm: one of its items is matched and the other is removed or inserted.
  ///
  /// - Parameters:
  ///   - old: What was shown.
  ///   - new: What is shown next.
  /// - Complexity: O(*n*) comparisons, where *n* is the length of both lists, plus O(*k* log *k*)
  ///   when something moved, where *k* is the number of items in both.
  @inlinable  // The ids are taken out ten times faster where the type is known.
  public init<Item: Identifiable & Equatable>(from old: [Item], to new: [Item])
  where Item.ID == ID {
    self.init(from: old, ids: old.map { $0.id }, to: new, ids: new.map { $0.id })
  }

  /// Compares two lists whose ids are at hand.
  ///
  /// - Precondition: Each list has as many ids as items.
  @usableFromInline
  init<Item: Equatable>(
    from old: [Item], ids oldIDs: [ID], to new: [Item], ids newIDs: [ID]
  ) {
    precondition(old.count == oldIDs.count && new.count == newIDs.count)
    let sources = ListAlignment.sources(from: oldIDs, to: newIDs)
    let alignment = ListAlignment(sources: sources, oldCount: oldIDs.count)
    removals = alignment.removals
    insertions = alignment.insertions
    moves = alignment.moves
    changedIndexes = ListAlignment.changes(from: old, to: new, sources)
    changed = changedIndexes.map { newIDs[$0] }
  }
}
