internal import Dispatch
internal import KVEngine
internal import MemoCore

/// Values of the app's own beside the memos, found by their id: drafts, settings, read marks.
///
/// They have no time and no order, are in no history, trash or search, and are part of the same
/// transactions as memos: see ``MemoTransaction/upsert(_:in:)``. Two collections of a store are the
/// same when their names have the same bytes.
///
/// A type of values may get new properties: those that are optional are `nil` in values that were
/// stored before, for others the type's own `init(from:)` has to say what they are. Properties that
/// the type does not know are lost when a value is stored again.
///
/// ```swift
/// let drafts = store.collection("drafts", of: Draft.self)
/// try await drafts.upsert(Draft(id: noteID, text: "mil"))
/// ```
///
/// Safe to use from any task. A collection keeps its store open.
public struct MemoCollection<Value: Codable & Sendable & Identifiable>: Sendable
where Value.ID: MemoIdentifier {
  /// What the collection is called in its store.
  public let name: String
  let open: OpenStore
  /// The reference to the store that was used; the store is open as long as somebody has one.
  let store: any AnyObject & Sendable

  init(_ name: String, _ open: OpenStore, _ store: any AnyObject & Sendable) {
    self.name = name
    self.open = open
    self.store = store
  }

  // MARK: - Reading

  /// The value with an id, or `nil` if there is none.
  ///
  /// - Parameter id: What names the value.
  /// - Returns: The value.
  /// - Throws: ``MemoError/unreadable(_:reason:)``, ``MemoError/newerSchema(found:known:)`` or
  ///   ``MemoError/damagedRecord(_:)`` if it does not fit the type or does not decode,
  ///   ``MemoError/database(_:)`` if stored bytes do not verify or cannot be read,
  ///   ``MemoError/invalidID(reason:)`` for an id that no value can have,
  ///   ``MemoError/unencodable(reason:)`` if the name of the collection has no bytes or more than
  ///   255.
  /// - Complexity: O(log *n*).
  public func value(for id: Value.ID) throws(MemoError) -> Value? {
    let timeline = try open.timeline
    guard let record = try timeline.collectionRecord(forKey: try key(of: id)) else { return nil }
    var names = NameSource(timeline)
    return try value(of: record.rawBytes, id: try id.memoID, &names)
  }

  /// All values at one moment, in an order that stays the same and means nothing.
  ///
  /// Reads on a queue of its own, never on the caller's thread.
  ///
  /// - Parameter report: Called for each value that does not decode or does not fit the type, which
  ///   is then left out. Default: the first such value makes the call throw.
  /// - Returns: The values.
  /// - Throws: ``MemoError/cancelled`` when the task is cancelled before the read has ended; else
  ///   as ``value(for:)``.
  /// - Complexity: O(values).
  public func values(
    unreadable report: (@Sendable (MemoError) -> Void)? = nil
  ) async throws(MemoError) -> [Value] {
    try await DispatchQueue.scan { isWanted throws(MemoError) in
      try read(report, while: isWanted)
    }
  }

  /// All values; `nil` as soon as they are not wanted any more.
  func read(
    _ report: ((MemoError) -> Void)? = nil, while isWanted: () -> Bool
  ) throws(MemoError) -> [Value]? {
    let timeline = try open.timeline
    var names = NameSource(timeline)
    var values: [Value] = []
    let isComplete = try timeline.forEachCollectionRecord(withPrefix: try prefix()) {
      (id, record) throws(MemoError) in
      do throws(MemoError) {
        values.append(try value(of: record, id: try Self.id(id), &names))
      } catch {
        guard let report, error.concernsOneMemo else { throw error }
        report(error)
      }
      return isWanted()
    }
    return isComplete ? values : nil
  }

  /// Number of values, with those that cannot be read.
  ///
  /// - Returns: All values of one moment.
  /// - Throws: ``MemoError/cancelled`` when the task is cancelled before the read has ended;
  ///   ``MemoError/database(_:)`` if stored bytes do not verify or cannot be read.
  /// - Complexity: O(values); nothing of them is decoded.
  public func count() async throws(MemoError) -> Int {
    try await DispatchQueue.scan { isWanted throws(MemoError) in
      var count = 0
      let isComplete = try open.timeline.forEachCollectionRecord(withPrefix: try prefix()) {
        (_, _) throws(MemoError) in
        count += 1
        return isWanted()
      }
      return isComplete ? count : nil
    }
  }

  /// Says when values may have changed: once at the beginning, then after each commit of this
  /// process that has changed one.
  ///
  /// Commits that follow each other while nobody waits are told of once. A collection whose name
  /// cannot be stored never changes.
  ///
  /// ```swift
  /// for await _ in drafts.changes {
  ///   items = try await drafts.values()
  /// }
  /// ```
  ///
  /// Ends when its task is cancelled; until then the task keeps what it captures, so it belongs to
  /// a screen only where the screen cancels it, as `.task` of SwiftUI does.
  public var changes: AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    guard let watch = watch({ continuation.yield() }) else { return stream }
    continuation.onTermination = { _ in watch.end() }
    continuation.yield()
    return stream
  }

  /// Says who hears of changes; `nil` when there are never any.
  func watch(_ wake: @escaping @Sendable () -> Void) -> CollectionBoard.Watch? {
    (try? prefix()).map { open.board.collections.watch(prefix: $0, wake) }
  }

  // MARK: - Writing

  /// Stores a value, in place of the one with its id if there is one; durable when it returns.
  ///
  /// - Parameter value: What is to be stored. When it is stored already, nothing is written.
  /// - Throws: ``MemoError/invalidID(reason:)`` or ``MemoError/unencodable(reason:)`` if it cannot
  ///   be stored; ``MemoError/database(_:)`` if it could not be written.
  public func upsert(_ value: Value) async throws(MemoError) {
    try await upsert(contentsOf: [value])
  }

  /// Stores values, each in place of the one with its id if there is one, all or none; durable when
  /// it returns.
  ///
  /// - Parameter values: What is to be stored; of two with one id the last one stays.
  /// - Throws: As ``upsert(_:)``, for the first value that cannot be stored.
  public func upsert(contentsOf values: [Value]) async throws(MemoError) {
    try await open.write { edits throws(MemoError) in
      for value in values { try put(value, edits) }
    }
  }

  /// Changes a value, or one to start with if there is none, and stores it; durable when it
  /// returns.
  ///
  /// When somebody else writes to the value at the same time, the closure is called again with the
  /// newer one. It runs in the caller's isolation and has returned when this call returns.
  ///
  /// - Parameters:
  ///   - id: What names the value.
  ///   - initial: What the closure gets when there is no value with the id; has this id.
  ///   - change: Gets the value as it is; may change everything but the id.
  /// - Returns: The value as it is stored now.
  /// - Throws: ``MemoError/changedID`` if the closure changed the id; else as ``value(for:)`` and
  ///   ``upsert(_:)``.
  @discardableResult
  public func update(
    _ id: Value.ID, default initial: Value, _ change: (inout Value) -> Void
  ) async throws(MemoError) -> Value {
    let key = try key(of: id)
    let memoID = try id.memoID
    while true {
      let timeline = try open.timeline
      let record = try timeline.collectionRecord(forKey: key)
      var names = NameSource(timeline)
      var changing = initial
      if let record { changing = try value(of: record.rawBytes, id: memoID, &names) }
      change(&changing)
      guard try changing.id.memoID == memoID else { throw .changedID }
      let changed = changing
      let isWritten = try await open.write { edits throws(MemoError) in
        guard try edits.collectionRecord(forKey: key) == record else { return false }
        try put(changed, edits)
        return true
      }
      if isWritten { return changed }
    }
  }

  /// Deletes the value with an id, for good; durable when it returns.
  ///
  /// A value that does not fit the type is deleted as well.
  ///
  /// - Parameter id: What names the value.
  /// - Returns: Whether it was there; if not, nothing is written.
  /// - Throws: ``MemoError/database(_:)`` if it could not be written,
  ///   ``MemoError/invalidID(reason:)`` for an id that no value can have.
  @discardableResult
  public func delete(_ id: Value.ID) async throws(MemoError) -> Bool {
    try await open.write { edits throws(MemoError) in try delete(id, edits) }
  }
}

