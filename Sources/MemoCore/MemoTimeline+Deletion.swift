package import KVEngine

// Deleting moves a memo into the trash space, undoing moves it back, each in one batch that fails
// when anything was written about the memo meanwhile; so of an undo, an expiry and a second delete
// at the same time one wins, and the others see it (promise P14).

extension MemoTimeline {
  /// Deletes the memo with an id so that it can be brought back.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - now: The wall clock, in microseconds since 1970.
  ///   - undo: For how long the deletion can be undone, in microseconds.
  ///   - trash: For how long the memo stays in the trash; at least as long.
  ///   - durability: When the deletion counts as done.
  /// - Returns: What can be undone; `nil` if there is no such memo, and then nothing is written.
  /// - Throws: ``MemoError/database(_:)``.
  package func delete(
    _ id: MemoID, at now: Int64, undoMicroseconds undo: UInt64, trashMicroseconds trash: UInt64,
    durability: Durability = .full
  ) throws(MemoError) -> DeletedMemo? {
    try change(id, .deleted, durability: durability) { (found, _, batch) throws(MemoError) in
      guard let found else { return nil }
      let range = MemoTimestamp.supportedMicroseconds
      let deleted = DeletedMemo(
        key: TrashKey(
          deletedAt: min(max(now, range.lowerBound), range.upperBound),
          arrival: found.key.arrival),
        memo: found.memo, undoMicroseconds: undo, trashMicroseconds: trash)
      batch.delete(found)
      batch.put(
        deleted.encode(), forKey: deleted.key.encode(), in: MemoSpace.trash, kind: .insertion)
      return deleted
    }
  }

  /// Brings a deleted memo back, the same in every field and at the same place.
  ///
  /// - Parameters:
  ///   - key: Which one.
  ///   - now: The wall clock; with `open` it says whether the deletion can still be undone. Without
  ///     it the memo comes back as long as it is in the trash.
  ///   - open: How long this process has had the store open without a pause, in microseconds.
  ///   - durability: When it counts as done.
  /// - Returns: The memo.
  /// - Throws: ``MemoError/deletionExpired`` when it is not in the trash any more or cannot be
  ///   undone, ``MemoError/duplicateID`` when there is a memo with its id again.
  @discardableResult
  package func restore(
    _ key: TrashKey, now: Int64? = nil, openFor open: UInt64 = 0, durability: Durability = .full
  ) throws(MemoError) -> Memo {
    guard let id = try deletedMemo(key, in: snapshot())?.memo.id else { throw .deletionExpired }
    return try change(id, .restored, durability: durability) {
      (found, snapshot, batch) throws(MemoError) in
      guard let deleted = try deletedMemo(key, in: snapshot) else { throw .deletionExpired }
      if let now, deleted.hasEnded(deleted.undoMicroseconds, now: now, openFor: open) {
        throw .deletionExpired
      }
      guard found == nil else { throw .duplicateID }
      batch.restore(deleted, since: snapshot)
      return deleted.memo
    }
  }

