internal import MemoCore

extension MemoStore where Entity: MemoEntity {
  /// Stores a new memo; it is durable when the call returns.
  ///
  /// - Throws: ``MemoError/duplicateID`` if there is a memo with the id;
  ///   ``MemoError/invalidID(reason:)`` or ``MemoError/unencodable(reason:)`` if it cannot be
  ///   stored; ``MemoError/database(_:)`` if it could not be written.
  public func insert(_ memo: Entity) async throws(MemoError) {
    try await perform { store throws(MemoError) in try store.insertNow(memo) }
  }

  func insertNow(_ memo: Entity) throws(MemoError) {
    try timeline.edit(try memo.id.memoID) { (stored, names) throws(MemoError) in
      guard stored == nil else { throw .duplicateID }
      return (.put(try coder.memo(for: memo, over: nil, &names)), ())
    }
  }

  /// Stores a memo, in place of the one with its id if there is one; durable when it returns.
  ///
  /// Fields of the stored memo that the app's type does not know are kept.
  ///
  /// - Returns: The memo that was replaced.
  /// - Throws: As ``insert(_:)``, without the duplicate; what reading throws if the stored memo
  ///   does not fit the app's type: it may hold what a newer version of the app knows, so it goes
  ///   only when it is deleted.
  @discardableResult
  public func upsert(_ memo: Entity) async throws(MemoError) -> Entity? {
    try await perform { store throws(MemoError) in try store.upsertNow(memo) }
  }

  @discardableResult
  func upsertNow(_ memo: Entity) throws(MemoError) -> Entity? {
    try timeline.edit(try memo.id.memoID) { (stored, names) throws(MemoError) in
      var old: Entity?
      if let stored { old = try coder.entity(of: stored, &names) }
      return (try coder.edit(memo, over: stored, &names), old)
    }
  }

  /// Changes a memo and stores it; durable when it returns.
  ///
  /// Only what the closure changes is changed, whoever else writes to the memo at the same time:
  /// when that happens, the closure is called again with the newer memo. It runs in the caller's
  /// isolation, with no lock held, and has returned when this call returns, so it may use `self`
  /// freely. When it changes nothing, nothing is written.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - change: Gets the memo as it is; may change everything but the id.
  /// - Returns: The memo as it is stored now.
  /// - Throws: ``MemoError/missingID`` if there is no memo with the id, ``MemoError/changedID`` if
  ///   the closure changed it; else as ``upsert(_:)``.
  @discardableResult
  public func update(
    _ id: Entity.ID, _ change: (inout Entity) -> Void
  ) async throws(MemoError) -> Entity {
    try await update(id, orStartWith: nil, change)
  }

  /// Changes a memo, or one to start with if there is none, and stores it; durable when it returns.
  ///
  /// Otherwise like ``update(_:_:)``.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - entity: What the closure gets when there is no memo with the id; has this id.
  ///   - change: Gets the memo as it is; may change everything but the id.
  /// - Returns: The memo as it is stored now.
  /// - Throws: As ``update(_:_:)``, but for a missing memo.
  @discardableResult
  public func update(
    _ id: Entity.ID, default entity: Entity, _ change: (inout Entity) -> Void
  ) async throws(MemoError) -> Entity {
    try await update(id, orStartWith: entity, change)
  }

  private func update(
    _ id: Entity.ID, orStartWith initial: Entity?, _ change: (inout Entity) -> Void
  ) async throws(MemoError) -> Entity {
    let id = try id.memoID
    while true {
      let stored = try timeline.memo(for: id)
      var memo = initial
      if let stored { memo = try entity(of: stored) }
      guard var changing = memo else { throw .missingID }
      change(&changing)
      guard try changing.id.memoID == id else { throw .changedID }
      let changed = changing
      let isWritten = try await perform { store throws(MemoError) in
        try store.timeline.edit(id) { (current, names) throws(MemoError) in
          guard current == stored else { return (.none, false) }
          return (try store.coder.edit(changed, over: current, &names), true)
        }
      }
      if isWritten { return changed }
    }
  }

  /// Stores a memo in place of another version of it, if that is still the stored one; durable when
  /// it returns.
  ///
  /// - Parameters:
  ///   - old: The version that must be stored, compared with `==`.
  ///   - new: The version that takes its place; has the same id.
  /// - Returns: Whether `old` was stored; if not, nothing is written.
  /// - Throws: ``MemoError/changedID`` if the ids differ; else as ``upsert(_:)``.
  @discardableResult
  public func replace(_ old: Entity, with new: Entity) async throws(MemoError) -> Bool {
    try await perform { store throws(MemoError) in try store.replaceNow(old, with: new) }
  }

  func replaceNow(_ old: Entity, with new: Entity) throws(MemoError) -> Bool {
    let id = try old.id.memoID
    guard try new.id.memoID == id else { throw .changedID }
    return try timeline.edit(id) { (stored, names) throws(MemoError) in
      guard let stored, try coder.entity(of: stored, &names) == old else {
        return (.none, false)
      }
      return (try coder.edit(new, over: stored, &names), true)
    }
  }
}

extension EntityCoder where Entity: MemoEntity {
  /// What storing an entity does to the stored memo.
  fileprivate func edit(
    _ entity: Entity, over stored: Memo?, _ names: inout NameSource
  ) throws(MemoError) -> MemoTimeline.Edit {
    let memo = try memo(for: entity, over: stored, &names)
    return memo == stored ? .none : .put(memo)
  }
}
