internal import KVEngine
internal import MemoCore

// Look-ups are bounded, so they never stand in for an index that is not ready by reading the whole
// store; they throw, and whoever wants to wait does so once, with `indexesAreReady()`.

extension MemoStore where Entity: MemoEntity {
  /// The memo with a key in an index, or `nil` if there is none.
  ///
  /// ```swift
  /// let note = try store.memo(at: [17], in: Note.byNumber)
  /// ```
  ///
  /// - Parameters:
  ///   - key: All values of the key.
  ///   - index: One that the schema declares. In an ordered one it is the newest memo with the key.
  /// - Returns: The memo.
  /// - Throws: ``MemoError/indexNotReady(index:)`` as long as the index is being built, which
  ///   ``indexesAreReady()`` waits for, or when the schema does not declare it;
  ///   ``MemoError/database(_:)`` if stored bytes do not verify or cannot be read.
  /// - Complexity: O(log *n*).
  public func memo(
    at key: [MemoIndexValue], in index: MemoIndex<Entity>
  ) throws(MemoError) -> Entity? {
    try indexed { memos throws(MemoError) in try memos.memo(at: key, in: index) }
  }

  /// Memos in the order of their keys.
  ///
  /// ```swift
  /// let urgent = try store.memos(in: Note.byPriority, from: [3], count: 50)
  /// let drafts = try store.memos(in: Note.byState, from: ["draft"], through: ["draft"])
  /// ```
  ///
  /// - Parameters:
  ///   - index: One that the schema declares; memos that are not in it are left out.
  ///   - lower: The first key, or its first values: then all keys that begin with them belong to
  ///     the range. Default: from the first key on.
  ///   - upper: The last key, or its first values, likewise. Default: up to the last key.
  ///   - count: At most this many. Default: 200.
  ///   - descending: Whether the order is turned around. Default: the least key first, and of one
  ///     key the newest memo.
  /// - Returns: The memos.
  /// - Throws: As ``memo(at:in:)``.
  /// - Complexity: O(`count` log *n*).
  public func memos(
    in index: MemoIndex<Entity>, from lower: [MemoIndexValue] = [],
    through upper: [MemoIndexValue] = [], count: Int = 200, descending: Bool = false
  ) throws(MemoError) -> [Entity] {
    try indexed { memos throws(MemoError) in
      try memos.memos(
        in: index, from: lower, through: upper, count: count, descending: descending)
    }
  }

  /// Waits until every index of the schema can be asked.
  ///
  /// They are built by themselves after the store is opened, in small parts between which writes
  /// take their turns; a process that ends meanwhile goes on the next time. Until then a second
  /// memo with one key of a unique index is not refused in any case: see ``conflictCount(of:)``.
  ///
  /// - Throws: ``MemoError/database(_:)`` if they could not be read or written;
  ///   `CancellationError`, and then building goes on when the store is opened or asked again.
  /// - Complexity: O(memos) for each index that is new, or that a program without the app's schema
  ///   has written past, as kvinspect does.
  public func indexesAreReady() async throws {
    var areReady = false
    while !areReady {
      try Task.checkCancellation()
      areReady = try await onQueue { store throws(MemoError) in
        try store.timeline.buildIndexes()
      }
    }
  }

  /// How many memos an index was built without, because an older one has the same key.
  ///
  /// Such a memo is there like any other, but is not found by the key before it is given another
  /// one.
  ///
  /// - Parameter index: A unique one that the schema declares.
  /// - Returns: Their number when it was built; it does not change after.
  /// - Throws: As ``memo(at:in:)``.
  /// - Complexity: O(1).
  public func conflictCount(of index: MemoIndex<Entity>) throws(MemoError) -> Int {
    try indexed { memos throws(MemoError) in
      try memos.edits.conflictCount(of: index.declaration)
    }
  }

  /// Asks an index; one that is not ready is built, unless that is going on.
  func indexed<Value>(
    _ body: (borrowing MemoReader<Entity>) throws(MemoError) -> Value
  ) throws(MemoError) -> Value {
    do {
      return try body(MemoReader(store: self, edits: try MemoEdits(reading: try timeline)))
    } catch {
      if case .indexNotReady = error { buildIndexes() }
      throw error
    }
  }

  /// Builds what indexes need on the store's queue, part by part, unless that is going on.
  func buildIndexes() {
    let isBuilding = isBuildingIndexes.withLock { isBuilding in
      defer { isBuilding = true }
      return isBuilding
    }
    if !isBuilding { buildNextPart() }
  }

  private func buildNextPart() {
    // Nobody keeps a store for its indexes; what is missing is built when it is opened again.
    let completion: @Sendable (Result<Bool, MemoError>) -> Void = { [weak self] outcome in
      if case .success(false) = outcome { return self?.buildNextPart() ?? () }
      self?.isBuildingIndexes.withLock { $0 = false }
      // Lists that wait for an index are read again.
      if case .success = outcome { self?.open.noteRefreshed() }
    }
    enqueue({ store throws(MemoError) in try store.timeline.buildIndexes() }, completion)
  }
}
