package import KVEngine

// Deleting moves a memo into the trash space, undoing moves it back, each in one batch that fails
// when anything was written about the memo meanwhile; so of an undo, an expiry and a second delete
// at the same time one wins, and the others see it (promise P14).

extension MemoTimeline {
  /// Deletes the memo with an id so that it can be brought back: see ``MemoEdits``.
  package func delete(
    _ id: MemoID, at now: Int64, undoMicroseconds undo: UInt64, trashMicroseconds trash: UInt64,
    durability: Durability = .full
  ) throws(MemoError) -> DeletedMemo? {
    try write(durability: durability) { edits throws(MemoError) in
      try edits.delete(id, at: now, undoMicroseconds: undo, trashMicroseconds: trash)
    }
  }

  /// Brings a deleted memo back: see ``MemoEdits/restore(_:now:openFor:)``.
  @discardableResult
  package func restore(
    _ key: TrashKey, now: Int64? = nil, openFor open: UInt64 = 0, durability: Durability = .full
  ) throws(MemoError) -> Memo {
    try write(durability: durability) { edits throws(MemoError) in
      try edits.restore(key, now: now, openFor: open)
    }
  }

  /// Takes a deleted memo out of the trash, for good.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  package func remove(_ key: TrashKey, durability: Durability = .full) throws(MemoError) -> Bool {
    try write(durability: durability) { edits throws(MemoError) in try edits.remove(key) }
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
    try removeAll(.lazy) { $0.hasEnded($0.trashMicroseconds, now: now, openFor: open) }
  }

  /// Takes everything out of the trash, in one batch.
  ///
  /// - Returns: How many memos went.
  @discardableResult
  package func emptyTrash(durability: Durability = .full) throws(MemoError) -> Int {
    try removeAll(durability) { _ in true }
  }

  private func removeAll(
    _ durability: Durability, where isMeant: (DeletedMemo) -> Bool
  ) throws(MemoError) -> Int {
    try write(durability: durability) { edits throws(MemoError) in
      let deleted = try Self.deletedMemos(in: edits.snapshot, where: isMeant)
      edits.remove(deleted)
      return deleted.count
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

extension Snapshot {
  /// The deleted memo under a key; `nil` when it is not in the trash.
  func deletedMemo(_ key: TrashKey) throws(MemoError) -> DeletedMemo? {
    let value = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.value(forKey: key.encode(), in: MemoSpace.trash)
    }
    guard let value else { return nil }
    return try decoding(in: "trash space") { () throws(FormatError) in
      try DeletedMemo.decode(value.rawBytes, key: key)
    }
  }
}
