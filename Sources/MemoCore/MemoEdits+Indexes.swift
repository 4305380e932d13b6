internal import KVEngine

// Keeping indexes in step. The batch of a commit is made at one place, so this is the only one that
// has to know of them: it sees each memo as it was and as it will be, and only that counts,
// whatever a transaction did in between.

/// A memo that a commit changes.
struct ChangedMemo {
  let id: MemoID
  let old: StoredMemo?
  let new: Memo?
  /// Where the new one is.
  let place: MemoPlace?
}

/// Where a batch puts a memo.
struct MemoPlace {
  let key: MemoKey
  /// The operation whose number becomes the arrival; `nil` when the memo has one.
  var operation: Int?
}

/// What a commit does to the entries of unique indexes, each by its key.
private struct UniqueChanges {
  /// In the order of the memos, so that the same commit makes the same bytes.
  var released: [(key: [UInt8], id: MemoID)] = []
  var claimed: [(key: [UInt8], id: MemoID, index: KeptIndex)] = []
  var claimants: [[UInt8]: MemoID] = [:]

  mutating func claim(_ key: [UInt8], _ id: MemoID, _ index: KeptIndex) throws(MemoError) {
    if let other = claimants.updateValue(id, forKey: key) {
      throw .duplicateKey(index: index.name, id: other)
    }
    claimed.append((key, id, index))
  }
}

extension MemoEdits {
  /// Adds to a batch what keeps the indexes in step with memos that it changes.
  ///
  /// Indexes of the store that we do not keep lose their state, and so are not believed any more.
  func keepIndexes(_ changes: [ChangedMemo], _ batch: inout WriteBatch) throws(MemoError) {
    if changes.isEmpty { return }
    batch.require(
      unchanged: MemoIndexTable.key, since: snapshot.sequence, in: MemoSpace.meta)
    let found = try snapshot.indexTable()
    if found == nil, indexer == nil { return }
    var table = found ?? MemoIndexTable()
    if found == nil, snapshot.memoCount == 0 { try addIndexes(to: &table, in: .ready) }
    let kept = try keptIndexes(table)
    table = MemoIndexTable()
    for index in kept { table.set(index.state) }
    let lostKeys = try keep(kept, changes, &batch)
    if lostKeys { table.markStrays() }
    if table != found ?? MemoIndexTable() {
      batch.put(table.encode(), forKey: MemoIndexTable.key, in: MemoSpace.meta)
    }
  }

  /// Adds the changes of entries.
  ///
  /// - Returns: Whether a memo goes whose entries cannot be known.
  private func keep(
    _ kept: [KeptIndex], _ changes: [ChangedMemo], _ batch: inout WriteBatch
  ) throws(MemoError) -> Bool {
    if kept.isEmpty { return false }
    var lostKeys = false
    var unique = UniqueChanges()
    for change in changes {
      var (old, new): ([[MemoIndexValue]]?, [[MemoIndexValue]]?)
      if let stored = change.old {
        old = try keys(of: stored.memo)
        if old == nil { lostKeys = true }
      }
      if let memo = change.new { new = try keys(of: memo) }
      for index in kept {
        let (oldKey, newKey) = (index.key(old), try index.newKey(new))
        guard index.state.isUnique else {
          batch.moveEntry(change, from: oldKey, to: newKey)
          continue
        }
        if oldKey == newKey { continue }
        if let oldKey { unique.released.append((oldKey, change.id)) }
        if let newKey { try unique.claim(newKey, change.id, index) }
      }
    }
    try keep(unique, &batch)
    return lostKeys
  }

  private func keep(_ unique: UniqueChanges, _ batch: inout WriteBatch) throws(MemoError) {
    for (key, id) in unique.released where unique.claimants[key] == nil {
      batch.require(unchanged: key, since: snapshot.sequence, in: MemoSpace.uniqueKeys)
      // The entry may be that of another memo, which had the key before the index was there.
      if try snapshot.holder(ofUniqueKey: key) == id {
        batch.delete(key, in: MemoSpace.uniqueKeys, kind: .tombstone)
      }
    }
    for (key, id, index) in unique.claimed {
      batch.require(unchanged: key, since: snapshot.sequence, in: MemoSpace.uniqueKeys)
      if let holder = try snapshot.holder(ofUniqueKey: key), holder != id,
        let memo = try readableMemo(for: holder), index.key(try keys(of: memo)) == key
      {
        throw .duplicateKey(index: index.name, id: holder)
      }
      batch.put(id.encoded, forKey: key, in: MemoSpace.uniqueKeys, kind: .put)
    }
  }

  /// The memo with an id as it will be; one that does not decode has no keys and keeps none.
  func readableMemo(for id: MemoID) throws(MemoError) -> Memo? {
    do {
      return try memo(for: id)
    } catch .damagedRecord {
      return nil
    } catch {
      throw error
    }
  }

  // MARK: - Building

