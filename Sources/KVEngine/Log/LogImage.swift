// After a launch the log's own bytes are the memtable: 20 memos a day fill a log in half a year, so
// every launch replays one, and copying entries into a skip list that serves one read of 200 would
// cost more than the read. Entries are located at open and sorted per space when first needed.

/// Operations where they lie, as a memtable: a recovered log, or a group too large for one.
///
/// Immutable.
package final class LogImage: Sendable {
  /// Where an entry lies in the log, with the first eight key bytes behind the space byte: they
  /// decide nearly every comparison without a look at the log.
  struct Entry {
    let prefix: UInt64
    let tag: EntryTag
    let keyRange: Range<Int>
    let valueRange: Range<Int>
  }

  let buffer: ByteBuffer
  /// The entries of one space.
  private struct SpaceEntries {
    let code: UInt8
    var entries: [Entry]
    /// Whether they are in internal key order yet.
    var isSorted = false
  }

  private let spaces: Lock<[SpaceEntries]>
  /// The newest sequence in the image.
  package let lastSequence: SequenceNumber
  package let entryCount: Int
  /// How the image changes the number of live keys of each space that has entries.
  package let changes: SpaceCounts

  /// Locates the operations of a log's accepted records.
  ///
  /// - Throws: ``FormatError`` when a record's payload does not decode although its checksum holds:
  ///   it was not written by this library.
  package convenience init(_ contents: LogContents) throws(FormatError) {
    var located = Located()
    for record in contents.records {
      try located.add(
        record.payload, of: contents.bytes, count: record.head.operationCount,
        firstSequence: record.head.firstSequence)
    }
    self.init(located, in: contents.bytes, lastSequence: contents.lastSequence)
  }

  /// Locates the operations of a group that is not in a log.
  package convenience init(
    operations: [UInt8], count: Int, firstSequence: SequenceNumber
  ) throws(FormatError) {
    let bytes = ByteBuffer(copying: operations)
    var located = Located()
    try located.add(0..<bytes.byteCount, of: bytes, count: count, firstSequence: firstSequence)
    self.init(located, in: bytes, lastSequence: firstSequence + UInt64(count) - 1)
  }

  private init(_ located: Located, in buffer: ByteBuffer, lastSequence: SequenceNumber) {
    self.buffer = buffer
    self.lastSequence = lastSequence
    spaces = Lock(located.spaces)
    changes = located.changes
    entryCount = located.count
  }

  /// Entries that were found so far.
  private struct Located {
    var spaces: [SpaceEntries] = []
    var changes = SpaceCounts()
    var count = 0

    mutating func add(
      _ payload: Range<Int>, of buffer: ByteBuffer, count operationCount: Int,
      firstSequence: SequenceNumber
    ) throws(FormatError) {
      let base = payload.lowerBound
      var operations = OperationReader(buffer.bytes.extracting(payload), count: operationCount)
      var sequence = firstSequence
      while let operation = try LogImage.next(of: &operations, base: base) {
        let keyRange = (base + operation.key.lowerBound)..<(base + operation.key.upperBound)
        let key = buffer.bytes.extracting(keyRange)
        let space = unsafe key.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        let entry = Entry(
          prefix: LogImage.prefix(of: key),
          tag: EntryTag(sequence: sequence, kind: operation.kind), keyRange: keyRange,
          valueRange: (base + operation.value.lowerBound)..<(base + operation.value.upperBound))
        if let index = spaces.firstIndex(where: { $0.code == space }) {
          spaces[index].entries.append(entry)
        } else {
          spaces.append(SpaceEntries(code: space, entries: [entry]))
        }
        changes.add(operation.kind.change, toSpace: space)
        sequence += 1
        count += 1
      }
    }
  }

  /// Entries of a space in internal key order.
  ///
  /// - Complexity: O(*n* log *n*) the first time, O(1) after it.
  func entries(ofSpace code: UInt8) -> [Entry] {
    spaces.withLock { spaces in
      guard let index = spaces.firstIndex(where: { $0.code == code }) else { return [] }
      if !spaces[index].isSorted {
        spaces[index].entries.sort { precedes($0, $1) }
        spaces[index].isSorted = true
      }
      return spaces[index].entries
    }
  }

  private func precedes(_ a: Entry, _ b: Entry) -> Bool {
    if a.prefix != b.prefix { return a.prefix < b.prefix }
    return compareInternal(key(of: a), a.tag.sequence, key(of: b), b.tag.sequence) < 0
  }

  @_lifetime(borrow self)
  func key(of entry: Entry) -> RawSpan {
    buffer.bytes(entry.keyRange, keptBy: self)
  }

  @_lifetime(borrow self)
  func value(of entry: Entry) -> RawSpan {
    buffer.bytes(entry.valueRange, keptBy: self)
  }

  /// The first eight bytes behind the space byte as a number in key order; shorter keys are padded
  /// with zeros, so equal prefixes say nothing and the keys themselves decide.
  static func prefix(of key: RawSpan) -> UInt64 {
    if let whole = key.bigEndianUInt64(at: 1) { return whole }
    var prefix: UInt64 = 0
    for offset in 1..<9 {
      let byte =
        offset < key.byteCount
        ? unsafe key.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : 0
      prefix = prefix << 8 | UInt64(byte)
    }
    return prefix
  }

  @_lifetime(operations: copy operations)
  private static func next(
    of operations: inout OperationReader, base: Int
  ) throws(FormatError) -> OperationReader.Operation? {
    do {
      return try operations.next()
    } catch {
      throw FormatError(error.structure, at: base + error.offset, error.reason)
    }
  }
}

extension LogImage {
  /// Index of the first entry of a space at or behind an internal key, which may lie outside of it.
  func lowerBound(
    in entries: [Entry], ofSpace code: UInt8, key: RawSpan, sequence: SequenceNumber
  ) -> Int {
    // Prefixes leave the space out, so it is compared first.
    guard key.byteCount > 0 else { return 0 }
    let space = unsafe key.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    guard space == code else { return space < code ? 0 : entries.count }
    let prefix = Self.prefix(of: key)
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      let entry = entries[middle]
      let isBefore =
        entry.prefix != prefix
        ? entry.prefix < prefix
        : compareInternal(self.key(of: entry), entry.tag.sequence, key, sequence) < 0
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A position in one space of a recovered log.
package struct LogImageCursor {
  private let image: LogImage
  private let space: UInt8
  private let entries: [LogImage.Entry]
  private var index: Int

  package init(_ image: LogImage, space: UInt8) {
    self.image = image
    self.space = space
    entries = image.entries(ofSpace: space)
    index = entries.count
  }

  package var isValid: Bool { entries.indices.contains(index) }
  package var tag: EntryTag { entries[index].tag }

  /// Where the entry is, `nil` without one.
  var entry: EntryReference? {
    isValid ? EntryReference(key: key, value: value, tag: tag) : nil
  }

  package var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(image.key(of: entries[index]), borrowing: self) }
  }

  package var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(image.value(of: entries[index]), borrowing: self) }
  }

  /// Goes to the first entry at or behind an internal key.
  package mutating func seek(toFirstAtOrAfter key: RawSpan, sequence: SequenceNumber) {
    index = image.lowerBound(
      in: entries, ofSpace: space, key: key, sequence: sequence)
  }

  /// Goes to the last entry whose key is smaller.
  package mutating func seek(toLastBefore key: RawSpan) {
    index = image.lowerBound(in: entries, ofSpace: space, key: key, sequence: .max) - 1
  }

  package mutating func next() { index += 1 }
  package mutating func previous() { index -= 1 }
}
