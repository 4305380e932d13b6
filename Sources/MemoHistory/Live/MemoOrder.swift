internal import KVEngine
internal import MemoCore

/// In which order a query wants memos.
///
/// ```swift
/// notes.query.order = .key(Note.byDueDate)
/// notes.query.order = .key(Note.byState, from: ["draft"], through: ["draft"])
/// ```
public struct MemoOrder<Entity: MemoEntity>: Sendable {
  /// A range of an index; `nil` for the newest first.
  let range: IndexRange?

  struct IndexRange: Sendable {
    let index: MemoIndex<Entity>
    let lower: [MemoIndexValue]
    let upper: [MemoIndexValue]
    let descending: Bool
  }

  /// The newest memos first: all there are.
  public static var newest: MemoOrder { MemoOrder(range: nil) }

  /// By the key of an index, with the memos that are in it.
  ///
  /// As long as the index is being built, after an update of the app that brought it, a list says
  /// ``MemoError/indexNotReady(index:)`` and keeps what it shows; it is read again when the index
  /// is there.
  ///
  /// - Parameters:
  ///   - index: One that the schema declares.
  ///   - lower: The first key, or its first values. Default: from the first key on.
  ///   - upper: The last key, or its first values, with all keys that begin with them. Default: up
  ///     to the last key.
  ///   - descending: Whether the order is turned around. Default: the least key first, and of one
  ///     key the newest memo.
  /// - Returns: The order.
  public static func key(
    _ index: MemoIndex<Entity>, from lower: [MemoIndexValue] = [],
    through upper: [MemoIndexValue] = [], descending: Bool = false
  ) -> MemoOrder {
    MemoOrder(
      range: IndexRange(index: index, lower: lower, upper: upper, descending: descending))
  }
}

extension MemoOrder: Equatable {
  /// Whether two orders are the same.
  ///
  /// - Parameters:
  ///   - left: An order.
  ///   - right: Another one.
  /// - Returns: Whether index, range and direction are.
  public static func == (left: MemoOrder, right: MemoOrder) -> Bool {
    guard let one = left.range, let other = right.range else {
      return left.range == nil && right.range == nil
    }
    return one.index.declaration == other.index.declaration && one.descending == other.descending
      && one.bounds.lower == other.bounds.lower && one.bounds.upper == other.bounds.upper
  }
}

// The place of one memo among others, as the store will read them: for an edit that is shown before
// it is written.

extension MemoOrder {
  /// Whether a memo belongs to the list.
  func includes(_ entity: Entity) -> Bool {
    guard let range else { return true }
    return range.key(of: entity).map(range.contains) ?? false
  }

  /// Whether one memo stands before another that has been there before it.
  ///
  /// Of equal keys and instants the one that comes later stands first, as it arrives later. One
  /// that is changed has arrived before, which cannot be seen in it: among its equals it may stand
  /// elsewhere until it is read.
  func places(_ entity: Entity, before other: Entity) -> Bool {
    let isNewer = entity.createdAt.microseconds >= other.createdAt.microseconds
    guard let range else { return isNewer }
    guard let key = range.key(of: entity), let otherKey = range.key(of: other) else { return false }
    let order = compareBytes(key, otherKey)
    let isFirst = order == 0 ? isNewer : order < 0
    return isFirst != range.descending
  }

  /// Whether a change of a memo leaves it where it is.
  func keepsPlace(_ old: Entity, _ new: Entity) -> Bool {
    guard old.createdAt.microseconds == new.createdAt.microseconds else { return false }
    return range.map { $0.key(of: old) == $0.key(of: new) } ?? true
  }
}

extension MemoOrder.IndexRange {
  /// The bytes by which the store orders a memo; `nil` for one that is not in the index.
  fileprivate func key(of entity: Entity) -> [UInt8]? {
    guard let values = index.key(entity) else { return nil }
    let key = MemoIndexKey(number: 0, values: values)
    return key.canBeStored ? key.encode() : nil
  }

  /// The first key, and the first one behind the last; `nil` when there is none.
  fileprivate var bounds: (lower: [UInt8], upper: [UInt8]?) {
    (
      MemoIndexKey(number: 0, values: lower).encode(),
      MemoIndexKey(number: 0, values: upper).encode().prefixSuccessor
    )
  }

  fileprivate func contains(_ key: [UInt8]) -> Bool {
    let (lower, upper) = bounds
    return compareBytes(lower, key) <= 0 && upper.map { compareBytes(key, $0) < 0 } ?? true
  }
}