  /// Takes a deleted memo out of the trash, for good.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  package func remove(_ key: TrashKey, durability: Durability = .full) throws(MemoError) -> Bool {
    try remove(durability) { snapshot throws(MemoError) in
      try deletedMemo(key, in: snapshot).map { [$0] } ?? []
    } > 0
  }

  /// Takes everything out of the trash whose time is over, in one batch.
  ///
  /// - Parameters:
  ///   - now: The wall clock, in microseconds since 1970.
  ///   - open: How long this process has had the store open without a pause, in microseconds.
  /// - Returns: How many memos went.
  /// - Throws: ``MemoError/database(_:)``.
  /// - Complexity: O(memos in the trash).
  @discardableResult
  package func removeExpired(now: Int64, openFor open: UInt64) throws(MemoError) -> Int {
    try remove(.lazy) { snapshot throws(MemoError) in
      try Self.deletedMemos(in: snapshot) { deleted in
        deleted.hasEnded(deleted.trashMicroseconds, now: now, openFor: open)
      }
    }
  }

  /// Takes deleted memos out of the trash; chooses again when somebody else has taken one of them.
  private func remove(
    _ durability: Durability, _ choose: (Snapshot) throws(MemoError) -> [DeletedMemo]
  ) throws(MemoError) -> Int {
    while true {
      // Held until the write is judged, as for every change.
      let snapshot = try snapshot()
      defer { withExtendedLifetime(snapshot) {} }
      var batch = WriteBatch()
      let chosen = try choose(snapshot)
      for deleted in chosen { batch.remove(deleted, since: snapshot) }
      if batch.changesNothing { return 0 }
      if try commit(batch, durability) { return chosen.count }
    }
  }

  /// The memos in the trash, latest deletion first, at most `count` of them.
  package func deletedMemos(_ count: Int) throws(MemoError) -> [DeletedMemo] {
    try Self.deletedMemos(in: snapshot(), atMost: count) { _ in true }
  }

  /// The deletions that can be undone now, the latest first.
  ///
  /// - Complexity: O(memos in the trash).
  package func undoableDeletions(
    now: Int64, openFor open: UInt64
  ) throws(MemoError) -> [DeletedMemo] {
    try Self.deletedMemos(in: snapshot()) { deleted in
      !deleted.hasEnded(deleted.undoMicroseconds, now: now, openFor: open)
    }
  }

  /// Number of memos in the trash.
  ///
  /// - Complexity: O(1).
  package func deletedCount() throws(MemoError) -> Int {
    try Self.engine { () throws(DatabaseError) in try database.count(in: MemoSpace.trash) }
  }

  private func deletedMemo(
    _ key: TrashKey, in snapshot: Snapshot
  ) throws(MemoError) -> DeletedMemo? {
    let value = try Self.engine { () throws(DatabaseError) in
      try snapshot.value(forKey: key.encode(), in: MemoSpace.trash)
    }
    guard let value else { return nil }
    return try decoding(in: "trash space") { () throws(FormatError) in
      try DeletedMemo.decode(value.rawBytes, key: key)
    }
  }

  /// The memos in the trash that are meant, latest deletion first.
  ///
  /// One that does not decode is passed over: it can be neither shown nor restored, and it must not
  /// keep the others from it. `verify()` reports it.
  private static func deletedMemos(
    in snapshot: Snapshot, atMost count: Int = .max, where isMeant: (DeletedMemo) -> Bool
  ) throws(MemoError) -> [DeletedMemo] {
    var memos: [DeletedMemo] = []
    var cursor = try engine { () throws(DatabaseError) in
      try snapshot.cursor(space: MemoSpace.trash)
    }
    while memos.count < count, try cursor.advance() {
      let deleted = try? DeletedMemo.decode(cursor.value, key: TrashKey.decode(cursor.key))
      if let deleted, isMeant(deleted) { memos.append(deleted) }
    }
    return memos
  }

  /// Removes from the files what was deleted: see `Database.purge`.
  package func purge() throws(MemoError) {
    try Self.engine { () throws(DatabaseError) in try database.purge() }
  }
}

extension WriteBatch {
  /// Puts a deleted memo back to where it was.
  fileprivate mutating func restore(_ deleted: DeletedMemo, since snapshot: Snapshot) {
    let (memo, key) = (deleted.memo, deleted.memoKey)
    put(MemoRecord.encode(memo), forKey: key.encode(), in: MemoSpace.memos, kind: .insertion)
    put(
      [], forKey: IDKey(hash: memo.id.hash64, memoKey: key).encode(), in: MemoSpace.ids,
      kind: .put)
    remove(deleted, since: snapshot)
  }

  /// Takes a deleted memo out of the trash, unless that happened since a snapshot.
  fileprivate mutating func remove(_ deleted: DeletedMemo, since snapshot: Snapshot) {
    let key = deleted.key.encode()
    delete(key, in: MemoSpace.trash, kind: .removal)
    require(unchanged: key, since: snapshot.sequence, in: MemoSpace.trash)
  }
}
