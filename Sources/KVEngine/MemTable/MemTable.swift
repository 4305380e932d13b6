/// The ordered table of this process's newest writes.
///
/// `@unchecked Sendable`: `insert` is called by one thread at a time, the leader of the commit
/// pipeline; readers see complete entries only (see `SkipList`), and entries above their sequence
/// do not exist for them.
package final class MemTable: @unchecked Sendable {
  fileprivate let list = SkipList()
  /// How the table changes the number of live keys of each space that has entries.
  ///
  /// For the writer only.
  package private(set) var changes = SpaceCounts()

  package init() {}

  /// Adds the operations of a batch; the first gets `firstSequence`.
  ///
  /// - Throws: ``FormatError`` when the bytes are not `count` operations; nothing of what was added
  ///   becomes visible, because its sequences are never published.
  package func apply(
    _ operations: RawSpan, count: Int, firstSequence: SequenceNumber
  ) throws(FormatError) {
    var reader = OperationReader(operations, count: count)
    var sequence = firstSequence
    while let operation = try reader.next() {
      let key = operations.extracting(operation.key)
      list.insert(
        key: key, tag: EntryTag(sequence: sequence, kind: operation.kind),
        value: operations.extracting(operation.value))
      let space = unsafe key.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
      changes.add(operation.kind.change, toSpace: space)
      sequence += 1
    }
  }

  /// For the writer only.
  package var entryCount: Int { list.entryCount }
}

/// A position in a memlist.
package struct MemTableCursor {
  private let list: SkipList
  private var node: SkipList.Node = 0

  package init(_ table: MemTable) {
    list = table.list
  }

  package var isValid: Bool { node != 0 }
  package var tag: EntryTag { list.tag(node) }

  /// Where the entry is, `nil` without one.
  var entry: EntryReference? {
    isValid ? EntryReference(key: key, value: value, tag: tag) : nil
  }

  package var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(list.key(node, keptBy: list), borrowing: self) }
  }

  package var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(list.value(node, keptBy: list), borrowing: self) }
  }

  /// Goes to the first entry at or behind an internal key.
  package mutating func seek(toFirstAtOrAfter key: RawSpan, sequence: SequenceNumber) {
    node = list.lowerBound(key, sequence)
  }

  /// Goes to the last entry whose key is smaller.
  package mutating func seek(toLastBefore key: RawSpan) {
    node = list.predecessor(of: key, .max)
  }

  package mutating func next() { node = list.next(node) }

  /// - Complexity: O(log *n*): the list has no backward links, since walks back are rare.
  package mutating func previous() { node = list.predecessor(of: key, tag.sequence) }
}
