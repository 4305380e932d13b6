package import KVEngine

extension MemoTimeline {
  /// The record of a collection under a key, `nil` if there is none.
  ///
  /// - Complexity: O(log *n*).
  package func collectionRecord(forKey key: [UInt8]) throws(MemoError) -> [UInt8]? {
    try briefly { snapshot throws(MemoError) in try snapshot.collectionRecord(forKey: key) }
  }

  /// Calls a closure for each record of a collection at one moment, in the order of their keys,
  /// with the id or why the key holds none.
  ///
  /// - Parameters:
  ///   - prefix: What the keys of the collection begin with.
  ///   - body: Returns whether to go on.
  /// - Returns: Whether it was called for all.
  /// - Throws: What `body` throws; ``MemoError/database(_:)``.
  package func forEachCollectionRecord(
    withPrefix prefix: [UInt8],
    _ body: (Result<MemoID, FormatError>, RawSpan) throws(MemoError) -> Bool
  ) throws(MemoError) -> Bool {
    try snapshot().forEachCollectionRecord(in: .prefix(prefix), body)
  }

  /// Checks that each value of a collection decodes and that its fields have names.
  func verifyCollections(
    in snapshot: Snapshot, _ names: MemoNames, _ report: inout VerificationReport
  ) throws(MemoError) {
    _ = try snapshot.forEachCollectionRecord { (id, value) throws(MemoError) in
      do throws(FormatError) {
        _ = try id.get()
        let payload = try CollectionRecord.decode(value)
        guard payload.numbers.allSatisfy({ names[$0] != nil }) else {
          throw FormatError("collection value", at: 0, "has a field without a name")
        }
      } catch {
        report.add(Corruption(error, fileName: "collection space"))
      }
      return true
    }
  }
}

extension Snapshot {
  func collectionRecord(forKey key: [UInt8]) throws(MemoError) -> [UInt8]? {
    try MemoTimeline.engine { () throws(DatabaseError) in
      try value(forKey: key, in: MemoSpace.collections)
    }
  }

  /// See ``MemoTimeline/forEachCollectionRecord(withPrefix:_:)``; without a range of all
  /// collections.
  func forEachCollectionRecord(
    in range: KeyRange = .all,
    _ body: (Result<MemoID, FormatError>, RawSpan) throws(MemoError) -> Bool
  ) throws(MemoError) -> Bool {
    var cursor = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.cursor(in: range, space: MemoSpace.collections)
    }
    while try cursor.advance() {
      let id: Result<MemoID, FormatError>
      do throws(FormatError) {
        id = .success(try CollectionRecord.id(ofKey: cursor.key))
      } catch {
        id = .failure(error)
      }
      guard try body(id, cursor.value) else { return false }
    }
    return true
  }
}
