internal import MemoCore

/// The memos of a store at one moment, for the length of one closure.
///
/// Whatever is written meanwhile, all that is asked of it fits together.
public struct MemoReader<Entity: MemoEntity>: ~Copyable {
  let store: MemoStore<Entity>
  let edits: MemoEdits

  /// The newest memos, newest first; of equal times the later arrival first.
  ///
  /// - Parameter count: At most this many.
  /// - Returns: The memos; fewer than `count` when there are no more.
  /// - Throws: As ``MemoStore/latest(_:unreadable:)``.
  /// - Complexity: O(`count`).
  public func latest(_ count: Int) throws(MemoError) -> [Entity] {
    try page(count: count).memos
  }

  /// The memos that follow a page, newest first.
  ///
  /// - Parameters:
  ///   - position: Where the page before ended; `nil` begins with the newest memo.
  ///   - count: At most this many.
  /// - Returns: The memos and where the next page begins.
  /// - Throws: As ``MemoStore/latest(_:unreadable:)``.
  /// - Complexity: O(`count`).
  public func page(
    after position: PagePosition? = nil, count: Int = 200
  ) throws(MemoError) -> MemoStore<Entity>.Page {
    let page = try edits.page(after: position?.key, count: count)
    var memos: [Entity] = []
    memos.reserveCapacity(page.memos.count)
    for memo in page.memos { memos.append(try entity(of: memo)) }
    return MemoStore.Page(memos: memos, next: page.next.map(PagePosition.init))
  }

  /// The memo with an id, or `nil` if there is none.
  ///
  /// - Parameter id: What names the memo.
  /// - Returns: The memo.
  /// - Throws: As ``MemoStore/memo(for:)``.
  public func memo(for id: Entity.ID) throws(MemoError) -> Entity? {
    guard let memo = try edits.memo(for: try id.memoID) else { return nil }
    return try entity(of: memo)
  }

  /// Number of memos.
  ///
  /// - Returns: All memos of the moment.
  /// - Complexity: O(1).
  public func count() -> Int { edits.memoCount }

  /// Number of memos that are not older than an instant.
  ///
  /// - Parameter instant: The oldest time that counts.
  /// - Returns: How many there are.
  /// - Throws: ``MemoError/database(_:)`` if stored bytes do not verify or cannot be read.
  /// - Complexity: O(the number); nothing of the memos is decoded.
  public func count(since instant: MemoTimestamp) throws(MemoError) -> Int {
    try edits.memoCount(sinceMicroseconds: instant.microseconds)
  }

  /// The memo with a key in an index, or `nil` if there is none.
  ///
  /// - Parameters:
  ///   - key: All values of the key.
  ///   - index: One that the schema declares. In an ordered one it is the newest memo with the key.
  /// - Returns: The memo.
  /// - Throws: As ``MemoStore/memo(at:in:)``.
  public func memo(
    at key: [MemoIndexValue], in index: MemoIndex<Entity>
  ) throws(MemoError) -> Entity? {
    guard let memo = try edits.memo(at: key, in: index.declaration) else { return nil }
    return try entity(of: memo)
  }

  /// Memos in the order of their keys.
  ///
  /// - Parameters:
  ///   - index: One that the schema declares; memos that are not in it are left out.
  ///   - lower: The first key, or its first values.
  ///   - upper: The last key, or its first values.
  ///   - count: At most this many. Default: 200.
  ///   - descending: Whether the order is turned around.
  /// - Returns: The memos.
  /// - Throws: As ``MemoStore/memos(in:from:through:count:descending:)``.
  public func memos(
    in index: MemoIndex<Entity>, from lower: [MemoIndexValue] = [],
    through upper: [MemoIndexValue] = [], count: Int = 200, descending: Bool = false
  ) throws(MemoError) -> [Entity] {
    var memos: [Entity] = []
    for memo in try edits.storedMemos(
      in: index.declaration, from: lower, through: upper, count: count, descending: descending)
    {
      memos.append(try entity(of: memo))
    }
    return memos
  }

  private func entity(of memo: Memo) throws(MemoError) -> Entity {
    try store.coder.entity(of: memo, &edits.names)
  }
}