extension MemoCollection {
  // MARK: - In a commit

  fileprivate func value(_ id: Value.ID, _ edits: MemoEdits) throws(MemoError) -> Value? {
    guard let record = try edits.collectionRecord(forKey: try key(of: id)) else { return nil }
    return try value(of: record.rawBytes, id: try id.memoID, &edits.names)
  }

  fileprivate func put(_ value: Value, _ edits: MemoEdits) throws(MemoError) {
    let key = try key(of: value.id)
    var names = try edits.names.names()
    let record = try EntityCoder.encode(value, &names)
    edits.names.add(names)
    try edits.put(
      CollectionRecord.encode(MemoPayload(schemaVersion: 0, record: record)), forKey: key)
  }

  fileprivate func delete(_ id: Value.ID, _ edits: MemoEdits) throws(MemoError) -> Bool {
    try edits.delete(recordForKey: try key(of: id))
  }

  // MARK: - Records

  private func prefix() throws(MemoError) -> [UInt8] { try CollectionRecord.prefix(of: name) }

  private func key(of id: Value.ID) throws(MemoError) -> [UInt8] {
    try CollectionRecord.key(of: try id.memoID, in: name)
  }

  private static func id(_ id: Result<MemoID, FormatError>) throws(MemoError) -> MemoID {
    do {
      return try id.get()
    } catch {
      throw .damagedRecord(Corruption(error, fileName: "collection space"))
    }
  }

