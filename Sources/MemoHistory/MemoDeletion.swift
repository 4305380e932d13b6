internal import KVEngine
internal import MemoCore

/// A deletion that can be undone: what a bar with an undo button needs.
///
/// Holds nothing of the memo, so it may be kept anywhere, and be undone after a relaunch.
public struct MemoDeletion: Sendable, Hashable, Codable {
  /// When the deletion happened, by the wall clock; microseconds since 1970.
  public let deletedAt: MemoTimestamp
  /// The end of the time in which it can be undone, by the wall clock.
  ///
  /// It is never over before; it may last longer, since the process must also have had the store
  /// open for as long (but for no more than an hour). So neither a kill nor a clock that is set
  /// ends it early.
  public let undoableUntil: MemoTimestamp
  let arrival: UInt64

  /// Makes a deletion without a store, for a test of what an app does with one; undoing it throws
  /// ``MemoError/deletionExpired``.
  ///
  /// - Parameters:
  ///   - deletedAt: When it happened.
  ///   - undoableUntil: The end of the time in which it can be undone.
  public init(deletedAt: MemoTimestamp, undoableUntil: MemoTimestamp) {
    self.deletedAt = deletedAt
    self.undoableUntil = undoableUntil
    // No memo has it.
    arrival = 0
  }

  init(_ deleted: DeletedMemo) {
    let deletedAt = MemoTimestamp(microseconds: deleted.key.deletedAt)
    self.deletedAt = deletedAt ?? deleted.memo.createdAt
    let end = deleted.key.deletedAt.addingReportingOverflow(
      Int64(clamping: deleted.undoMicroseconds))
    undoableUntil =
      (end.overflow ? nil : MemoTimestamp(microseconds: end.partialValue)) ?? self.deletedAt
    arrival = deleted.key.arrival
  }

  var key: TrashKey { TrashKey(deletedAt: deletedAt.microseconds, arrival: arrival) }
}

extension MemoStore where Entity: MemoEntity {
  /// Deletes the memo with an id so that it can be undone; durable when it returns.
  ///
  /// The memo is gone from every list at once, and kept aside until the time is over. A memo that
  /// does not fit the app's type is deleted as well.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - period: For how long ``undo(_:origin:)`` brings it back, at least zero. Default: three
  ///     seconds.
  ///   - origin: Who deletes: see ``HistorySnapshot/origin``.
  /// - Returns: What can be undone; `nil` if there was no such memo, and then nothing is written.
  /// - Throws: ``MemoError/database(_:)`` if it could not be written,
  ///   ``MemoError/invalidID(reason:)`` for an id that no memo can have.
  @discardableResult
  public func delete(
    _ id: Entity.ID, undoWithin period: Duration = .seconds(3), origin: String? = nil
  ) async throws(MemoError) -> MemoDeletion? {
    try await onQueue { store throws(MemoError) in
      try store.deleteNow([id], undoWithin: period, origin).first
    }
  }

  /// Deletes memos so that it can be undone, all or none; durable when it returns.
  ///
  /// - Parameters:
  ///   - ids: What names the memos; those that are not there are left out.
  ///   - period: For how long each can be brought back, at least zero. Default: three seconds.
  ///   - origin: Who deletes: see ``HistorySnapshot/origin``.
  /// - Returns: What can be undone, in the order of the ids.
  /// - Throws: As ``delete(_:undoWithin:origin:)``.
  @discardableResult
  public func delete(
    contentsOf ids: [Entity.ID], undoWithin period: Duration = .seconds(3), origin: String? = nil
  ) async throws(MemoError) -> [MemoDeletion] {
    try await onQueue { store throws(MemoError) in
      try store.deleteNow(ids, undoWithin: period, origin)
    }
  }

  @discardableResult
  func deleteNow(
    _ ids: [Entity.ID], undoWithin period: Duration = .seconds(3), _ origin: String? = nil
  ) throws(MemoError) -> [MemoDeletion] {
    let deletions = try writeNow(origin) { memos throws(MemoError) in
      var deletions: [MemoDeletion] = []
      for id in ids {
        if let deletion = try memos.delete(id, undoWithin: period) { deletions.append(deletion) }
      }
      return deletions
    }
    if !deletions.isEmpty { expireNowAndThen() }
    return deletions
  }

  /// Brings a deleted memo back, the same in every field and at the same place; durable when it
  /// returns.
  ///
  /// - Parameters:
  ///   - deletion: What ``delete(_:undoWithin:origin:)`` returned, in this process or an earlier
  ///     one.
  ///   - origin: Who undoes: see ``HistorySnapshot/origin``.
  /// - Throws: ``MemoError/deletionExpired`` when its time is over or it was undone already,
  ///   ``MemoError/duplicateID`` when there is a memo with its id again,
  ///   ``MemoError/duplicateKey(index:id:)`` when another one has its key in a unique index by now,
  ///   ``MemoError/database(_:)`` if it could not be written.
  public func undo(_ deletion: MemoDeletion, origin: String? = nil) async throws(MemoError) {
    try await write(origin) { memos throws(MemoError) in try memos.undo(deletion) }
  }

  /// The deletions that can still be undone, the latest first, also those of earlier processes.
  ///
  /// - Returns: What ``undo(_:origin:)`` takes.
  /// - Throws: ``MemoError/database(_:)`` if they cannot be read.
  /// - Complexity: O(memos in the trash).
  public func undoableDeletions() throws(MemoError) -> [MemoDeletion] {
    try timeline.undoableDeletions(now: clock.wallMicroseconds, openFor: openFor)
      .map(MemoDeletion.init)
  }

  /// Removes what was deleted from the files of the store.
  ///
  /// Deletions whose time is not over stay undoable. What was deleted goes by itself in the course
  /// of a day in which the app runs; this is for whoever wants it now.
  ///
  /// - Throws: ``MemoError/database(_:)`` if it could not be done; what was deleted stays deleted.
  /// - Complexity: O(bytes of the store).
  public func purge() async throws(MemoError) {
    try await onQueue { store throws(MemoError) in
      try store.expireNow()
      try store.timeline.purge()
    }
  }

  /// Lets go of what can no longer be undone.
  private func expireNow() throws(MemoError) {
    let now = clock.wallMicroseconds
    try timeline.removeExpired(now: now, openFor: openFor)
    try timeline.removeOldChanges(now: now)
  }

  /// Lets go of what can no longer be undone, at most once a second.
  ///
  /// No timer runs for it: it takes place with deletions and purges, and what is expired cannot be
  /// undone whether it is still there or not.
  private func expireNowAndThen() {
    let now = clock.elapsed
    let isTime = nextExpiry.withLock { next in
      if now < next { return false }
      next = now + .seconds(1)
      return true
    }
    // The next deletion or purge tries again.
    if isTime { try? expireNow() }
  }
}

extension Duration {
  /// In microseconds, from zero to 100 years.
  var clampedMicroseconds: UInt64 {
    let most = Duration.seconds(100 * 366 * 86_400)
    let (seconds, attoseconds) = min(max(self, .zero), most).components
    return UInt64(seconds) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000)
  }
}
