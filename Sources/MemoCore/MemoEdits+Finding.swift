internal import KVEngine

// Look-ups by keys of indexes. Each entry that is met is checked against its memo: one that a memo
// has left behind, since it could not be decoded when it went, counts for nothing.

/// Keys of an index by which a decision was made.
struct LookedUpKeys: Hashable {
  let prefix: [UInt8]
  let spaceCode: UInt8
}

extension MemoEdits {
  /// The newest memo with exactly a key, with the changes so far; `nil` if there is none.
  ///
  /// In a unique index it is the only one.
  ///
  /// - Throws: ``MemoError/indexNotReady(index:)``, and what the engine throws.
  /// - Complexity: O(log *n* + changed memos).
  package func memo(
    at values: [MemoIndexValue], in declaration: MemoIndexDeclaration
  ) throws(MemoError) -> Memo? {
    let (changed, wanted) = (changedMemos, MemoIndexKey(number: 0, values: values))
    guard let place = indexer?.declarations.firstIndex(of: declaration) else {
      throw .indexNotReady(index: declaration.name)
    }
    var found: (key: MemoKey, memo: Memo)?
    for entry in changed.shown where found == nil {
      guard let values = try keys(of: entry.memo)?[place] else { continue }
      // Compared as they are stored: zero has no sign there, and times have no offset.
      if MemoIndexKey(number: 0, values: values).encode() == wanted.encode() { found = entry }
    }
    guard let index = try readyIndex(declaration), wanted.canBeStored else { return found?.memo }
    let key = MemoIndexKey(number: index.state.number, values: values).encode()
    decisions.lookedUp.insert(LookedUpKeys(prefix: key, spaceCode: index.state.space.code))
    if index.state.isUnique {
      if let found { return found.memo }
      guard let id = try snapshot.holder(ofUniqueKey: key), let memo = try readableMemo(for: id),
        index.key(try keys(of: memo)) == key
      else { return nil }
      return memo
    }
    // Longer keys that begin with these values come before: behind the values they go on with a
    // kind, and these with a time, whose first byte is greater in all years that there are.
    let range = KeyRange(
      lower: key + [UInt8(MemoIndexValue.Kind.allCases.count + 1)], upper: key.prefixSuccessor)
    var stored: (key: MemoKey, memo: Memo)?
    try forEachMemo(in: index, range) { (key, memo) throws(MemoError) in
      if changed.hidden.contains(key) { return true }
      stored = (key, memo)
      return false
    }
    guard let stored else { return found?.memo }
    return found.map { $0.key.isBefore(stored.key) ? $0.memo : stored.memo } ?? stored.memo
  }

  /// The memos whose keys lie in a range, in the order of the keys, as they are stored.
  ///
  /// - Parameters:
  ///   - declaration: The index.
  ///   - lower: The first key; also without some or all of the last values.
  ///   - upper: The last key, with all that begin with these values; none when it is empty.
  ///   - count: At most this many.
  ///   - descending: Whether the order is turned around.
  /// - Returns: The memos; of one key the newest first, unless turned around.
  /// - Throws: ``MemoError/indexNotReady(index:)``, and what the engine throws.
  package func storedMemos(
    in declaration: MemoIndexDeclaration, from lower: [MemoIndexValue],
    through upper: [MemoIndexValue], count: Int, descending: Bool
  ) throws(MemoError) -> [Memo] {
    var memos: [Memo] = []
    try forEachStoredMemo(in: declaration, from: lower, through: upper, descending: descending) {
      (memo) throws(MemoError) in
      guard memos.count < count else { return false }
      memos.append(memo)
      return memos.count < count
    }
    return memos
  }

