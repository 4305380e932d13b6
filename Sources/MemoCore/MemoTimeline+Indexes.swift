internal import KVEngine

extension MemoTimeline {
  /// Says by which keys memos are found, for all writes from now on.
  package func setIndexer(_ indexer: any MemoIndexer) {
    state.withLock { $0.indexer = indexer }
  }

  /// Who says by which keys memos are found; `nil` when nobody does.
  var indexer: (any MemoIndexer)? { state.withLock { $0.indexer } }

  /// Does a part of what the indexes need to be ready, in a commit of its own.
  ///
  /// A process that is killed in between goes on from the last part. Writes take place meanwhile,
  /// and keep what is there in step.
  ///
  /// - Parameter count: How many entries to remove, or memos to add, at most.
  /// - Returns: Whether nothing is left to do.
  /// - Throws: What reading and writing throw.
  package func buildIndexes(atMost count: Int = 500) throws(MemoError) -> Bool {
    guard let indexer else { return true }
    let snapshot = try snapshot()
    defer { withExtendedLifetime(snapshot) {} }
    let edits = MemoEdits(snapshot, NameSource(self, isOutdated: true), indexer)
    guard let batch = try edits.indexingBatch(atMost: count) else { return true }
    // When somebody was faster, the next call sees what they wrote.
    if try commit(batch, .lazy) { edits.addedNames.map(adoptAdded) }
    return false
  }

  /// Makes indexes be built again, after entries may have been lost.
  ///
  /// A store without indexes is left as it is.
  func forgetIndexes() throws(MemoError) {
    let snapshot = try snapshot()
    var isThere = try snapshot.indexTable() != nil
    for space in [MemoSpace.uniqueKeys, MemoSpace.orderedKeys] where !isThere {
      var cursor = try Self.engine { () throws(DatabaseError) in
        try snapshot.cursor(space: space)
      }
      isThere = try cursor.advance()
    }
    guard isThere else { return }
    var batch = WriteBatch()
    batch.put(MemoIndexTable().encode(), forKey: MemoIndexTable.key, in: MemoSpace.meta)
    try Self.engine { () throws(DatabaseError) in _ = try database.write(batch) }
  }

  /// Checks the entries of indexes: that they have a form, and that their memos are there.
  func verifyIndexes(
    in snapshot: Snapshot, _ report: inout VerificationReport
  ) throws(MemoError) {
    let table = try snapshot.indexTable() ?? MemoIndexTable()
    for space in [MemoSpace.uniqueKeys, MemoSpace.orderedKeys] {
      var (malformedCount, strayCount) = (0, 0)
      var cursor = try Self.engine { () throws(DatabaseError) in
        try snapshot.cursor(space: space)
      }
      while try cursor.advance() {
        guard let entry = try? MemoIndexEntry(cursor) else {
          malformedCount += 1
          continue
        }
        // Nobody believes an index that is not ready, and strays are told of.
        guard let state = table[entry.number], state.phase == .ready, !state.mayHaveStrays else {
          continue
        }
        if try !snapshot.hasMemo(of: entry) { strayCount += 1 }
      }
      report.addIndexEntries(malformedCount, "do not decode", in: space)
      report.addIndexEntries(strayCount, "lead to no memo", in: space)
    }
  }
}

/// To which memo an entry of an index leads.
private struct MemoIndexEntry {
  enum Target {
    case id(MemoID)
    case place(MemoKey)
  }

  let number: Int
  let target: Target

  init(_ cursor: borrowing Cursor) throws(FormatError) {
    if cursor.value.isEmpty {
      let (key, memoKey) = try MemoIndexKey.decodeOrdered(cursor.key)
      (number, target) = (key.number, .place(memoKey))
    } else {
      number = try MemoIndexKey.decode(cursor.key).number
      target = .id(try MemoID(encoded: cursor.value))
    }
  }
}

extension Snapshot {
  fileprivate func hasMemo(of entry: MemoIndexEntry) throws(MemoError) -> Bool {
    switch entry.target {
    case .id(let id): return try find(id) != nil
    case .place(let key):
      return try MemoTimeline.engine { () throws(DatabaseError) in
        try value(forKey: key.encode(), in: MemoSpace.memos)
      } != nil
    }
  }
}

extension VerificationReport {
  fileprivate mutating func addIndexEntries(_ count: Int, _ reason: String, in space: Space) {
    guard count > 0 else { return }
    add(
      Corruption(
        fileName: space == MemoSpace.uniqueKeys ? "unique key space" : "ordered key space",
        offset: 0, structure: "index entry", reason: "\(count) of them \(reason)"))
  }
}

extension MemoIndexTable {
  /// Says of all indexes that there may be entries that count for nothing.
  mutating func markStrays() {
    for var state in states {
      state.mayHaveStrays = true
      set(state)
    }
  }
}
