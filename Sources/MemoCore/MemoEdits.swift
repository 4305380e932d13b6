internal import KVEngine

/// What one commit does to memos, decided at one moment.
///
/// Every change of memos is made of these: what becomes of each memo is collected by its id, so one
/// that is changed twice is written once, and reads of it see the change; the batch is made of it
/// at one place, and is judged by all that was looked up. Used by one call of `MemoTimeline.write`.
package final class MemoEdits {
  /// What becomes of the memo with one id.
  fileprivate struct Edit {
    let stored: StoredMemo?
    var memo: Memo?
    /// Where the memo is: stored, or as it was before it was deleted; `nil` when it arrives with
    /// the commit.
    var key: MemoKey?

    var change: MemoChange? {
      switch (stored, memo) {
      case (nil, nil): nil
      case (nil, .some): key == nil ? .inserted : .restored
      case (.some, nil): .deleted
      case (.some(let stored), .some(let memo)):
        stored.memo == memo && key != nil ? nil : .updated
      }
    }
  }

  /// What becomes of a deleted memo.
  fileprivate struct TrashEdit {
    let stored: DeletedMemo?
    var now: DeletedMemo?
  }

  /// Everything that was decided; a copy of it brings it back.
  package struct Decisions {
    /// In the order of arrival; `nil` where a memo has moved on to a later place.
    fileprivate var edits: [Edit?] = []
    fileprivate var places: [MemoID: Int] = [:]
    fileprivate var trash: [TrashKey: TrashEdit] = [:]
    /// Keys of indexes that were looked up, whether a memo had them or not.
    var lookedUp: Set<LookedUpKeys> = []
    var collections = CollectionEdits()
  }

  /// How many arrivals there are so far, at most.
  var arrivalCount: Int { decisions.edits.count }

  let snapshot: Snapshot
  package var decisions = Decisions()
  /// The names of fields, with those that payloads of changed memos add.
  package var names: NameSource
  /// Says by which keys memos are found; `nil` when nobody does.
  let indexer: (any MemoIndexer)?

  init(
    _ snapshot: Snapshot, _ names: consuming NameSource, _ indexer: (any MemoIndexer)?
  ) {
    self.snapshot = snapshot
    self.names = names
    self.indexer = indexer
  }

  // MARK: - Memos

  /// The memo with an id as it will be; `nil` if there will be none.
  package func memo(for id: MemoID) throws(MemoError) -> Memo? {
    try edit(id).memo
  }

  /// Stores a new memo.
  ///
  /// - Throws: ``MemoError/duplicateID`` if there is a memo with the id.
  package func insert(_ memo: Memo) throws(MemoError) {
    guard try self.memo(for: memo.id) == nil else { throw .duplicateID }
    try put(memo)
  }

  /// Stores a memo, in place of the one with its id if there is one.
  ///
  /// The memo keeps its place among memos of the same instant; when the instant changes it moves,
  /// in the same batch. One without a payload keeps what is there. The order is the same as if each
  /// change was a commit of its own.
  package func put(_ newMemo: Memo) throws(MemoError) {
    var memo = newMemo
    var edit = try edit(memo.id)
    let old = edit.memo
    if let old { memo.inheritPayload(of: old) }
    edit.memo = memo
    let isArrival = old?.createdAt.microseconds != memo.createdAt.microseconds
    if isArrival { edit.key = nil }
    // Behind those that have arrived so far.
    set(edit, memo.id, isLast: isArrival)
  }

  /// Deletes the memo with an id.
  ///
  /// - Returns: The memo; `nil` if there was none.
  @discardableResult
  package func delete(_ id: MemoID) throws(MemoError) -> Memo? {
    var edit = try edit(id)
    guard let memo = edit.memo else { return nil }
    edit.memo = nil
    set(edit, id)
    return memo
  }

  private func edit(_ id: MemoID) throws(MemoError) -> Edit {
    if let place = decisions.places[id], let edit = decisions.edits[place] { return edit }
    let stored = try snapshot.find(id)
    let edit = Edit(stored: stored, memo: stored?.memo, key: stored?.key)
    set(edit, id)
    return edit
  }

  private func set(_ edit: Edit, _ id: MemoID, isLast: Bool = false) {
    if let place = decisions.places[id] {
      decisions.edits[place] = isLast ? nil : edit
      if !isLast { return }
    }
    decisions.places[id] = decisions.edits.count
    decisions.edits.append(edit)
  }

  /// Calls a closure for each memo that changes, with its place in the order of arrival, where it
  /// is stored, what it becomes, and where it is then unless it arrives with the commit.
  func forEachChange(
    _ body: (_ place: Int, _ stored: MemoKey?, _ memo: Memo?, _ key: MemoKey?) -> Void
  ) {
    for (place, edit) in decisions.edits.enumerated() {
      guard let edit, edit.change != nil else { continue }
      body(place, edit.stored?.key, edit.memo, edit.key)
    }
  }

  // MARK: - The trash

  /// Deletes the memo with an id so that it can be brought back.
  ///
  /// - Parameters:
  ///   - id: What names the memo.
  ///   - now: The wall clock, in microseconds since 1970.
  ///   - undo: For how long the deletion can be undone, in microseconds.
  ///   - trash: For how long the memo stays in the trash; at least as long.
  /// - Returns: What can be undone; `nil` if there is no such memo, or if the same commit inserts
  ///   it: then there is nothing to bring back, as nobody has seen it.
  /// - Throws: ``MemoError/database(_:)``, ``MemoError/damagedRecord(_:)``.
  package func delete(
    _ id: MemoID, at now: Int64, undoMicroseconds undo: UInt64, trashMicroseconds trash: UInt64
  ) throws(MemoError) -> DeletedMemo? {
    let edit = try edit(id)
    guard let memo = try delete(id), let key = edit.stored?.key ?? edit.key else { return nil }
    let range = MemoTimestamp.supportedMicroseconds
    let deleted = DeletedMemo(
      key: TrashKey(
        deletedAt: min(max(now, range.lowerBound), range.upperBound), arrival: key.arrival),
      memo: memo, undoMicroseconds: undo, trashMicroseconds: trash)
    let stored = try trashEdit(deleted.key).stored
    decisions.trash[deleted.key] = TrashEdit(stored: stored, now: deleted)
    return deleted
  }

  /// Brings a deleted memo back, the same in every field and at the same place.
  ///
  /// - Parameters:
  ///   - key: Which one.
  ///   - now: The wall clock; with `open` it says whether the deletion can still be undone. Without
  ///     it the memo comes back as long as it is in the trash.
  ///   - open: How long this process has had the store open without a pause, in microseconds.
  /// - Returns: The memo.
  /// - Throws: ``MemoError/deletionExpired`` when it is not in the trash any more or cannot be
  ///   undone, ``MemoError/duplicateID`` when there is a memo with its id again.
  @discardableResult
  package func restore(
    _ key: TrashKey, now: Int64? = nil, openFor open: UInt64 = 0
  ) throws(MemoError) -> Memo {
    guard let deleted = try trashEdit(key).now else { throw .deletionExpired }
    if let now, deleted.hasEnded(deleted.undoMicroseconds, now: now, openFor: open) {
      throw .deletionExpired
    }
    var edit = try edit(deleted.memo.id)
    guard edit.memo == nil else { throw .duplicateID }
    edit.memo = deleted.memo
    // One that this commit has moved and deleted arrives anew.
    edit.key = edit.stored == nil || edit.stored?.key == deleted.memoKey ? deleted.memoKey : nil
    set(edit, deleted.memo.id)
    decisions.trash[key]?.now = nil
    return deleted.memo
  }

  /// Takes a deleted memo out of the trash, for good.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  package func remove(_ key: TrashKey) throws(MemoError) -> Bool {
    let isThere = try trashEdit(key).now != nil
    decisions.trash[key]?.now = nil
    return isThere
  }

  /// Takes deleted memos that were just read at this moment out of the trash.
  func remove(_ deleted: [DeletedMemo]) {
    for deleted in deleted where decisions.trash[deleted.key] == nil {
      decisions.trash[deleted.key] = TrashEdit(stored: deleted, now: nil)
    }
  }

  private func trashEdit(_ key: TrashKey) throws(MemoError) -> TrashEdit {
    if let edit = decisions.trash[key] { return edit }
    let stored = try snapshot.deletedMemo(key)
    let edit = TrashEdit(stored: stored, now: stored)
    decisions.trash[key] = edit
    return edit
  }

  // MARK: - The batch

  /// What the commit is to those who are shown memos; `nil` when it changes none.
  var change: MemoChange? {
    var kinds: Set<MemoChange> = []
    for case .some(let edit) in decisions.edits {
      if let change = edit.change { kinds.insert(change) }
    }
    return [.inserted, .restored, .updated, .deleted].first(where: kinds.contains)
  }

  /// Everything that changes the store, under the condition that nothing was written meanwhile
  /// about what was looked up.
  ///
  /// - Parameters:
  ///   - origin: Who writes.
  ///   - now: The wall clock, in microseconds since 1970.
  /// - Returns: What to commit, unless it changes nothing.
  /// - Throws: What reading throws; ``MemoError/duplicateKey(index:id:)``,
  ///   ``MemoError/unencodable(reason:)``.
  func batch(
    origin: String? = nil, at now: () -> Int64
  ) throws(MemoError) -> WriteBatch {
    var batch = WriteBatch()
    var changed: [ChangedMemo] = []
    for case .some(let edit) in decisions.edits where edit.change != nil {
      var place: MemoPlace?
      if let memo = edit.memo {
        place = batch.put(memo, at: edit.key, over: edit.stored)
      } else if let stored = edit.stored {
        batch.delete(stored)
      }
      guard let id = edit.memo?.id ?? edit.stored?.memo.id else { continue }
      changed.append(ChangedMemo(id: id, old: edit.stored, new: edit.memo, place: place))
    }
    try keepIndexes(changed, &batch)
    try record(changed, origin: origin, at: now, &batch)
    // In one order, so that the same commit makes the same bytes.
    for (key, edit) in decisions.trash.sorted(by: { $0.key.isBefore($1.key) }) {
      batch.change(key, from: edit.stored, to: edit.now)
    }
    decisions.collections.addChanges(to: &batch)
    if batch.changesNothing { return batch }
    for (id, place) in decisions.places {
      batch.requireUnchanged(id, decisions.edits[place]?.stored, since: snapshot)
    }
    for key in decisions.trash.keys {
      batch.require(
        unchanged: key.encode(), since: snapshot.sequence, in: MemoSpace.trash)
    }
    for keys in decisions.lookedUp {
      batch.require(
        unchangedPrefix: keys.prefix, since: snapshot.sequence, in: Space(code: keys.spaceCode))
    }
    decisions.collections.addConditions(to: &batch, since: snapshot)
    if let names = names.names {
      batch.add(names)
      if names.raisesSchemaVersion { try raise(names.schemaVersion, &batch) }
    }
    return batch
  }

  /// Names that the batch adds; `nil` when there are none.
  var addedNames: MemoNames? {
    names.names.flatMap { $0.raisesSchemaVersion || !$0.added.isEmpty ? $0 : nil }
  }

  /// Adds the schema version by which the batch is written, unless the store has a newer one.
  private func raise(_ version: UInt64, _ batch: inout WriteBatch) throws(MemoError) {
    let stored = try MemoTimeline.names(in: snapshot) { _ in }
    guard stored.schemaVersion < version else { return }
    var value: [UInt8] = []
    value.append(varint: version)
    batch.put(value, forKey: MemoNames.schemaKey, in: MemoSpace.meta)
    batch.require(
      unchanged: MemoNames.schemaKey, since: snapshot.sequence, in: MemoSpace.meta)
  }
}

