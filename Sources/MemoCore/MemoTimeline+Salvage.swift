package import KVEngine
package import KVSalvage

extension MemoTimeline {
  /// Rebuilds what can be read of a damaged store in another folder, with memos and ids in step.
  ///
  /// Where blocks are lost, a memo may have lost its id, or an id its memo; where replaced files
  /// fill in, an older version of a memo may be back at the time it was moved from. So ids without
  /// memo go, memos without id get theirs back, and of two memos with one id the newer stays.
  ///
  /// - Throws: As `Database.salvage`.
  /// - Complexity: O(bytes of the store), and one look-up for each memo when something was lost.
  package static func salvage(
    storeAt path: String, to target: String, options: DatabaseOptions = DatabaseOptions()
  ) throws(MemoError) -> SalvageReport {
    let report = try engine { () throws(DatabaseError) in
      try Database.salvage(storeAt: path, to: target, options: prepared(options))
    }
    if report.isComplete, !report.mayHoldDeletedKeys { return report }
    let timeline = try MemoTimeline(at: target, options: options)
    try timeline.removeStrayIDs()
    try timeline.addMissingIDs()
    try timeline.removeOlderVersions()
    try timeline.reserveLostNames()
    try timeline.forgetIndexes()
    // Changes may be lost, so nobody may go on from where they have read.
    try timeline.endFeed()
    try timeline.close()
    return report
  }

  /// Operations of one batch.
  private static let batchOperationCount = 1000

  private func write(
    _ batch: inout WriteBatch, ifAtLeast count: Int = batchOperationCount
  ) throws(MemoError) {
    guard batch.operationCount >= count else { return }
    let full = batch
    try Self.engine { () throws(DatabaseError) in _ = try database.write(full) }
    batch = WriteBatch()
  }

  private func removeStrayIDs() throws(MemoError) {
    let snapshot = try snapshot()
    var batch = WriteBatch()
    var cursor = try Self.engine { () throws(DatabaseError) in
      try snapshot.cursor(space: MemoSpace.ids)
    }
    while true {
      do throws(DatabaseError) {
        guard let entry = try cursor.next() else { break }
        let id = try? IDKey.decode(entry.key.rawBytes)
        let memo = try id.flatMap { id throws(DatabaseError) in
          try snapshot.value(forKey: id.memoKey.encode(), in: MemoSpace.memos)
        }
        if memo == nil { batch.delete(entry.key, in: MemoSpace.ids, kind: .tombstone) }
      } catch {
        throw .database(error)
      }
      try write(&batch)
    }
    try write(&batch, ifAtLeast: 1)
  }

  private func addMissingIDs() throws(MemoError) {
    let snapshot = try snapshot()
    var batch = WriteBatch()
    try forEachMemo(in: snapshot) { (key, memo) throws(MemoError) in
      let id = IDKey(hash: memo.id.hash64, memoKey: key).encode()
      let known = try Self.engine { () throws(DatabaseError) in
        try snapshot.value(forKey: id, in: MemoSpace.ids)
      }
      if known == nil { batch.put([], forKey: id, in: MemoSpace.ids, kind: .put) }
      try write(&batch)
    }
    try write(&batch, ifAtLeast: 1)
  }

  private func removeOlderVersions() throws(MemoError) {
    let snapshot = try snapshot()
    var batch = WriteBatch()
    try forEachMemo(in: snapshot) { (key, memo) throws(MemoError) in
      // Of several it finds the oldest.
      guard let found = try snapshot.find(memo.id), found.key != key else { return }
      batch.delete(found)
      try write(&batch)
    }
    try write(&batch, ifAtLeast: 1)
  }

  /// Keeps the numbers of names that are lost from being given to other names.
  private func reserveLostNames() throws(MemoError) {
    let snapshot = try snapshot()
    var highest = -1
    try forEachMemo(in: snapshot) { (_, memo) throws(MemoError) in
      guard let payload = try? MemoPayload(encoded: memo.payload.rawBytes) else { return }
      highest = max(highest, payload.record.highestNumber)
    }
    _ = try snapshot.forEachCollectionRecord { (_, value) throws(MemoError) in
      if let payload = try? CollectionRecord.decode(value) {
        highest = max(highest, payload.record.highestNumber)
      }
      return true
    }
    guard try Self.names(in: snapshot, { _ in }).count <= highest else { return }
    var batch = WriteBatch()
    batch.put(
      Array("lost field".utf8), forKey: MemoNames.key(of: highest), in: MemoSpace.meta)
    try write(&batch, ifAtLeast: 1)
  }

  /// All memos that decode, newest first.
  private func forEachMemo(
    in snapshot: Snapshot, _ body: (MemoKey, Memo) throws(MemoError) -> Void
  ) throws(MemoError) {
    var cursor = MemoCursor(
      try Self.engine { () throws(DatabaseError) in
        try snapshot.cursor(space: MemoSpace.memos)
      })
    while try cursor.moveForward() {
      guard let (key, memo) = try? cursor.current() else { continue }
      try body(key, memo)
    }
  }
}
