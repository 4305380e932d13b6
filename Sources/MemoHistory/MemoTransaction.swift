internal import MemoCore

/// Changes to memos that become visible and durable together, or not at all.
///
/// What it reads is one moment with its own changes on top.
public struct MemoTransaction<Entity: MemoEntity>: ~Copyable {
  let store: MemoStore<Entity>
  let edits: MemoEdits

  private var coder: EntityCoder<Entity> { store.coder }
  private var reader: MemoReader<Entity> { MemoReader(store: store, edits: edits) }

  // MARK: - Reading

  /// The newest memos, newest first, with the changes so far.
  ///
  /// - Parameter count: At most this many.
  /// - Returns: The memos; fewer than `count` when there are no more.
  /// - Throws: As ``MemoStore/latest(_:unreadable:)``.
  /// - Complexity: O(`count` + changes so far).
  public func latest(_ count: Int) throws(MemoError) -> [Entity] {
    try reader.latest(count)
  }

  /// The memo with an id, with the changes so far, or `nil` if there is none.
  ///
  /// - Parameter id: What names the memo.
  /// - Returns: The memo.
  /// - Throws: As ``MemoStore/memo(for:)``.
  public func memo(for id: Entity.ID) throws(MemoError) -> Entity? {
    try reader.memo(for: id)
  }

  /// The memo with a key in an index, with the changes so far, or `nil` if there is none.
  ///
  /// - Parameters:
  ///   - key: All values of the key.
  ///   - index: One that the schema declares. In an ordered one it is the newest memo with the key.
  /// - Returns: The memo.
  /// - Throws: As ``MemoStore/memo(at:in:)``.
  /// - Complexity: O(log *n* + changes so far).
  public func memo(
    at key: [MemoIndexValue], in index: MemoIndex<Entity>
  ) throws(MemoError) -> Entity? {
    try reader.memo(at: key, in: index)
  }

  /// Number of memos, with the changes so far.
  ///
  /// - Returns: All memos.
  /// - Complexity: O(changes so far).
  public func count() -> Int { reader.count() }

  /// Number of memos that are not older than an instant, with the changes so far.
  ///
  /// - Parameter instant: The oldest time that counts.
  /// - Returns: How many there are.
  /// - Throws: ``MemoError/database(_:)`` if stored bytes do not verify or cannot be read.
  /// - Complexity: O(the number + changes so far).
  public func count(since instant: MemoTimestamp) throws(MemoError) -> Int {
    try reader.count(since: instant)
  }

  // MARK: - Writing

  /// Stores a new memo.
  ///
  /// - Parameter memo: A memo with a new id.
  /// - Throws: As ``MemoStore/insert(_:origin:)``.
  public func insert(_ memo: Entity) throws(MemoError) {
    try edits.insert(try coder.memo(for: memo, over: nil, &edits.names))
  }

  /// Stores a memo, in place of the one with its id if there is one.
  ///
  /// - Parameter memo: What is to be stored.
  /// - Returns: The memo that was replaced.
  /// - Throws: As ``MemoStore/upsert(_:origin:)``.
  @discardableResult
  public func upsert(_ memo: Entity) throws(MemoError) -> Entity? {
    let stored = try edits.memo(for: try memo.id.memoID)
    var old: Entity?
    if let stored { old = try coder.entity(of: stored, &edits.names) }
    try put(memo, over: stored)
    return old
  }

  /// Changes a memo.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - change: Gets the memo as it is; may change everything but the id.
  /// - Returns: The memo as it is stored then.
  /// - Throws: As ``MemoStore/update(_:origin:_:)``.
  @discardableResult
  public func update(
    _ id: Entity.ID, _ change: (inout Entity) -> Void
  ) throws(MemoError) -> Entity {
    try update(id, orStartWith: nil, change)
  }

  /// Changes a memo, or one to start with if there is none.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - entity: What the closure gets when there is no memo with the id; has this id.
  ///   - change: Gets the memo as it is; may change everything but the id.
  /// - Returns: The memo as it is stored then.
  /// - Throws: As ``MemoStore/update(_:default:origin:_:)``.
  @discardableResult
  public func update(
    _ id: Entity.ID, default entity: Entity, _ change: (inout Entity) -> Void
  ) throws(MemoError) -> Entity {
    try update(id, orStartWith: entity, change)
  }

  private func update(
    _ id: Entity.ID, orStartWith initial: Entity?, _ change: (inout Entity) -> Void
  ) throws(MemoError) -> Entity {
    let id = try id.memoID
    let stored = try edits.memo(for: id)
    var memo = initial
    if let stored { memo = try coder.entity(of: stored, &edits.names) }
    guard var changed = memo else { throw .missingID }
    change(&changed)
    guard try changed.id.memoID == id else { throw .changedID }
    try put(changed, over: stored)
    return changed
  }

  /// Stores a memo in place of another version of it, if that is still the stored one.
  ///
  /// - Parameters:
  ///   - old: The version that must be stored, compared with `==`.
  ///   - new: The version that takes its place; has the same id.
  /// - Returns: Whether `old` was stored; if not, nothing changes.
  /// - Throws: As ``MemoStore/replace(_:with:origin:)``.
  @discardableResult
  public func replace(_ old: Entity, with new: Entity) throws(MemoError) -> Bool {
    let id = try old.id.memoID
    guard try new.id.memoID == id else { throw .changedID }
    guard let stored = try edits.memo(for: id),
      try coder.entity(of: stored, &edits.names) == old
    else { return false }
    try put(new, over: stored)
    return true
  }

  /// Deletes the memo with an id so that it can be undone.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - period: For how long it can be undone, at least zero. Default: three seconds.
  /// - Returns: What can be undone; `nil` if there was no such memo, or if this transaction has
  ///   inserted it: then there is nothing to bring back.
  /// - Throws: As ``MemoStore/delete(_:undoWithin:origin:)``.
  @discardableResult
  public func delete(
    _ id: Entity.ID, undoWithin period: Duration = .seconds(3)
  ) throws(MemoError) -> MemoDeletion? {
    let undo = period.clampedMicroseconds
    return try edits.delete(
      try id.memoID, at: store.clock.wallMicroseconds, undoMicroseconds: undo,
      trashMicroseconds: max(undo, store.trashPeriod.clampedMicroseconds)
    ).map(MemoDeletion.init)
  }

  /// Brings a deleted memo back, the same in every field and at the same place.
  ///
  /// - Parameter deletion: Of this transaction or an earlier one.
  /// - Throws: As ``MemoStore/undo(_:origin:)``.
  public func undo(_ deletion: MemoDeletion) throws(MemoError) {
    try edits.restore(
      deletion.key, now: store.clock.wallMicroseconds, openFor: store.openFor)
  }

  /// Does a part of the transaction: when it throws, its changes are taken back and the others
  /// stay.
  ///
  /// Nothing is written before the whole transaction ends.
  ///
  /// - Parameter body: Gets this transaction.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  @discardableResult
  public func perform<Value, Failure: Error>(
    _ body: (borrowing MemoTransaction<Entity>) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let decisions = edits.decisions
    do {
      return try body(self)
    } catch {
      edits.decisions = decisions
      throw error
    }
  }

  private func put(_ entity: Entity, over stored: Memo?) throws(MemoError) {
    try edits.put(try coder.memo(for: entity, over: stored, &edits.names))
  }
}