extension TrashKey {
  fileprivate func isBefore(_ other: TrashKey) -> Bool {
    (deletedAt, arrival) < (other.deletedAt, other.arrival)
  }
}

extension WriteBatch {
  /// Adds a memo at a place, or as a new arrival, instead of the stored one if there is one.
  ///
  /// - Returns: Where it is then.
  fileprivate mutating func put(
    _ memo: Memo, at key: MemoKey?, over stored: StoredMemo?
  ) -> MemoPlace {
    guard let key else {
      if let stored { delete(stored) }
      return insert(memo)
    }
    put(
      MemoRecord.encode(memo), forKey: key.encode(), in: MemoSpace.memos,
      kind: stored == nil ? .insertion : .put)
    if stored == nil {
      put(
        [], forKey: IDKey(hash: memo.id.hash64, memoKey: key).encode(), in: MemoSpace.ids,
        kind: .put)
    }
    return MemoPlace(key: key)
  }

  /// Adds a memo under an arrival number that the commit gives it.
  private mutating func insert(_ memo: Memo) -> MemoPlace {
    let operation = operationCount
    let key = MemoKey(microseconds: memo.createdAt.microseconds, arrival: 0)
    put(
      MemoRecord.encode(memo), forKey: key.encode(), in: MemoSpace.memos, kind: .insertion,
      slot: KeySlot(offset: MemoKey.arrivalOffset, operation: operation, isInverted: true))
    put(
      [], forKey: IDKey(hash: memo.id.hash64, memoKey: key).encode(), in: MemoSpace.ids,
      kind: .put,
      slot: KeySlot(offset: IDKey.arrivalOffset, operation: operation, isInverted: false))
    return MemoPlace(key: key, operation: operation)
  }

