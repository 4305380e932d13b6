package import KVEngine
package import TextSearch

/// Which memos a search finds, and where it looks for them.
package struct MemoSearch: Sendable {
  package let query: SearchQuery
  /// Looks only at memos that are not older.
  package var since: MemoTimestamp?
  /// Looks only at memos that are older.
  package var before: MemoTimestamp?
  /// Whether it looks into the trash, and nowhere else.
  package var isInTrash = false

  package init(_ query: SearchQuery) {
    self.query = query
  }

  /// The memos of one moment behind a place, `nil` for all of them.
  package func cursor(
    in snapshot: Snapshot, after position: [UInt8]? = nil
  ) throws(MemoError) -> MemoSearchCursor {
    var lower = position.map { $0 + [0] }
    var upper: [UInt8]?
    // In the trash memos are in the order of their deletion.
    if !isInTrash {
      if lower == nil, let before {
        // The oldest arrival of the instant, behind which older instants are.
        lower = MemoKey(microseconds: before.microseconds, arrival: 0).encode() + [0]
      }
      upper = since.map { MemoKey(microseconds: $0.microseconds, arrival: 0).encode() + [0] }
    }
    let range = KeyRange(lower: lower, upper: upper)
    return MemoSearchCursor(
      self,
      try MemoTimeline.engine { () throws(DatabaseError) in
        try snapshot.cursor(in: range, space: isInTrash ? MemoSpace.trash : MemoSpace.memos)
      })
  }

  /// Whether a memo's time is one of those that are wanted.
  fileprivate func covers(_ memo: Memo) -> Bool {
    let microseconds = memo.createdAt.microseconds
    return since.map { $0.microseconds <= microseconds } ?? true
      && before.map { microseconds < $0.microseconds } ?? true
  }
}

extension SearchQuery {
  /// What a user typed; a search that is too large becomes an error of this layer.
  package static func typed(
    _ text: String, folding: TextFolding = .standard
  ) throws(MemoError) -> SearchQuery {
    do {
      return try SearchQuery(text, folding: folding)
    } catch {
      throw .invalidSearch(reason: "\(error)")
    }
  }
}

/// A memo that a search found.
package struct FoundMemo: Sendable {
  package let memo: Memo
  /// Its deletion, when it is one of the trash.
  package let deleted: DeletedMemo?
}

/// Looks at one memo after the other for a search: newest first, in the trash the latest deletion
/// first.
///
/// A memo's text is looked at where it lies; only what is found is decoded.
package struct MemoSearchCursor: ~Copyable {
  private let search: MemoSearch
  private var cursor: Cursor
  private var folded = FoldedText()

  fileprivate init(_ search: MemoSearch, _ cursor: consuming Cursor) {
    self.search = search
    self.cursor = cursor
  }

  /// Goes to the next memo; whether there is one.
  package mutating func advance() throws(MemoError) -> Bool { try cursor.advance() }

  /// Where the memo is: a later cursor can begin behind it.
  package var position: [UInt8] { [UInt8](copying: cursor.key) }

  /// The place of the memo in the history, which is none when it is one of the trash.
  package func memoKey() throws(MemoError) -> MemoKey {
    try decoding(in: "memo space") { () throws(FormatError) in try MemoKey.decode(cursor.key) }
  }

  /// Bytes of the memo.
  package var byteCount: Int { cursor.value.byteCount }

  /// The memo at the position, `nil` when the search does not find it.
  ///
  /// - Throws: ``MemoError/damagedRecord(_:)``, which concerns only this memo.
  package mutating func found() throws(MemoError) -> FoundMemo? {
    if search.isInTrash {
      let deleted = try decoding(in: "trash space") { () throws(FormatError) in
        try DeletedMemo.decode(cursor.value, key: TrashKey.decode(cursor.key))
      }
      guard search.covers(deleted.memo),
        search.query.finds(deleted.memo.body, folded: &folded)
      else { return nil }
      return FoundMemo(memo: deleted.memo, deleted: deleted)
    }
    let isFound = cursor.finds(search.query, folded: &folded)
    if isFound == false { return nil }
    let memo = try decoding(in: "memo space") { () throws(FormatError) in
      try MemoRecord.decode(cursor.value, key: MemoKey.decode(cursor.key))
    }
    guard isFound == true || search.query.finds(memo.body, folded: &folded) else { return nil }
    return FoundMemo(memo: memo, deleted: nil)
  }
}

extension Cursor {
  /// Whether a search finds the memo at the position; `nil` when only decoding it can tell: a text
  /// that is not UTF-8 is repaired there, and damage is reported.
  fileprivate func finds(_ query: SearchQuery, folded: inout FoldedText) -> Bool? {
    if query.isEmpty { return true }
    do throws(FormatError) {
      return query.finds(try MemoRecord.text(value), folded: &folded)
    } catch {
      return nil
    }
  }
}

extension MemoRecord {
  /// The text of a stored memo, where it lies; nothing else is made of the record.
  ///
  /// - Throws: `FormatError` when there is none.
  @_lifetime(copy value)
  package static func text(_ value: RawSpan) throws(FormatError) -> RawSpan {
    var reader = ByteReader(value, structure: "memo record")
    guard try reader.varint() == version else { throw reader.failure("has another version") }
    let flags = try reader.varint()
    _ = try reader.varint()
    if flags & Flag.changedAt.rawValue != 0 {
      _ = try reader.varint()
      _ = try reader.varint()
    }
    _ = try reader.take(try reader.count(maximum: 1 + MemoID.maximumByteCount))
    return try reader.take(try reader.count(maximum: Limits.Value.maximumByteCount))
  }
}
