internal import MemoCore

/// What became of a memo in one commit, for whoever carries changes elsewhere.
///
/// Has the id and not the memo: what is carried is the memo as it is when it is read. Its `Codable`
/// form stands for itself, in a file or a message.
public struct RecordedChange<ID: MemoIdentifier>: Sendable, Hashable {
  /// What a commit did to a memo.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// The memo is there, where none with its id was before: also after an undo.
    case inserted
    /// Another version is in its place.
    case updated
    /// It is gone from the history, whether it can be brought back or not.
    case deleted
  }

  /// What happened.
  public let kind: Kind
  /// Which memo it was.
  public let id: ID
  /// When it was written, by the wall clock.
  public let date: MemoTimestamp
  /// Who wrote, as the write has said: what somebody has brought here need not be carried back.
  public let origin: String?
  /// Where to go on behind this change.
  public let token: ChangeToken

  /// Makes a change without a store, for a test of what an app does with one.
  ///
  /// - Parameters:
  ///   - kind: What happened.
  ///   - id: Which memo it was.
  ///   - date: When it was written.
  ///   - origin: Who wrote.
  ///   - token: Where to go on.
  public init(
    kind: Kind, id: ID, date: MemoTimestamp, origin: String? = nil, token: ChangeToken
  ) {
    self.kind = kind
    self.id = id
    self.date = date
    self.origin = origin
    self.token = token
  }
}

extension RecordedChange: Codable where ID: Codable {}

/// Up to where somebody has read the changes of a store.
///
/// Keep its text wherever you like, best with what was carried; never make one of another text. A
/// text that is damaged, or a token of another store, is no error: it leads to
/// ``RecordedChanges/isResync``.
public struct ChangeToken: Sendable, Hashable, Codable, RawRepresentable {
  /// Letters, digits and hyphens.
  public let rawValue: String

  /// Takes a token back from its text.
  ///
  /// - Parameter rawValue: What ``rawValue`` was.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  init(_ token: FeedToken) {
    rawValue = token.description
  }
}

/// A page of changes, the oldest first.
public struct RecordedChanges<ID: MemoIdentifier>: Sendable, Hashable {
  /// What happened behind the token that was asked about; a memo may occur many times.
  public let changes: [RecordedChange<ID>]
  /// Where to go on.
  public let token: ChangeToken
  /// Whether there are more already.
  public let hasMore: Bool
  /// Whether nobody knows what happened since: then read all memos, and go on from ``token``.
  ///
  /// So it is with the first call, with a token of another store, of a state that is gone (as after
  /// a backup was restored), or one behind which more was written than is kept.
  public let isResync: Bool

  /// Makes a page without a store, for a test of what an app does with one.
  ///
  /// - Parameters:
  ///   - changes: What happened.
  ///   - token: Where to go on.
  ///   - hasMore: Whether there are more already.
  ///   - isResync: Whether all memos have to be read.
  public init(
    changes: [RecordedChange<ID>], token: ChangeToken, hasMore: Bool = false,
    isResync: Bool = false
  ) {
    self.changes = changes
    self.token = token
    self.hasMore = hasMore
    self.isResync = isResync
  }
}

extension MemoStore where Entity: MemoEntity {
  /// What became of memos since a token, the oldest change first: what a sync is built on.
  ///
  /// The first call begins to record changes, in the commits that make them; from then on every
  /// program that writes to the store does, until ``stopRecordingChanges()``. Kept are the last
  /// 10,000 changes of the last 30 days. Values of collections are not recorded, nor what becomes
  /// of memos in the trash.
  ///
  /// ```swift
  /// var page = try await notes.changes(since: token)
  /// if page.isResync {
  ///   for try await notes in notes.pages(of: 200) { server.upload(notes) }
  /// }
  /// while true {
  ///   for change in page.changes where change.origin != "server" { server.upload(change) }
  ///   token = page.token
  ///   guard page.hasMore else { break }
  ///   page = try await notes.changes(since: token)
  /// }
  /// ```
  ///
  /// What a page has is durable. A memo is as it is now, not as a change left it: read it by its
  /// id, and take one that is not there as deleted.
  ///
  /// - Parameters:
  ///   - token: What an earlier page has said; `nil` for none, which is answered with a resync.
  ///   - limit: How many changes a page has at most; a number below 1 counts as 1. Default: 1,000.
  /// - Returns: The changes, and where to go on. Those of memos whose id does not fit the app's
  ///   type are left out.
  /// - Throws: ``MemoError/database(_:)`` if it could not be read, or recording could not begin.
  /// - Complexity: O(`limit`).
  public func changes(
    since token: ChangeToken?, limit: Int = 1_000
  ) async throws(MemoError) -> RecordedChanges<Entity.ID> {
    try await onQueue { store throws(MemoError) in
      let now = store.clock.wallMicroseconds
      let page = try store.timeline.changes(
        since: token.flatMap { FeedToken($0.rawValue) }, atMost: max(1, limit), now: now)
      // Behind the read, for one who comes late. Not what is asked for, so its failure is none of
      // the call.
      try? store.timeline.removeOldChanges(now: now)
      return RecordedChanges(
        changes: page.entries.compactMap(RecordedChange.init), token: ChangeToken(page.token),
        hasMore: page.hasMore, isResync: page.isResync)
    }
  }

  /// Ends what the first ``changes(since:limit:)`` began; what was recorded is forgotten.
  ///
  /// - Throws: ``MemoError/database(_:)`` if it could not be written.
  /// - Complexity: O(recorded changes).
  public func stopRecordingChanges() async throws(MemoError) {
    try await onQueue { store throws(MemoError) in try store.timeline.endFeed() }
  }
}

extension RecordedChange {
  fileprivate init?(entry: FeedEntry, token: FeedToken) {
    let kind: Kind
    switch entry.kind {
    case .began: return nil
    case .inserted: kind = .inserted
    case .updated: kind = .updated
    case .deleted: kind = .deleted
    }
    guard let id = entry.id.flatMap(ID.init(memoID:)),
      let date = MemoTimestamp(microseconds: entry.microseconds)
    else { return nil }
    self.init(
      kind: kind, id: id, date: date, origin: entry.origin, token: ChangeToken(token))
  }
}
