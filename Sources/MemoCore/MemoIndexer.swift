internal import KVEngine

/// An index as an app declares it.
package struct MemoIndexDeclaration: Sendable, Equatable {
  package let name: String
  /// Whether no two memos may have the same key.
  package let isUnique: Bool

  package init(name: String, isUnique: Bool) {
    self.name = name
    self.isUnique = isUnique
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.isUnique == right.isUnique && left.hasName(of: right)
  }

  /// Whether both have the same name, byte for byte.
  package func hasName(of other: Self) -> Bool { name.hasSameBytes(as: other.name) }
}

/// Says by which keys the memos of an app are found.
///
/// Its keys depend on nothing but the memo and ``schemaVersion``.
package protocol MemoIndexer: Sendable {
  /// At least one; no two with the same name.
  var declarations: [MemoIndexDeclaration] { get }
  /// The version of the app's schema, by which the keys are made.
  var schemaVersion: UInt64 { get }

  /// The key of a memo in each index, without values where it is in none; `nil` for a memo that
  /// cannot be decoded, which is in no index.
  func keys(
    of memo: Memo, _ names: inout NameSource
  ) throws(MemoError) -> [[MemoIndexValue]]?
}

/// An index that is kept in step with memos.
struct KeptIndex {
  /// Its place among those that the app declares.
  let place: Int
  let name: String
  let state: MemoIndexState

  /// The stored form of a memo's key; `nil` for a memo that is not in the index, as it has none or
  /// one that cannot be stored.
  func key(_ keys: [[MemoIndexValue]]?) -> [UInt8]? {
    guard let values = keys?[place] else { return nil }
    let key = MemoIndexKey(number: state.number, values: values)
    return key.canBeStored ? key.encode() : nil
  }

  /// The same for a memo that is to be written.
  ///
  /// - Throws: ``MemoError/unencodable(reason:)`` for a key that cannot be stored.
  func newKey(_ keys: [[MemoIndexValue]]?) throws(MemoError) -> [UInt8]? {
    let key = key(keys)
    if key == nil, let values = keys?[place], !values.isEmpty {
      throw .unencodable(reason: "its key in the index \(name) has too many values or bytes")
    }
    return key
  }
}

extension Snapshot {
  /// The indexes at this moment; `nil` when there never were any.
  ///
  /// A table that does not decode is one without indexes: they are built again.
  func indexTable() throws(MemoError) -> MemoIndexTable? {
    let value = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.value(forKey: MemoIndexTable.key, in: MemoSpace.meta)
    }
    return value.map { (try? MemoIndexTable.decode($0.rawBytes)) ?? MemoIndexTable() }
  }

  /// The id under a unique key; `nil` when there is none.
  func holder(ofUniqueKey key: [UInt8]) throws(MemoError) -> MemoID? {
    let value = try MemoTimeline.engine { () throws(DatabaseError) in
      try self.value(forKey: key, in: MemoSpace.uniqueKeys)
    }
    // What is no id holds nothing.
    return value.flatMap { try? MemoID(encoded: $0.rawBytes) }
  }
}

extension MemoEdits {
  /// The declared indexes that the store has, by the same kind and version of the schema.
  func keptIndexes(_ table: MemoIndexTable) throws(MemoError) -> [KeptIndex] {
    guard let indexer else { return [] }
    let known = try names.names(upTo: table.states.last?.number ?? -1)
    var kept: [KeptIndex] = []
    for (place, declaration) in indexer.declarations.enumerated() {
      guard let number = known.number(of: declaration.name), let state = table[number],
        state.isUnique == declaration.isUnique, state.schemaVersion == indexer.schemaVersion
      else { continue }
      kept.append(KeptIndex(place: place, name: declaration.name, state: state))
    }
    return kept
  }

  /// Adds the declared indexes that a table does not have.
  func addIndexes(
    to table: inout MemoIndexTable, in phase: MemoIndexState.Phase
  ) throws(MemoError) {
    guard let indexer else { return }
    var known = try names.names(upTo: table.states.last?.number ?? -1)
    for declaration in indexer.declarations {
      guard let number = known.number(adding: declaration.name) else {
        throw .unencodable(reason: MemoNames.refusal)
      }
      guard table[number] == nil else { continue }
      var state = MemoIndexState(
        number: number, isUnique: declaration.isUnique, schemaVersion: indexer.schemaVersion)
      state.phase = phase
      table.set(state)
    }
    names.add(known)
  }

  /// The keys of a memo in the declared indexes; `nil` for one that cannot be decoded.
  func keys(of memo: Memo) throws(MemoError) -> [[MemoIndexValue]]? {
    try indexer?.keys(of: memo, &names)
  }
}
