package import KVEngine

extension MemoTimeline {
  /// Reads everything and checks it: the engine's structures, and that memos and ids are in step.
  ///
  /// - Throws: What keeps from reading; damage is in the report.
  /// - Complexity: O(bytes of the store) and one look-up for each memo.
  package func verify() throws(MemoError) -> VerificationReport {
    var report = try Self.engine { () throws(DatabaseError) in try database.verify() }
    // Behind a damaged block nothing can be said of memos and ids.
    guard report.isSound else { return report }
    do throws(MemoError) {
      let snapshot = try snapshot()
      let names = try Self.names(in: snapshot) { error in
        report.add(Corruption(error, fileName: "meta space"))
      }
      try verifyMemos(in: snapshot, names, &report)
      try verifyTrash(in: snapshot, &report)
      try verifyFeed(in: snapshot, &report)
      try verifyIndexes(in: snapshot, &report)
      try verifyCollections(in: snapshot, names, &report)
    } catch {
      // Damaged since the engine has read it.
      guard case .database(.damaged(let corruption)) = error else { throw error }
      report.add(corruption)
    }
    return report
  }

  private func verifyMemos(
    in snapshot: Snapshot, _ names: MemoNames, _ report: inout VerificationReport
  ) throws(MemoError) {
    var memoCount = 0
    var strayCount = 0
    var cursor = MemoCursor(
      try Self.engine { () throws(DatabaseError) in
        try snapshot.cursor(space: MemoSpace.memos)
      })
    while try cursor.moveForward() {
      memoCount += 1
      do throws(MemoError) {
        let (key, memo) = try cursor.current()
        try memo.verifyPayload(names)
        if try snapshot.find(memo.id)?.key != key { strayCount += 1 }
      } catch {
        guard case .damagedRecord(let corruption) = error else { throw error }
        report.add(corruption)
      }
    }
    if strayCount > 0 {
      report.addMismatch("is not where its id says, in \(strayCount) cases")
    }
    let keptCount = snapshot.count(in: MemoSpace.memos)
    if memoCount != keptCount {
      report.addMismatch("there are \(memoCount), not \(keptCount) as is kept")
    }
    let idCount = try idCount(in: snapshot)
    if idCount != memoCount {
      report.addMismatch("there are \(memoCount) for \(idCount) ids")
    }
  }

  private func verifyTrash(
    in snapshot: Snapshot, _ report: inout VerificationReport
  ) throws(MemoError) {
    var count = 0
    var cursor = try Self.engine { () throws(DatabaseError) in
      try snapshot.cursor(space: MemoSpace.trash)
    }
    while try cursor.advance() {
      count += 1
      do throws(FormatError) {
        _ = try DeletedMemo.decode(cursor.value, key: try TrashKey.decode(cursor.key))
      } catch {
        report.add(Corruption(error, fileName: "trash space"))
      }
    }
    let keptCount = snapshot.count(in: MemoSpace.trash)
    if count != keptCount {
      report.addMismatch("there are \(count) in the trash, not \(keptCount) as is kept")
    }
  }

  private func idCount(in snapshot: Snapshot) throws(MemoError) -> Int {
    do {
      var cursor = try snapshot.cursor(space: MemoSpace.ids)
      var count = 0
      while try cursor.moveForward() { count += 1 }
      return count
    } catch {
      throw .database(error)
    }
  }

  /// What the store's files are.
  package func storeSummary() throws(MemoError) -> StoreSummary {
    try Self.engine { () throws(DatabaseError) in try database.storeSummary() }
  }
}

extension Memo {
  /// Checks that the payload decodes and that its fields have names.
  fileprivate func verifyPayload(_ names: MemoNames) throws(MemoError) {
    if payload.isEmpty { return }
    do throws(FormatError) {
      let decoded = try MemoPayload(encoded: payload.rawBytes)
      guard decoded.numbers.allSatisfy({ names[$0] != nil }) else {
        throw FormatError("memo payload", at: 0, "has a field without a name")
      }
    } catch {
      throw .damagedRecord(Corruption(error, fileName: "memo space"))
    }
  }
}

extension VerificationReport {
  fileprivate mutating func addMismatch(_ reason: String) {
    add(Corruption(fileName: "memo space", offset: 0, structure: "memo", reason: reason))
  }
}
