package import KVEngine

// FORMAT.md section 10.7: one record for all indexes of a store, which every batch that changes
// memos reads. A writer strikes out of it the indexes that it does not keep in step, so none is
// ever silently wrong: whoever keeps them builds them again.

/// How far an index of a store is.
package struct MemoIndexState: Sendable, Hashable {
  /// What is done with an index, in the order of the phases.
  ///
  /// Never renumber (FORMAT.md 13).
  package enum Phase: UInt8, CaseIterable, Sendable {
    /// Entries of earlier times are removed; the position is the last key that was.
    case clearing = 0
    /// Stored memos get their entries; the position is the key of the last memo that did.
    case building = 1
    case ready = 2
  }

  /// The number of its name.
  package let number: Int
  package let isUnique: Bool
  /// The version of the app's schema by which its keys are made.
  package let schemaVersion: UInt64
  package var phase = Phase.clearing
  /// Whether there may be entries that count for nothing, since a memo that went could not be
  /// decoded.
  package var mayHaveStrays = false
  /// How many memos had the key of an older arrival when the index was built.
  package var conflictCount: UInt64 = 0
  package var position: [UInt8] = []

  package init(number: Int, isUnique: Bool, schemaVersion: UInt64) {
    self.number = number
    self.isUnique = isUnique
    self.schemaVersion = schemaVersion
  }

  /// Where its entries are.
  var space: Space { isUnique ? MemoSpace.uniqueKeys : MemoSpace.orderedKeys }
}

/// The indexes of a store.
package struct MemoIndexTable: Sendable, Hashable {
  /// The key in the space of names.
  package static let key: [UInt8] = [0xFE]
  /// The version of the record.
  package static let version: UInt64 = 0
  private static let (uniqueFlag, straysFlag): (UInt64, UInt64) = (1, 2)

  /// By ascending numbers.
  package private(set) var states: [MemoIndexState] = []

  package init() {}

  /// Adds an index, in place of the one with its number if there is one.
  package mutating func set(_ state: MemoIndexState) {
    states.removeAll { $0.number == state.number }
    let place = states.firstIndex { $0.number > state.number } ?? states.endIndex
    states.insert(state, at: place)
  }

  /// The index with a number, `nil` without one.
  package subscript(number: Int) -> MemoIndexState? { states.first { $0.number == number } }

  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: Self.version)
    bytes.append(varint: UInt64(states.count))
    for state in states {
      bytes.append(varint: UInt64(state.number))
      bytes.append(
        varint: (state.isUnique ? Self.uniqueFlag : 0)
          | (state.mayHaveStrays ? Self.straysFlag : 0))
      bytes.append(varint: state.schemaVersion)
      bytes.append(state.phase.rawValue)
      bytes.append(varint: state.conflictCount)
      bytes.append(varint: UInt64(state.position.count))
      bytes += state.position
    }
    return bytes
  }

  package static func decode(_ value: RawSpan) throws(FormatError) -> MemoIndexTable {
    var reader = ByteReader(value, structure: "index table")
    let found = try reader.varint()
    guard found == version else {
      throw reader.failure("has version \(found); a newer program can read it")
    }
    var table = MemoIndexTable()
    for _ in 0..<(try reader.count(maximum: MemoNames.maximumCount)) {
      let number = try reader.count(maximum: MemoNames.maximumCount - 1)
      guard number > table.states.last?.number ?? -1 else {
        throw reader.failure("numbers do not ascend")
      }
      let flags = try reader.varint()
      guard flags & ~(uniqueFlag | straysFlag) == 0 else {
        throw reader.failure("has unknown flags \(flags); a newer program can read it")
      }
      var state = MemoIndexState(
        number: number, isUnique: flags & uniqueFlag != 0, schemaVersion: try reader.varint())
      state.mayHaveStrays = flags & straysFlag != 0
      let code = try reader.u8()
      guard let phase = MemoIndexState.Phase(rawValue: code) else {
        throw reader.failure("unknown phase \(code)")
      }
      state.phase = phase
      state.conflictCount = try reader.varint()
      state.position = try reader.takeArray(
        try reader.count(maximum: Limits.Key.maximumByteCount))
      table.states.append(state)
    }
    guard reader.isAtEnd else { throw reader.failure("bytes follow the table") }
    return table
  }
}
