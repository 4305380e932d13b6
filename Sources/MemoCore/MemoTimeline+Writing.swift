package import KVEngine

extension MemoTimeline {
  /// Stores a new memo.
  ///
  /// - Throws: ``MemoError/duplicateID`` if there is a memo with the id, and what the engine throws
  ///   (`Database.write`).
  package func insert(_ memo: Memo, durability: Durability = .full) throws(MemoError) {
    try change(memo.id, durability: durability) { (found, batch) throws(MemoError) in
      guard found == nil else { throw .duplicateID }
      batch.insert(memo)
      return ()
    }
  }

  /// Stores a memo, in place of the one with its id if there is one.
  ///
  /// The memo keeps its place among memos of the same instant; when the instant changes it moves,
  /// in the same batch.
  ///
  /// - Returns: The memo that was replaced.
  @discardableResult
  package func upsert(
    _ memo: Memo, durability: Durability = .full
  ) throws(MemoError) -> Memo? {
    try change(memo.id, durability: durability) { (found, batch) throws(MemoError) in
      batch.upsert(memo, over: found)
      return found?.memo
    }
  }

  /// Deletes the memo with an id.
  ///
  /// - Returns: The memo; `nil` if there was none, and then nothing is written.
  @discardableResult
  package func delete(
    _ id: MemoID, durability: Durability = .full
  ) throws(MemoError) -> Memo? {
    try change(id, durability: durability) { (found, batch) throws(MemoError) in
      if let found { batch.delete(found) }
      return found?.memo
    }
  }

  /// Reads, decides, and commits if nothing was written about the id meanwhile; else again.
  private func change<Value>(
    _ id: MemoID, durability: Durability,
    _ decide: (Found?, inout WriteBatch) throws(MemoError) -> Value
  ) throws(MemoError) -> Value {
    while true {
      // Held until the write is judged: the sequences it is judged by are kept for held ones only.
      let snapshot = try snapshot()
      defer { withExtendedLifetime(snapshot) {} }
      var batch = WriteBatch()
      let found = try find(id, in: snapshot)
      let value = try decide(found, &batch)
      if batch.changesNothing { return value }
      batch.requireUnchanged(id, found, since: snapshot)
      do {
        try database.write(batch, durability: durability)
        return value
      } catch .preconditionFailed {
        continue
      } catch {
        throw .database(error)
      }
    }
  }
}

extension WriteBatch {
  /// Whether there is nothing to write.
  ///
  /// A batch that passed a limit has something, and writing it throws which.
  var changesNothing: Bool { isEmpty && failure == nil }

  /// Demands that nothing was written about an id since a snapshot, in which it named `found`.
  ///
  /// A change in place leaves the id's entry alone, so the memo is watched as well.
  mutating func requireUnchanged(
    _ id: MemoID, _ found: MemoTimeline.Found?, since snapshot: Snapshot
  ) {
    require(
      unchangedPrefix: IDKey.prefix(hash: id.hash64), since: snapshot.sequence,
      in: MemoSpace.ids)
    if let found {
      require(unchanged: found.key.encode(), since: snapshot.sequence, in: MemoSpace.memos)
    }
  }

  /// Adds a memo under an arrival number that the commit gives it.
  mutating func insert(_ memo: Memo) {
    let operation = operationCount
    let key = MemoKey(microseconds: memo.createdAt.microseconds, arrival: 0)
    put(
      MemoRecord.encode(memo), forKey: key.encode(), in: MemoSpace.memos, kind: .insertion,
      slot: KeySlot(offset: MemoKey.arrivalOffset, operation: operation, isInverted: true))
    put(
      [], forKey: IDKey(hash: memo.id.hash64, memoKey: key).encode(), in: MemoSpace.ids,
      kind: .put,
      slot: KeySlot(offset: IDKey.arrivalOffset, operation: operation, isInverted: false))
  }

  /// Adds a memo, in place of the stored one if there is one.
  mutating func upsert(_ memo: Memo, over found: MemoTimeline.Found?) {
    guard let found else {
      insert(memo)
      return
    }
    if found.key.microseconds == memo.createdAt.microseconds {
      put(
        MemoRecord.encode(memo), forKey: found.key.encode(), in: MemoSpace.memos, kind: .put)
    } else {
      delete(found)
      insert(memo)
    }
  }

  /// Deletes a stored memo and its id's entry.
  mutating func delete(_ found: MemoTimeline.Found) {
    delete(found.key.encode(), in: MemoSpace.memos, kind: .removal)
    delete(found.idKey.encode(), in: MemoSpace.ids, kind: .tombstone)
  }
}
