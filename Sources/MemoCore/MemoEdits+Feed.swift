internal import KVEngine

extension MemoEdits {
  /// Adds what a commit does to memos to the feed of a store whose changes somebody follows, and
  /// lets go of as many of the oldest entries as there are too many.
  ///
  /// - Parameters:
  ///   - changes: What the batch does.
  ///   - origin: Who writes.
  ///   - now: The wall clock, in microseconds since 1970.
  ///   - batch: Gets the entries, and the conditions under which they are the next ones.
  /// - Throws: What reading throws.
  func record(
    _ changes: [ChangedMemo], origin: String?, at now: () -> Int64, _ batch: inout WriteBatch
  ) throws(MemoError) {
    if changes.isEmpty { return }
    batch.require(
      unchanged: FeedIdentity.key, since: snapshot.sequence, in: MemoSpace.meta)
    let count = snapshot.count(in: MemoSpace.feed)
    guard count > 0, let last = try snapshot.lastFeedNumber() else { return }
    batch.require(
      unchanged: FeedKey.encode(last + 1), since: snapshot.sequence, in: MemoSpace.feed)
    let now = now()
    for (place, change) in changes.enumerated().suffix(FeedEntry.maximumCount) {
      let kind: FeedEntry.Kind =
        if change.new == nil { .deleted } else { change.old == nil ? .inserted : .updated }
      let entry = FeedEntry(kind: kind, microseconds: now, id: change.id, origin: origin)
      batch.put(
        entry.encode(), forKey: FeedKey.encode(last + 1 + UInt64(place)), in: MemoSpace.feed,
        kind: .insertion)
    }
    let tooMany = count + changes.count - FeedEntry.maximumCount
    if tooMany <= 0 { return }
    // Numbers have no gaps, so this is where they begin: no search among what was removed before.
    let first = FeedKey.encode(last - min(last, UInt64(count) - 1))
    try snapshot.forEachFeedEntry(in: .from(first), atMost: tooMany) { (key, _) in
      batch.delete([UInt8](copying: key), in: MemoSpace.feed, kind: .removal)
      return true
    }
  }
}

extension Snapshot {
  /// The number of the last entry; `nil` without any, or when it has none that can be read.
  func lastFeedNumber() throws(MemoError) -> UInt64? {
    try lastFeedEntry { (number, _) in number }
  }

  /// What a closure makes of the last entry; `nil` without any, or when its key cannot be read:
  /// then recording begins anew when somebody asks for changes.
  func lastFeedEntry<Value>(
    _ body: (UInt64, RawSpan) -> Value
  ) throws(MemoError) -> Value? {
    do throws(DatabaseError) {
      var cursor = try self.cursor(space: MemoSpace.feed)
      guard try cursor.moveBackward() else { return nil }
      return (try? FeedKey.decode(cursor.key)).map { body($0, cursor.value) }
    } catch {
      throw .database(error)
    }
  }

  /// Calls a closure for entries, the oldest first.
  ///
  /// - Parameters:
  ///   - range: Of keys.
  ///   - count: For how many at most.
  ///   - body: Returns whether to go on.
  /// - Throws: What reading and `body` throw.
  func forEachFeedEntry(
    in range: KeyRange = .all, atMost count: Int = .max,
    _ body: (RawSpan, RawSpan) throws(MemoError) -> Bool
  ) throws(MemoError) {
    var cursor = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.cursor(in: range, space: MemoSpace.feed)
    }
    var rest = count
    while rest > 0, try cursor.advance() {
      guard try body(cursor.key, cursor.value) else { return }
      rest -= 1
    }
  }
}
