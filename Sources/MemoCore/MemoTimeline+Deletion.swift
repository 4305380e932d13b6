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
    guard let id = try deletedMemo(key, in: snapshot())?.memo.id else { return false }
    return try change(id, .purged, durability: durability) {
      (_, snapshot, batch) throws(MemoError) in
      guard let deleted = try deletedMemo(key, in: snapshot) else { return false }
      batch.remove(deleted, since: snapshot)
      return true
    }
  }

  /// Takes everything out of the trash whose time is over.
  ///
  /// - Parameters:
  ///   - now: The wall clock, in microseconds since 1970.
  ///   - open: How long this process has had the store open without a pause, in microseconds.
  /// - Returns: How many memos went.
  /// - Throws: ``MemoError/database(_:)``.
  /// - Complexity: O(memos in the trash).
  @discardableResult
  package func removeExpired(now: Int64, openFor open: UInt64) throws(MemoError) -> Int {
    var expired: [TrashKey] = []
    try forEachDeleted { deleted throws(MemoError) in
      if deleted.hasEnded(deleted.trashMicroseconds, now: now, openFor: open) {
        expired.append(deleted.key)
      }
      return true
    }
    var count = 0
    for key in expired where try remove(key, durability: .lazy) { count += 1 }
    return count
  }

  /// The memos in the trash, latest deletion first, at most `count` of them.
  package func deletedMemos(_ count: Int) throws(MemoError) -> [DeletedMemo] {
    var memos: [DeletedMemo] = []
    guard count > 0 else { return memos }
    try forEachDeleted { deleted throws(MemoError) in
      memos.append(deleted)
      return memos.count < count
    }
    return memos
  }

  /// The deletions that can be undone now, the latest first.
  ///
  /// - Complexity: O(memos in the trash).
  package func undoableDeletions(now: Int64, openFor open: UInt64) throws(MemoError)
    -> [DeletedMemo]
  {
    var memos: [DeletedMemo] = []
    try forEachDeleted { deleted throws(MemoError) in
      if !deleted.hasEnded(deleted.undoMicroseconds, now: now, openFor: open) {
        memos.append(deleted)
      }
      return true
    }
    return memos
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

  /// Calls a closure with each memo in the trash, latest deletion first, until it returns `false`.
  ///
  /// One that does not decode is passed over: it can be neither shown nor restored, and it must not
  /// keep the others from it. `verify()` reports it.
  private func forEachDeleted(
    _ body: (DeletedMemo) throws(MemoError) -> Bool
  ) throws(MemoError) {
    let snapshot = try snapshot()
    var cursor = try Self.engine { () throws(DatabaseError) in
      try snapshot.cursor(space: MemoSpace.trash)
    }
    while true {
      let deleted: DeletedMemo?
      do throws(DatabaseError) {
        guard try cursor.moveForward() else { return }
        deleted = try? DeletedMemo.decode(cursor.value, key: TrashKey.decode(cursor.key))
      } catch {
        throw .database(error)
      }
      if let deleted, try !body(deleted) { return }
    }
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

extension MemoTimeline {
  /// Removes from the files what was deleted: see `Database.purge`.
  package func purge() throws(MemoError) {
    try Self.engine { () throws(DatabaseError) in try database.purge() }
  }
}
