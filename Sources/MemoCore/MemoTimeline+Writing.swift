package import KVEngine

extension MemoTimeline {
  /// Changes memos in one commit, all or nothing: reads, decides, and commits if nothing was
  /// written meanwhile about what was looked up; else again.
  ///
  /// - Parameters:
  ///   - origin: Who writes, for those who are shown what has changed.
  ///   - durability: When the commit counts as done.
  ///   - now: The wall clock, in microseconds since 1970; asked where changes are recorded.
  ///   - decide: Says what becomes of memos; may be called again, with newer ones.
  /// - Returns: What the last call of `decide` returned. Without a change nothing is written.
  /// - Throws: What `decide` throws, and then nothing is written; what the engine throws
  ///   (`Database.write`).
  package func write<Value>(
    origin: String? = nil, durability: Durability = .full,
    at now: () -> Int64 = { MemoTimestamp.now.microseconds },
    _ decide: (MemoEdits) throws(MemoError) -> Value
  ) throws(MemoError) -> Value {
    // At the second attempt: a number that the first one wanted may have been given away.
    var namesAreOutdated = false
    while true {
      // Held until the write is judged: the sequences it is judged by are kept for held ones only.
      let snapshot = try snapshot()
      defer { withExtendedLifetime(snapshot) {} }
      let edits = MemoEdits(snapshot, NameSource(self, isOutdated: namesAreOutdated), indexer)
      let value = try decide(edits)
      let batch = try edits.batch(origin: origin, at: now)
      if batch.changesNothing { return value }
      if try commit(batch, durability) {
        edits.addedNames.map(adoptAdded)
        if let change = edits.change { note(change, origin) }
        let keys = edits.decisions.collections.changedKeys
        if !keys.isEmpty { note(collectionKeys: keys) }
        return value
      }
      namesAreOutdated = edits.addedNames != nil
    }
  }

  /// Commits a batch unless one of its conditions does not hold.
  ///
  /// - Returns: Whether it was committed; else somebody was faster, and it is time to read again.
  func commit(_ batch: WriteBatch, _ durability: Durability) throws(MemoError) -> Bool {
    do {
      try database.write(batch, durability: durability)
      state.withLock { $0.lastFailure = nil }
      return true
    } catch .preconditionFailed {
      return false
    } catch {
      state.withLock { $0.lastFailure = error }
      throw .database(error)
    }
  }

  // MARK: - One memo

  /// Stores a new memo.
  ///
  /// - Throws: ``MemoError/duplicateID`` if there is a memo with the id, and what the engine throws
  ///   (`Database.write`).
  package func insert(_ memo: Memo, durability: Durability = .full) throws(MemoError) {
    try write(durability: durability) { edits throws(MemoError) in try edits.insert(memo) }
  }

  /// Stores a memo, in place of the one with its id if there is one: see ``MemoEdits/put(_:)``.
  ///
  /// - Returns: The memo that was replaced.
  @discardableResult
  package func upsert(
    _ memo: Memo, durability: Durability = .full
  ) throws(MemoError) -> Memo? {
    try write(durability: durability) { edits throws(MemoError) in
      let old = try edits.memo(for: memo.id)
      try edits.put(memo)
      return old
    }
  }

  /// Deletes the memo with an id.
  ///
  /// - Returns: The memo; `nil` if there was none, and then nothing is written.
  @discardableResult
  package func delete(
    _ id: MemoID, durability: Durability = .full
  ) throws(MemoError) -> Memo? {
    try write(durability: durability) { edits throws(MemoError) in try edits.delete(id) }
  }
}

extension WriteBatch {
  /// Whether there is nothing to write.
  ///
  /// A batch that passed a limit has something, and writing it throws which.
  var changesNothing: Bool { isEmpty && failure == nil }
}
