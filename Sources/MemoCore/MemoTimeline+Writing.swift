package import KVEngine

extension MemoTimeline {
  /// Stores a new memo.
  ///
  /// - Throws: ``MemoError/duplicateID`` if there is a memo with the id, and what the engine throws
  ///   (`Database.write`).
  package func insert(_ memo: Memo, durability: Durability = .full) throws(MemoError) {
    try change(memo.id, durability: durability) { (found, _, batch) throws(MemoError) in
      guard found == nil else { throw .duplicateID }
      batch.insert(memo)
      return ()
    }
  }

  /// Stores a memo, in place of the one with its id if there is one.
  ///
  /// The memo keeps its place among memos of the same instant; when the instant changes it moves,
  /// in the same batch. One without a payload keeps what is there.
  ///
  /// - Returns: The memo that was replaced.
  @discardableResult
  package func upsert(
    _ memo: Memo, durability: Durability = .full
  ) throws(MemoError) -> Memo? {
    try change(memo.id, durability: durability) { (found, _, batch) throws(MemoError) in
      var memo = memo
      if let found { memo.inheritPayload(of: found.memo) }
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
    try change(id, .deleted, durability: durability) { (found, _, batch) throws(MemoError) in
      if let found { batch.delete(found) }
      return found?.memo
    }
  }

  /// What becomes of a memo.
  package enum Edit: Sendable {
    /// It stays as it is; nothing is written.
    case none
    case put(Memo)
  }

  /// Reads a memo, decides, and commits if nothing was written about the id meanwhile; else again.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - durability: When the commit counts as done.
  ///   - decide: Called with the memo, if there is one, and the names of fields; may be called
  ///     again. A payload that it makes may use names that it adds to them.
  /// - Returns: What the last call of `decide` returned beside the edit.
  /// - Throws: What `decide` throws, and what the engine throws (`Database.write`).
  package func edit<Value>(
    _ id: MemoID, durability: Durability = .full,
    _ decide: (Memo?, inout NameSource) throws(MemoError) -> (edit: Edit, value: Value)
  ) throws(MemoError) -> Value {
    var added: MemoNames?
    let value = try change(id, durability: durability) {
      (found, snapshot, batch) throws(MemoError) in
      // At the second attempt: a number that the first one wanted may have been given away.
      var source = NameSource(self, isOutdated: added != nil)
      added = nil
      let (edit, value) = try decide(found?.memo, &source)
      guard case .put(let memo) = edit else { return value }
      batch.upsert(memo, over: found)
      guard let names = source.names else { return value }
      batch.add(names)
      if names.raisesSchemaVersion { try Self.raise(names.schemaVersion, in: snapshot, &batch) }
      if names.raisesSchemaVersion || !names.added.isEmpty { added = names }
      return value
    }
    if var names = added {
      names.becomeStored()
      adopt(names)
    }
    return value
  }

  /// Adds the schema version by which the batch is written, unless the store has a newer one.
  private static func raise(
    _ version: UInt64, in snapshot: Snapshot, _ batch: inout WriteBatch
  ) throws(MemoError) {
    guard try names(in: snapshot, { _ in }).schemaVersion < version else { return }
    var value: [UInt8] = []
    value.append(varint: version)
    batch.put(value, forKey: MemoNames.schemaKey, in: MemoSpace.meta)
    batch.require(
      unchanged: MemoNames.schemaKey, since: snapshot.sequence, in: MemoSpace.meta)
  }

  /// Reads, decides, and commits if nothing was written about the id meanwhile; else again.
  ///
  /// Unless `kind` says what the change was, it was an insertion or an update.
  func change<Value>(
    _ id: MemoID, _ kind: MemoChange? = nil, durability: Durability,
    _ decide: (Found?, Snapshot, inout WriteBatch) throws(MemoError) -> Value
  ) throws(MemoError) -> Value {
    while true {
      // Held until the write is judged: the sequences it is judged by are kept for held ones only.
      let snapshot = try snapshot()
      defer { withExtendedLifetime(snapshot) {} }
      var batch = WriteBatch()
      let found = try find(id, in: snapshot)
      let value = try decide(found, snapshot, &batch)
      if batch.changesNothing { return value }
      batch.requireUnchanged(id, found, since: snapshot)
      if try commit(batch, durability) {
        note(kind ?? (found == nil ? .inserted : .updated))
        return value
      }
    }
  }

  /// Commits a batch unless one of its conditions does not hold.
  ///
  /// - Returns: Whether it was committed; else somebody was faster, and it is time to read again.
  func commit(_ batch: WriteBatch, _ durability: Durability) throws(MemoError) -> Bool {
    do {
      try database.write(batch, durability: durability)
      return true
    } catch .preconditionFailed {
      return false
    } catch {
      throw .database(error)
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
