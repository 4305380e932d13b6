internal import KVEngine

/// Changes behind a token, and where to go on.
package struct FeedPage: Sendable {
  package var entries: [(entry: FeedEntry, token: FeedToken)] = []
  package var token: FeedToken
  /// Whether more follow.
  package var hasMore = false
  /// Whether the token that was asked about leads nowhere.
  package var isResync = false
}

extension MemoTimeline {
  /// What became of memos behind a token, the oldest change first.
  ///
  /// The first call begins to record changes.
  ///
  /// - Parameters:
  ///   - token: Behind what; without one, behind everything so far.
  ///   - count: How many changes, at most.
  ///   - now: The wall clock, in microseconds since 1970.
  /// - Returns: The changes; none and `isResync` when what follows the token is not known any
  ///   more: it is of another store or recording, of a state that is gone, or too old.
  /// - Throws: ``MemoError/database(_:)``.
  /// - Complexity: O(`count`).
  package func changes(
    since token: FeedToken?, atMost count: Int, now: Int64
  ) throws(MemoError) -> FeedPage {
    while true {
      let snapshot = try snapshot()
      let identity = try snapshot.feedIdentity()
      if let identity, let page = try snapshot.changes(since: token, identity, atMost: count) {
        return page
      }
      // Nothing is recorded, or what was cannot be read.
      try beginFeed(now)
    }
  }

  /// Records changes from now on; what was recorded before goes.
  private func beginFeed(_ now: Int64) throws(MemoError) {
    let beginning = FeedEntry(kind: .began, microseconds: now, id: nil, origin: nil)
    try replaceFeed(FeedIdentity.random()) { batch in
      batch.put(
        beginning.encode(), forKey: FeedKey.encode(0), in: MemoSpace.feed, kind: .insertion)
    }
  }

  /// Records no changes any more, and forgets those that were.
  package func endFeed() throws(MemoError) {
    guard try snapshot().count(in: MemoSpace.feed) > 0 else { return }
    try replaceFeed(nil) { _ in }
  }

  /// Removes all entries, in one commit with what a closure adds.
  private func replaceFeed(
    _ identity: FeedIdentity?, _ body: (inout WriteBatch) -> Void
  ) throws(MemoError) {
    repeat {
      let snapshot = try snapshot()
      defer { withExtendedLifetime(snapshot) {} }
      var batch = WriteBatch()
      batch.require(
        unchanged: FeedIdentity.key, since: snapshot.sequence, in: MemoSpace.meta)
      try snapshot.forEachFeedEntry { (key, _) in
        batch.delete([UInt8](copying: key), in: MemoSpace.feed, kind: .removal)
        return true
      }
      if let number = try snapshot.lastFeedNumber() {
        batch.require(
          unchanged: FeedKey.encode(number + 1), since: snapshot.sequence, in: MemoSpace.feed)
      }
      body(&batch)
      if let identity {
        batch.put(identity.encode(), forKey: FeedIdentity.key, in: MemoSpace.meta)
      } else {
        batch.delete(FeedIdentity.key, in: MemoSpace.meta)
      }
      if try commit(batch, .full) { return }
    } while true
  }

  /// Removes entries that are too old.
  ///
  /// - Parameter now: The wall clock, in microseconds since 1970.
  /// - Throws: What reading and writing throw.
  package func removeOldChanges(now: Int64) throws(MemoError) {
    let snapshot = try snapshot()
    defer { withExtendedLifetime(snapshot) {} }
    // The last one stays: it says that changes are recorded.
    let rest = snapshot.count(in: MemoSpace.feed) - 1
    guard rest > 0, let identity = try snapshot.feedIdentity() else { return }
    var batch = WriteBatch()
    try snapshot.forEachFeedEntry(atMost: rest) { (key, value) in
      guard let entry = try? FeedEntry.decode(value) else { return false }
      let (age, overflow) = now.subtractingReportingOverflow(entry.microseconds)
      guard !overflow, age > FeedEntry.maximumAge else { return false }
      batch.delete([UInt8](copying: key), in: MemoSpace.feed, kind: .removal)
      return true
    }
    if batch.isEmpty { return }
    batch.require(
      unchanged: FeedIdentity.key, since: snapshot.sequence, in: MemoSpace.meta)
    if let number = try snapshot.lastFeedNumber() {
      batch.require(
        unchanged: FeedKey.encode(number + 1), since: snapshot.sequence, in: MemoSpace.feed)
    }
    batch.put(identity.encode(), forKey: FeedIdentity.key, in: MemoSpace.meta)
    // When somebody was faster, the next call tries again.
    _ = try commit(batch, .lazy)
  }

  /// Checks that entries decode, have no gaps, and are as many as is kept.
  func verifyFeed(
    in snapshot: Snapshot, _ report: inout VerificationReport
  ) throws(MemoError) {
    var count = 0
    var next: UInt64?
    try snapshot.forEachFeedEntry { (key, value) in
      count += 1
      do throws(FormatError) {
        let number = try FeedKey.decode(key)
        _ = try FeedEntry.decode(value)
        if let next, number != next {
          throw FormatError("feed entry", at: 0, "follows a gap")
        }
        next = number + 1
      } catch {
        report.add(Corruption(error, fileName: "feed space"))
      }
      return true
    }
    let keptCount = snapshot.count(in: MemoSpace.feed)
    if count != keptCount {
      report.add(
        Corruption(
          fileName: "feed space", offset: 0, structure: "feed entry",
          reason: "there are \(count), not \(keptCount) as is kept"))
    }
  }
}

extension Snapshot {
  /// Which recording the entries are of; `nil` without one that can be read.
  fileprivate func feedIdentity() throws(MemoError) -> FeedIdentity? {
    guard count(in: MemoSpace.feed) > 0 else { return nil }
    let value = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.value(forKey: FeedIdentity.key, in: MemoSpace.meta)
    }
    return value.flatMap { try? FeedIdentity.decode($0.rawBytes) }
  }

  /// See ``MemoTimeline/changes(since:atMost:now:)``; `nil` when recording has to begin anew.
  fileprivate func changes(
    since token: FeedToken?, _ identity: FeedIdentity, atMost count: Int
  ) throws(MemoError) -> FeedPage? {
    let last = try lastFeedEntry { (number, value) in FeedToken(identity, number, entry: value) }
    guard let last else { return nil }
    let resync = FeedPage(token: last, isResync: true)
    guard let token, token.identity == identity, token.number <= last.number else { return resync }
    var page = FeedPage(token: token)
    var isKnown = false
    var isDamaged = false
    try forEachFeedEntry(in: .from(FeedKey.encode(token.number))) { (key, value) in
      let number = try? FeedKey.decode(key)
      let position = FeedToken(identity, number ?? .max, entry: value)
      if !isKnown {
        isKnown = position == token
        return isKnown
      }
      guard page.entries.count < count else {
        page.hasMore = true
        return false
      }
      guard number != nil, let entry = try? FeedEntry.decode(value) else {
        isDamaged = true
        return false
      }
      page.entries.append((entry, position))
      page.token = position
      return true
    }
    return isKnown && !isDamaged ? page : resync
  }
}