  /// Calls a closure for each memo whose key lies in a range, in the order of the keys, as they are
  /// stored; see ``storedMemos(in:from:through:count:descending:)``.
  ///
  /// - Parameters:
  ///   - declaration: The index.
  ///   - lower: The first key; also without some or all of the last values.
  ///   - upper: The last key, with all that begin with these values; none when it is empty.
  ///   - descending: Whether the order is turned around.
  ///   - body: Returns whether to go on.
  /// - Throws: ``MemoError/indexNotReady(index:)``, what the engine throws, and what `body` throws.
  package func forEachStoredMemo(
    in declaration: MemoIndexDeclaration, from lower: [MemoIndexValue],
    through upper: [MemoIndexValue], descending: Bool,
    _ body: (Memo) throws(MemoError) -> Bool
  ) throws(MemoError) {
    guard let index = try readyIndex(declaration) else { return }
    let bounds = [lower, upper].map {
      MemoIndexKey(number: index.state.number, values: $0).encode()
    }
    guard let end = bounds[1].prefixSuccessor, compareBytes(bounds[0], end) < 0 else { return }
    try forEachMemo(
      in: index, .range(from: bounds[0], upTo: end), descending: descending
    ) { (_, memo) throws(MemoError) in try body(memo) }
  }

  /// An index that may be believed; `nil` when there is nothing to find, as the store is empty.
  private func readyIndex(
    _ declaration: MemoIndexDeclaration
  ) throws(MemoError) -> KeptIndex? {
    let table = try snapshot.indexTable()
    if table == nil, indexer != nil, snapshot.memoCount == 0 { return nil }
    let kept = try keptIndexes(table ?? MemoIndexTable())
    let index = kept.first { indexer?.declarations[$0.place] == declaration }
    guard let index, index.state.phase == .ready else {
      throw .indexNotReady(index: declaration.name)
    }
    return index
  }

  private func forEachMemo(
    in index: KeptIndex, _ range: KeyRange, descending: Bool = false,
    _ body: (MemoKey, Memo) throws(MemoError) -> Bool
  ) throws(MemoError) {
    var cursor = try MemoTimeline.engine { () throws(DatabaseError) in
      try snapshot.cursor(in: range, space: index.state.space)
    }
    while try descending ? cursor.goBack() : cursor.advance() {
      guard let entry = try snapshot.memo(of: cursor, isUnique: index.state.isUnique),
        index.key(try keys(of: entry.memo)) == entry.indexKey
      else { continue }
      guard try body(entry.key, entry.memo) else { return }
    }
  }

  /// How many memos had the key of an older one when an index was built.
  package func conflictCount(
    of declaration: MemoIndexDeclaration
  ) throws(MemoError) -> Int {
    Int(clamping: try readyIndex(declaration)?.state.conflictCount ?? 0)
  }
}

extension Snapshot {
  /// The memo to which the entry of an index leads, and the key that it should have; `nil` when
  /// there is none.
  fileprivate func memo(
    of cursor: borrowing Cursor, isUnique: Bool
  ) throws(MemoError) -> (key: MemoKey, memo: Memo, indexKey: [UInt8])? {
    var indexKey = [UInt8](copying: cursor.key)
    if isUnique {
      guard let id = try? MemoID(encoded: cursor.value), let stored = try find(id) else {
        return nil
      }
      return (stored.key, stored.memo, indexKey)
    }
    guard indexKey.count > MemoKey.byteCount else { return nil }
    let place = Array(indexKey.suffix(MemoKey.byteCount))
    indexKey.removeLast(MemoKey.byteCount)
    let value = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.value(forKey: place, in: MemoSpace.memos)
    }
    guard let value, let key = try? MemoKey.decode(place.rawBytes) else { return nil }
    let memo = try decoding(in: "memo") { () throws(FormatError) in
      try MemoRecord.decode(value.rawBytes, key: key)
    }
    return (key, memo, indexKey)
  }
}

extension Cursor {
  /// Goes to the entry before; the engine's error becomes ours.
  fileprivate mutating func goBack() throws(MemoError) -> Bool {
    do {
      return try moveBackward()
    } catch {
      throw .database(error)
    }
  }
}
