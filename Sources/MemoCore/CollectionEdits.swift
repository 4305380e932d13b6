internal import KVEngine

/// What becomes of the values of collections in one commit.
///
/// They are records with a key of their own and nothing beside it, so one edit is one operation.
struct CollectionEdits {
  private struct Edit {
    let stored: [UInt8]?
    var now: [UInt8]?
  }

  private var edits: [[UInt8]: Edit] = [:]

  /// The record under a key as it will be; `nil` if there will be none.
  mutating func record(
    forKey key: [UInt8], in snapshot: Snapshot
  ) throws(MemoError) -> [UInt8]? {
    if let edit = edits[key] { return edit.now }
    let stored = try snapshot.collectionRecord(forKey: key)
    edits[key] = Edit(stored: stored, now: stored)
    return stored
  }

  /// Stores a record under a key, or none.
  mutating func set(
    _ record: [UInt8]?, forKey key: [UInt8], in snapshot: Snapshot
  ) throws(MemoError) {
    _ = try self.record(forKey: key, in: snapshot)
    edits[key]?.now = record
  }

  /// The keys whose records change, in order, so that the same commit makes the same bytes.
  var changedKeys: [[UInt8]] {
    edits.filter { $0.value.stored != $0.value.now }.map(\.key)
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Adds the changes to a batch.
  func addChanges(to batch: inout WriteBatch) {
    for key in changedKeys {
      if let record = edits[key]?.now {
        batch.put(record, forKey: key, in: MemoSpace.collections)
      } else {
        batch.delete(key, in: MemoSpace.collections)
      }
    }
  }

  /// Demands that nothing was written since a snapshot under any key that was looked up.
  func addConditions(to batch: inout WriteBatch, since snapshot: Snapshot) {
    for key in edits.keys {
      batch.require(unchanged: key, since: snapshot.sequence, in: MemoSpace.collections)
    }
  }
}

extension MemoEdits {
  /// The record of a collection under a key as it will be; `nil` if there will be none.
  package func collectionRecord(forKey key: [UInt8]) throws(MemoError) -> [UInt8]? {
    try decisions.collections.record(forKey: key, in: snapshot)
  }

  /// Stores the record of a collection under a key, in place of the one that is there.
  package func put(_ record: [UInt8], forKey key: [UInt8]) throws(MemoError) {
    try decisions.collections.set(record, forKey: key, in: snapshot)
  }

  /// Deletes the record of a collection.
  ///
  /// - Returns: Whether it was there.
  package func delete(recordForKey key: [UInt8]) throws(MemoError) -> Bool {
    let isThere = try collectionRecord(forKey: key) != nil
    try decisions.collections.set(nil, forKey: key, in: snapshot)
    return isThere
  }
}
