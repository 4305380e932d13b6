package import KVEngine

// What a snapshot of the engine shows of memos. Every read of memos is one of these, whether it is
// over when it returns (`MemoTimeline.briefly`), goes on for long, or decides what is written.

/// A memo and where it is.
struct StoredMemo {
  let memo: Memo
  let key: MemoKey
  let idKey: IDKey
}

/// One page of the history and where the next begins.
package struct MemoPage: Sendable {
  package let memos: [Memo]
  /// The position of the last memo; `nil` when no memo is behind it.
  package let next: MemoKey?
}

extension Snapshot {
  /// The memos behind a position; all without one.
  package func memos(after position: MemoKey? = nil) throws(MemoError) -> MemoCursor {
    try memos(in: position.map { KeyRange.from($0.encode() + [0]) } ?? .all)
  }

  private func memos(in range: KeyRange) throws(MemoError) -> MemoCursor {
    MemoCursor(
      try MemoTimeline.engine { () throws(DatabaseError) in
        try cursor(in: range, space: MemoSpace.memos)
      })
  }

  /// The memos that follow a position, the last one of the page before, newest first; `nil` begins
  /// with the newest.
  ///
  /// Positions are those of memos, not counts: memos that come or go meanwhile make no other memo
  /// show up twice or get lost.
  package func page(after position: MemoKey?, count: Int) throws(MemoError) -> MemoPage {
    var cursor = try memos(after: position)
    let (memos, last) = try cursor.next(atMost: count)
    return MemoPage(memos: memos, next: memos.count == count && cursor.hasNext() ? last : nil)
  }

  /// How many memos there are from the newest one to a position, but no more than `limit`.
  ///
  /// - Complexity: O(`limit`).
  package func memoCount(to position: MemoKey, atMost limit: Int = .max) throws(MemoError) -> Int {
    var cursor = try memos(in: .upTo(position.encode() + [0]))
    var count = 0
    while count < limit, try cursor.moveForward() { count += 1 }
    return count
  }

  /// Number of memos.
  ///
  /// - Complexity: O(1).
  package var memoCount: Int { count(in: MemoSpace.memos) }

  /// The memo with an id, `nil` if there is none.
  package func memo(for id: MemoID) throws(MemoError) -> Memo? {
    try find(id)?.memo
  }

  /// Looks an id up: the id space knows where memos with the id's hash are, and the memo itself
  /// says whether it is the one.
  func find(_ id: MemoID) throws(MemoError) -> StoredMemo? {
    var cursor = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.cursor(withPrefix: IDKey.prefix(hash: id.hash64), space: MemoSpace.ids)
    }
    while try cursor.advance() {
      let idKey = try decoding(in: "id key") { () throws(FormatError) in
        try IDKey.decode(cursor.key)
      }
      let memo = try memo(at: idKey.memoKey)
      if memo.id == id { return StoredMemo(memo: memo, key: idKey.memoKey, idKey: idKey) }
    }
    return nil
  }

  /// The memo that another record says is there.
  func memo(at key: MemoKey) throws(MemoError) -> Memo {
    let value = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.value(forKey: key.encode(), in: MemoSpace.memos)
    }
    guard let value else {
      throw .damagedRecord(
        Corruption(
          fileName: "memo space", offset: 0, structure: "memo",
          reason: "is missing though its id is there"))
    }
    return try decoding(in: "memo") { () throws(FormatError) in
      try MemoRecord.decode(value.rawBytes, key: key)
    }
  }
}

/// Decodes what is stored; what does not decode is a damaged record.
func decoding<Value>(
  in structure: String, _ body: () throws(FormatError) -> Value
) throws(MemoError) -> Value {
  do {
    return try body()
  } catch {
    throw .damagedRecord(Corruption(error, fileName: structure))
  }
}

extension Cursor {
  /// Goes to the next entry; the engine's error becomes ours.
  mutating func advance() throws(MemoError) -> Bool {
    do {
      return try moveForward()
    } catch {
      throw .database(error)
    }
  }
}

/// Memos in the order of the history, at one moment.
package struct MemoCursor: ~Copyable {
  private var cursor: Cursor

  init(_ cursor: consuming Cursor) {
    self.cursor = cursor
  }

  /// The next memo and its position; `nil` behind the oldest.
  package mutating func next() throws(MemoError) -> (key: MemoKey, memo: Memo)? {
    try moveForward() ? try current() : nil
  }

  /// The memo before and its position; `nil` before the newest.
  ///
  /// A new cursor begins with the oldest.
  package mutating func previous() throws(MemoError) -> (key: MemoKey, memo: Memo)? {
    do {
      guard try cursor.moveBackward() else { return nil }
    } catch {
      throw .database(error)
    }
    return try current()
  }

  /// The next memos and the position of the last of them.
  ///
  /// Reads nothing behind them: what is damaged there does not concern the caller.
  mutating func next(atMost count: Int) throws(MemoError) -> (memos: [Memo], last: MemoKey?) {
    var memos: [Memo] = []
    memos.reserveCapacity(min(max(count, 0), 1024))
    var last: MemoKey?
    while memos.count < count, let (key, memo) = try next() {
      memos.append(memo)
      last = key
    }
    return (memos, last)
  }

  /// Whether a memo is behind the position; moves there.
  ///
  /// One that cannot be read is there too: reading on throws why.
  mutating func hasNext() -> Bool {
    do throws(MemoError) {
      return try moveForward()
    } catch {
      return true
    }
  }

  /// Goes to the next memo without looking into it.
  mutating func moveForward() throws(MemoError) -> Bool {
    try cursor.advance()
  }

  /// The memo at the position.
  func current() throws(MemoError) -> (key: MemoKey, memo: Memo) {
    do {
      let key = try MemoKey.decode(cursor.key)
      return (key, try MemoRecord.decode(cursor.value, key: key))
    } catch {
      throw .damagedRecord(Corruption(error, fileName: "memo space"))
    }
  }

  /// The beginning of the memo at the position.
  func excerpt(byteCount: Int) throws(MemoError) -> MemoExcerpt {
    do {
      return try MemoRecord.excerpt(
        cursor.value, key: try MemoKey.decode(cursor.key), byteCount: byteCount)
    } catch {
      throw .damagedRecord(Corruption(error, fileName: "memo space"))
    }
  }
}