  /// The next part of what the declared indexes need to be ready.
  ///
  /// - Parameter count: How many entries to remove, or memos to add, at most.
  /// - Returns: A batch under the condition that nothing of it has changed since; `nil` when they
  ///   are ready.
  /// - Throws: What reading throws.
  func indexingBatch(atMost count: Int) throws(MemoError) -> WriteBatch? {
    let found = try snapshot.indexTable()
    // The first memo brings the indexes with it.
    if found == nil, snapshot.memoCount == 0 { return nil }
    var batch = WriteBatch()
    let kept = try keptIndexes(found ?? MemoIndexTable())
    var table = MemoIndexTable()
    for index in kept { table.set(index.state) }
    try addIndexes(to: &table, in: .clearing)
    if let state = table.states.first(where: { $0.phase != .ready }) {
      table.set(
        state.phase == .clearing
          ? try clear(state, count, &batch) : try build(state, count, &batch))
    }
    guard table != found ?? MemoIndexTable() else { return nil }
    batch.put(table.encode(), forKey: MemoIndexTable.key, in: MemoSpace.meta)
    batch.require(
      unchanged: MemoIndexTable.key, since: snapshot.sequence, in: MemoSpace.meta)
    if let names = names.names { batch.add(names) }
    return batch
  }

  /// Removes entries that may be of a time when nobody kept them in step.
  private func clear(
    _ old: MemoIndexState, _ count: Int, _ batch: inout WriteBatch
  ) throws(MemoError) -> MemoIndexState {
    var state = old
    let prefix = MemoIndexKey(number: state.number, values: []).encode()
    let lower = state.position.starts(with: prefix) ? state.position + [0] : prefix
    let rest = KeyRange(lower: lower, upper: prefix.prefixSuccessor)
    var cursor = try MemoTimeline.engine { () throws(DatabaseError) in
      try snapshot.cursor(in: rest, space: state.space)
    }
    while batch.operationCount < count {
      guard try cursor.advance() else {
        state.phase = .building
        state.position = []
        return state
      }
      state.position = [UInt8](copying: cursor.key)
      batch.delete(state.position, in: state.space, kind: .tombstone)
    }
    return state
  }

  /// Gives stored memos their entries.
  private func build(
    _ old: MemoIndexState, _ count: Int, _ batch: inout WriteBatch
  ) throws(MemoError) -> MemoIndexState {
    var state = old
    guard let index = try keptIndexes(table(of: state)).first else { return state }
    var cursor = try MemoTimeline.engine { () throws(DatabaseError) in
      try snapshot.cursor(in: .from(state.position + [0]), space: MemoSpace.memos)
    }
    var holders: [[UInt8]: UInt64] = [:]
    for _ in 0..<count {
      guard try cursor.advance() else {
        state.phase = .ready
        state.position = []
        return state
      }
      state.position = [UInt8](copying: cursor.key)
      guard let memoKey = try? MemoKey.decode(cursor.key),
        let memo = try? MemoRecord.decode(cursor.value, key: memoKey)
      else { continue }
      // A key that is too long keeps its memo out of an index that comes later.
      guard let key = index.key(try keys(of: memo)) else { continue }
      batch.require(
        unchanged: state.position, since: snapshot.sequence, in: MemoSpace.memos)
      guard state.isUnique else {
        batch.put([], forKey: key + state.position, in: state.space, kind: .put)
        continue
      }
      batch.require(unchanged: key, since: snapshot.sequence, in: state.space)
      var other = holders[key]
      if other == nil { other = try arrival(ofHolderOf: key, index, besides: memo.id) }
      if other != nil { state.conflictCount += 1 }
      // The older arrival keeps the key.
      if let other, other < memoKey.arrival { continue }
      holders[key] = memoKey.arrival
      batch.put(memo.id.encoded, forKey: key, in: state.space, kind: .put)
    }
    return state
  }

  private func table(of state: MemoIndexState) -> MemoIndexTable {
    var table = MemoIndexTable()
    table.set(state)
    return table
  }

  /// The arrival of another memo that has a unique key by right.
  private func arrival(
    ofHolderOf key: [UInt8], _ index: KeptIndex, besides id: MemoID
  ) throws(MemoError) -> UInt64? {
    guard let holder = try snapshot.holder(ofUniqueKey: key), holder != id else { return nil }
    do {
      guard let stored = try snapshot.find(holder),
        index.key(try keys(of: stored.memo)) == key
      else { return nil }
      return stored.key.arrival
    } catch .damagedRecord {
      return nil
    } catch {
      throw error
    }
  }
}

extension WriteBatch {
  /// Changes the entry of a memo in an ordered index.
  fileprivate mutating func moveEntry(
    _ change: ChangedMemo, from oldKey: [UInt8]?, to newKey: [UInt8]?
  ) {
    let isInPlace = change.place.map { $0.operation == nil && $0.key == change.old?.key } ?? false
    if isInPlace, oldKey == newKey { return }
    if let oldKey, let stored = change.old {
      delete(oldKey + stored.key.encode(), in: MemoSpace.orderedKeys, kind: .tombstone)
    }
    guard let newKey, let place = change.place else { return }
    put(
      [], forKey: newKey + place.key.encode(), in: MemoSpace.orderedKeys, kind: .put,
      slot: place.operation.map {
        KeySlot(
          offset: newKey.count + MemoKey.arrivalOffset, operation: $0, isInverted: true)
      })
  }
}
