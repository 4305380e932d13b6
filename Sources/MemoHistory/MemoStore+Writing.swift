internal import MemoCore

extension MemoStore where Entity: MemoEntity {
  /// Stores a new memo; it is durable when the call returns.
  ///
  /// - Parameters:
  ///   - memo: A memo with a new id.
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  /// - Throws: ``MemoError/duplicateID`` if there is a memo with the id,
  ///   ``MemoError/duplicateKey(index:id:)`` if another one has its key in a unique index;
  ///   ``MemoError/invalidID(reason:)`` or ``MemoError/unencodable(reason:)`` if it cannot be
  ///   stored; ``MemoError/database(_:)`` if it could not be written.
  public func insert(_ memo: Entity, origin: String? = nil) async throws(MemoError) {
    try await write(origin) { memos throws(MemoError) in try memos.insert(memo) }
  }

  /// Stores new memos, all or none; they are durable when the call returns, and arrive in their
  /// order.
  ///
  /// - Parameters:
  ///   - memos: Memos with new ids.
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  /// - Throws: As ``insert(_:origin:)``, for the first memo that cannot be stored.
  public func insert(
    contentsOf memos: [Entity], origin: String? = nil
  ) async throws(MemoError) {
    try await write(origin) { transaction throws(MemoError) in
      for memo in memos { try transaction.insert(memo) }
    }
  }

  /// Stores a memo, in place of the one with its id if there is one; durable when it returns.
  ///
  /// Fields of the stored memo that the app's type does not know are kept.
  ///
  /// - Parameters:
  ///   - memo: What is to be stored.
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  /// - Returns: The memo that was replaced.
  /// - Throws: As ``insert(_:origin:)``, without the duplicate id; what reading throws if the
  ///   stored memo does not fit the app's type: it may hold what a newer version of the app knows,
  ///   so it goes only when it is deleted.
  @discardableResult
  public func upsert(_ memo: Entity, origin: String? = nil) async throws(MemoError) -> Entity? {
    try await write(origin) { memos throws(MemoError) in try memos.upsert(memo) }
  }

  /// Stores memos, each in place of the one with its id if there is one, all or none; durable when
  /// it returns.
  ///
  /// - Parameters:
  ///   - memos: What is to be stored; of two with one id the last one stays.
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  /// - Throws: As ``upsert(_:origin:)``, for the first memo that cannot be stored.
  public func upsert(
    contentsOf memos: [Entity], origin: String? = nil
  ) async throws(MemoError) {
    try await write(origin) { transaction throws(MemoError) in
      for memo in memos { try transaction.upsert(memo) }
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
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  ///   - change: Gets the memo as it is; may change everything but the id.
  /// - Returns: The memo as it is stored now.
  /// - Throws: ``MemoError/missingID`` if there is no memo with the id, ``MemoError/changedID`` if
  ///   the closure changed it; else as ``upsert(_:origin:)``.
  @discardableResult
  public func update(
    _ id: Entity.ID, origin: String? = nil, _ change: (inout Entity) -> Void
  ) async throws(MemoError) -> Entity {
    try await update(id, orStartWith: nil, origin, change)
  }

  /// Changes a memo, or one to start with if there is none, and stores it; durable when it returns.
  ///
  /// Otherwise like ``update(_:origin:_:)``.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - entity: What the closure gets when there is no memo with the id; has this id.
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  ///   - change: Gets the memo as it is; may change everything but the id.
  /// - Returns: The memo as it is stored now.
  /// - Throws: As ``update(_:origin:_:)``, but for a missing memo.
  @discardableResult
  public func update(
    _ id: Entity.ID, default entity: Entity, origin: String? = nil,
    _ change: (inout Entity) -> Void
  ) async throws(MemoError) -> Entity {
    try await update(id, orStartWith: entity, origin, change)
  }

  private func update(
    _ id: Entity.ID, orStartWith initial: Entity?, _ origin: String?,
    _ change: (inout Entity) -> Void
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
      let isWritten = try await write(origin) { memos throws(MemoError) in
        guard try memos.edits.memo(for: id) == stored else { return false }
        try memos.upsert(changed)
        return true
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
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  /// - Returns: Whether `old` was stored; if not, nothing is written.
  /// - Throws: ``MemoError/changedID`` if the ids differ; else as ``upsert(_:origin:)``.
  @discardableResult
  public func replace(
    _ old: Entity, with new: Entity, origin: String? = nil
  ) async throws(MemoError) -> Bool {
    try await write(origin) { memos throws(MemoError) in try memos.replace(old, with: new) }
  }

  // MARK: - Transactions

  /// Reads and writes as one: what the closure changes becomes visible and durable together when it
  /// returns, and nothing of it when it throws.
  ///
  /// Takes its turn behind the writes that were called before. Inside the closure,
  /// ``MemoTransaction/perform(_:)`` does a part of it in place; a task that calls this method from
  /// there takes its turn like anybody. When another process writes to a memo that the closure has
  /// looked up by its id, the closure is called again with the newer memo.
  ///
  /// ```swift
  /// try await store.perform { notes in
  ///   guard let last = try notes.latest(1).first, last.text.isEmpty else { return }
  ///   try notes.update(last.id) { $0.text = draft }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  ///   - body: Runs on the store's queue; must not wait for another write of this store.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws; ``MemoError/duplicateKey(index:id:)`` if two memos have one
  ///   key of a unique index in the end; ``MemoError/database(_:)`` if its changes could not be
  ///   written.
  @discardableResult
  public func perform<Value: Sendable>(
    origin: String? = nil,
    _ body: @escaping @Sendable (borrowing MemoTransaction<Entity>) throws -> Value
  ) async throws -> Value {
    let outcome = try await write(origin) {
      memos throws(MemoError) -> Result<Value, any Error> in
      let outcome = Result { try memos.perform(body) }
      return outcome
    }
    return try outcome.get()
  }

  /// Changes memos in one commit, on the store's queue.
  func write<Value: Sendable>(
    _ origin: String?,
    _ body: @escaping @Sendable (borrowing MemoTransaction<Entity>) throws(MemoError) -> Value
  ) async throws(MemoError) -> Value {
    try await onQueue { store throws(MemoError) in try store.writeNow(origin, body) }
  }

  /// Changes memos in one commit, on the caller's thread.
  func writeNow<Value>(
    _ origin: String? = nil,
    _ body: (borrowing MemoTransaction<Entity>) throws(MemoError) -> Value
  ) throws(MemoError) -> Value {
    try timeline.write(
      origin: origin, at: { clock.wallMicroseconds }
    ) { edits throws(MemoError) in
      try body(MemoTransaction(store: self, edits: edits))
    }
  }
}
