internal import MemoCore
internal import TextSearch

/// Which memos are wanted, and how a list shows them.
///
/// A query without ``filter`` and ``search`` costs the same in any store. With one of them every
/// memo may have to be read until ``limit`` are found; live histories do that on a queue of their
/// own, and stop when the query changes.
public struct MemoQuery<Entity: MemoEntity>: Sendable {
  /// How many of the newest memos, at least 1; a smaller number counts as 1.
  ///
  /// So many memos are held in memory, and none beside them.
  public var limit: Int
  /// In which order; see ``MemoOrder``.
  public var order: MemoOrder<Entity>
  /// Which end of the list stays where it is when memos come and go; see ``HistoryAnchor``.
  ///
  /// Has no effect in the order of an index, where there is no new end.
  public var anchor: HistoryAnchor
  /// What the text of each memo has to hold; empty for any text.
  ///
  /// Parts that are separated by white space have to be there all, in any order, as substrings, in
  /// any script; one between quotation marks may have white space. Forms of a character are the
  /// same as ``TextFolding/standard`` says. A search of more than 1,024 bytes or 32 parts is an
  /// error of whatever reads the query: ``MemoError/invalidSearch(reason:)``.
  public var search: String
  /// Decides by the whole memo whether it is wanted; `nil` takes all.
  ///
  /// Called on any thread for each memo that is read, again for every list, and by a
  /// ``LiveHistory`` on the main actor for its own edits; must not wait for the main actor. A list
  /// is read anew when another closure is set, never because what a closure looks at has changed.
  public var filter: (@Sendable (Entity) -> Bool)? {
    didSet { filterIdentity = filter == nil ? nil : RuleIdentity() }
  }
  /// By what the list has headers; `nil` for none.
  public var sections: MemoSections<Entity>?
  private var filterIdentity: RuleIdentity?

  /// The newest memos, or the first ones in another order.
  ///
  /// - Parameters:
  ///   - limit: How many. Default: 200, which is what fits on some screens.
  ///   - order: In which order. Default: the newest first.
  ///   - anchor: Which end stays. Default: the newest one.
  ///   - search: What their texts have to hold. Default: nothing.
  ///   - sections: By what the list has headers. Default: none.
  ///   - filter: Decides which of them are wanted. Default: all.
  public init(
    limit: Int = 200, order: MemoOrder<Entity> = .newest, anchor: HistoryAnchor = .newest,
    search: String = "", sections: MemoSections<Entity>? = nil,
    filter: (@Sendable (Entity) -> Bool)? = nil
  ) {
    self.limit = limit
    self.order = order
    self.anchor = anchor
    self.search = search
    self.sections = sections
    self.filter = filter
    filterIdentity = filter == nil ? nil : RuleIdentity()
  }

  /// The limit within reason: numbers above it only make sums overflow.
  var usedLimit: Int { min(max(1, limit), Int(Int32.max)) }

  var selection: MemoSelection<Entity> {
    get throws(MemoError) {
      MemoSelection(order: order, text: try SearchQuery.typed(search), filter: filter)
    }
  }

  /// The search; `nil` for one that is refused.
  private var text: SearchQuery? { try? SearchQuery(search) }

  /// Whether a read looks at no more memos than it returns.
  var isBounded: Bool { filter == nil && text?.isEmpty ?? false }

  /// Whether both want the same memos, however many; two searches that are refused want none.
  func hasSelection(of other: MemoQuery) -> Bool {
    order == other.order && filterIdentity === other.filterIdentity && text == other.text
  }

  /// Whether the list of another query is that of this one, apart from what its anchor kept.
  func isAnswered(by other: MemoQuery) -> Bool {
    usedLimit == other.usedLimit && sections == other.sections && hasSelection(of: other)
  }
}

/// Tells closures apart, which cannot be compared.
final class RuleIdentity: Sendable {}

/// Which memos a query wants, however many.
struct MemoSelection<Entity: MemoEntity>: Sendable {
  let order: MemoOrder<Entity>
  let text: SearchQuery
  let filter: (@Sendable (Entity) -> Bool)?

  func includes(_ entity: Entity) -> Bool {
    var folded = FoldedText()
    return order.includes(entity) && text.finds(entity.text, folded: &folded)
      && filter?(entity) ?? true
  }
}