  /// Deletes a stored memo and its id's entry.
  mutating func delete(_ stored: StoredMemo) {
    delete(stored.key.encode(), in: MemoSpace.memos, kind: .removal)
    delete(stored.idKey.encode(), in: MemoSpace.ids, kind: .tombstone)
  }

  /// Puts a deleted memo into the trash or takes it out.
  fileprivate mutating func change(
    _ key: TrashKey, from stored: DeletedMemo?, to now: DeletedMemo?
  ) {
    if let now {
      guard stored != now else { return }
      put(
        now.encode(), forKey: key.encode(), in: MemoSpace.trash,
        kind: stored == nil ? .insertion : .put)
    } else if stored != nil {
      delete(key.encode(), in: MemoSpace.trash, kind: .removal)
    }
  }

  /// Demands that nothing was written about an id since a snapshot, in which it named `stored`.
  ///
  /// A change in place leaves the id's entry alone, so the memo is watched as well.
  fileprivate mutating func requireUnchanged(
    _ id: MemoID, _ stored: StoredMemo?, since snapshot: Snapshot
  ) {
    require(
      unchangedPrefix: IDKey.prefix(hash: id.hash64), since: snapshot.sequence,
      in: MemoSpace.ids)
    if let stored {
      require(unchanged: stored.key.encode(), since: snapshot.sequence, in: MemoSpace.memos)
    }
  }
}
