// What the decisions and the snapshot below them show together.

extension MemoEdits {
  /// A reader of one moment that changes nothing.
  package convenience init(reading timeline: MemoTimeline) throws(MemoError) {
    self.init(try timeline.snapshot(), NameSource(timeline), timeline.indexer)
  }

  /// The memos that follow a position, newest first; `nil` begins with the newest.
  ///
  /// - Complexity: O(`count` + changed memos).
  package func page(after position: MemoKey? = nil, count: Int) throws(MemoError) -> MemoPage {
    let changed = changedMemos
    if changed.hidden.isEmpty, changed.shown.isEmpty {
      return try snapshot.page(after: position, count: count)
    }
    var shown = changed.shown.filter { entry in
      position.map { $0.isBefore(entry.key) } ?? true
    }[...]
    var cursor = try snapshot.memos(after: position)
    var stored = try cursor.next(notIn: changed.hidden)
    var memos: [Memo] = []
    var last: MemoKey?
    while memos.count < count {
      if let first = shown.first, stored.map({ first.key.isBefore($0.key) }) ?? true {
        memos.append(first.memo)
        last = first.key
        shown.removeFirst()
      } else if let next = stored {
        memos.append(next.memo)
        last = next.key
        stored = try cursor.next(notIn: changed.hidden)
      } else {
        break
      }
    }
    return MemoPage(memos: memos, next: stored == nil && shown.isEmpty ? nil : last)
  }

  /// Number of memos.
  ///
  /// - Complexity: O(changed memos).
  package var memoCount: Int {
    let changed = changedMemos
    return snapshot.memoCount - changed.hidden.count + changed.shown.count
  }

  /// Number of memos that are not older than an instant.
  ///
  /// - Complexity: O(the number + changed memos).
  package func memoCount(sinceMicroseconds instant: Int64) throws(MemoError) -> Int {
    let changed = changedMemos
    let oldest = MemoKey(microseconds: instant, arrival: 0)
    return try snapshot.memoCount(to: oldest)
      - changed.hidden.count { $0.microseconds >= instant }
      + changed.shown.count { $0.key.microseconds >= instant }
  }

  /// The memos that changed: where they are stored, and what is shown instead, newest first.
  var changedMemos: (hidden: Set<MemoKey>, shown: [(key: MemoKey, memo: Memo)]) {
    var hidden: Set<MemoKey> = []
    var shown: [(key: MemoKey, memo: Memo)] = []
    forEachChange { (place, stored, memo, key) in
      if let stored { hidden.insert(stored) }
      guard let memo else { return }
      // New arrivals are later than all that are stored.
      let arrival = MemoKey(
        microseconds: memo.createdAt.microseconds,
        arrival: UInt64.max - UInt64(arrivalCount - place))
      shown.append((key ?? arrival, memo))
    }
    shown.sort { $0.key.isBefore($1.key) }
    return (hidden, shown)
  }
}

extension MemoKey {
  /// Whether the memo comes earlier in the history: is newer.
  func isBefore(_ other: MemoKey) -> Bool {
    (microseconds, arrival) > (other.microseconds, other.arrival)
  }
}

extension MemoCursor {
  /// The next memo that is stored at none of some places.
  fileprivate mutating func next(
    notIn hidden: Set<MemoKey>
  ) throws(MemoError) -> (key: MemoKey, memo: Memo)? {
    while let next = try next() {
      if !hidden.contains(next.key) { return next }
    }
    return nil
  }
}
