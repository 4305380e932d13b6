/// What turns one list with headers into the next, in one step and by the rules of UIKit's batch
/// updates.
///
/// As in ``HistoryDifference``, what goes is named by its place in the old list and what comes by
/// its place in the new one. A section comes or goes as a whole: its rows are in none of the other
/// parts, and no row moves into or out of such a section, because UIKit does not accept that; there
/// it is a removal here and an insertion there.
public struct HistorySectionDifference: Sendable, Hashable {
  /// A row that stands elsewhere than before.
  public struct Move: Sendable, Hashable {
    /// Its place in the old list.
    public let source: HistoryPath
    /// Its place in the new list.
    public let target: HistoryPath
  }

  /// Indexes of the old list's sections that are gone, ascending.
  public let removedSections: [Int]
  /// Indexes of the new list's sections that were not there before, ascending.
  public let insertedSections: [Int]
  /// Rows of the old list that are gone while their sections stay.
  public private(set) var removals: [HistoryPath] = []
  /// Rows of the new list that were not there before while their sections were.
  public private(set) var insertions: [HistoryPath] = []
  /// Rows that stand elsewhere, in the same section or another one; both were there and stay.
  public private(set) var moves: [Move] = []

  /// Whether no row and no section has another place.
  public var isEmpty: Bool {
    removedSections.isEmpty && insertedSections.isEmpty && removals.isEmpty && insertions.isEmpty
      && moves.isEmpty
  }

  /// Translates a difference of lists into one of lists with headers.
  ///
  /// - Parameters:
  ///   - rows: The difference of the lists without headers.
  ///   - old: The sections of the old list.
  ///   - new: The sections of the new list.
  /// - Complexity: O(*n* log *s*), where *n* is the number of items and *s* that of sections.
  public init<ID, Key>(
    _ rows: HistoryDifference<ID>, from old: HistorySections<Key>, to new: HistorySections<Key>
  ) {
    let successors = old.successors(in: new)
    let isSuccessor = Set(successors.compactMap { $0 })
    removedSections = successors.indices.filter { successors[$0] == nil }
    insertedSections = new.headers.indices.filter { !isSuccessor.contains($0) }

    let stays = { (source: HistoryPath) in successors[source.section] != nil }
    let wasThere = { (target: HistoryPath) in isSuccessor.contains(target.section) }
    removals = rows.removals.compactMap(old.path).filter(stays)
    insertions = rows.insertions.compactMap(new.path).filter(wasThere)

    let moved = rows.moves.map { (old: $0.source, new: $0.target, isMoved: true) }
    for item in moved + Self.unmoved(rows, from: old, to: new) {
      guard let source = old.path(of: item.old), let target = new.path(of: item.new) else {
        continue
      }
      switch (stays(source), wasThere(target)) {
      case (true, true):
        if item.isMoved || successors[source.section] != target.section {
          moves.append(Move(source: source, target: target))
        }
      case (true, false): removals.append(source)
      case (false, true): insertions.append(target)
      case (false, false): break
      }
    }
  }

  /// Old and new indexes of the items that a difference does not mention.
  private static func unmoved<ID, Key>(
    _ rows: HistoryDifference<ID>, from old: HistorySections<Key>, to new: HistorySections<Key>
  ) -> [(old: Int, new: Int, isMoved: Bool)] {
    let left = Set(rows.removals).union(rows.moves.map(\.source))
    let came = Set(rows.insertions).union(rows.moves.map(\.target))
    return zip(
      (0..<old.itemCount).filter { !left.contains($0) },
      (0..<new.itemCount).filter { !came.contains($0) }
    ).map { ($0, $1, false) }
  }
}