  /// The value that a record stands for.
  private func value(
    of record: RawSpan, id: MemoID, _ names: inout NameSource
  ) throws(MemoError) -> Value {
    let payload: MemoPayload
    do throws(FormatError) {
      payload = try CollectionRecord.decode(record)
    } catch {
      throw .damagedRecord(Corruption(error, fileName: "collection space"))
    }
    guard payload.schemaVersion == 0 else {
      throw .newerSchema(found: Int(clamping: payload.schemaVersion), known: 0)
    }
    let table = try names.names(upTo: payload.record.highestNumber)
    let value: Value
    do {
      value = try Value(
        from: PayloadDecoder(
          .record(payload.record), DecodingScope(names: table, memo: nil), step: nil))
    } catch {
      throw .unreadable(id, reason: EntityCoder<Value>.reason(for: error, table))
    }
    guard try value.id.memoID == id else {
      throw .unreadable(id, reason: "its fields hold another id")
    }
    return value
  }
}

extension MemoStore where Entity: MemoEntity {
  /// Values of the app's own beside the memos.
  ///
  /// Nothing is read or created by this call.
  ///
  /// - Parameters:
  ///   - name: What the collection is called, for as long as it is stored: 1 to 255 bytes of UTF-8;
  ///     with another name every read and write throws.
  ///   - type: What its values are.
  /// - Returns: The collection, there or not.
  public func collection<Value: Codable & Sendable & Identifiable>(
    _ name: String, of type: Value.Type
  ) -> MemoCollection<Value> where Value.ID: MemoIdentifier {
    MemoCollection(name, open, self)
  }
}

extension MemoTransaction {
  /// The value of a collection with an id, with the changes so far, or `nil` if there is none.
  ///
  /// - Parameters:
  ///   - id: What names the value.
  ///   - collection: One of this store.
  /// - Returns: The value.
  /// - Throws: As ``MemoCollection/value(for:)``.
  public func value<Value>(
    for id: Value.ID, in collection: MemoCollection<Value>
  ) throws(MemoError) -> Value? {
    try collection.value(id, edits)
  }

  /// Stores a value of a collection, in place of the one with its id if there is one.
  ///
  /// - Parameters:
  ///   - value: What is to be stored.
  ///   - collection: One of this store.
  /// - Throws: As ``MemoCollection/upsert(_:)``.
  public func upsert<Value>(
    _ value: Value, in collection: MemoCollection<Value>
  ) throws(MemoError) {
    try collection.put(value, edits)
  }

  /// Deletes the value of a collection with an id, for good.
  ///
  /// - Parameters:
  ///   - id: What names the value.
  ///   - collection: One of this store.
  /// - Returns: Whether it was there.
  /// - Throws: As ``MemoCollection/delete(_:)``.
  @discardableResult
  public func delete<Value>(
    _ id: Value.ID, in collection: MemoCollection<Value>
  ) throws(MemoError) -> Bool {
    try collection.delete(id, edits)
  }
}

extension MemoReader {
  /// The value of a collection with an id, or `nil` if there is none.
  ///
  /// - Parameters:
  ///   - id: What names the value.
  ///   - collection: One of this store.
  /// - Returns: The value.
  /// - Throws: As ``MemoCollection/value(for:)``.
  public func value<Value>(
    for id: Value.ID, in collection: MemoCollection<Value>
  ) throws(MemoError) -> Value? {
    try collection.value(id, edits)
  }
}
