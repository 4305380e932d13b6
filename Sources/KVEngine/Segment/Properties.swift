/// What a segment holds of one space.
package struct SpaceSummary: Equatable, Sendable {
  package var code: UInt8
  package var entryCount = 0
  /// Entries that delete their key.
  package var tombstoneCount = 0
  /// How the entries change the number of live keys.
  package var change = 0
  /// Key bytes of the first and the last entry, space byte included.
  package var firstKey: [UInt8]
  package var lastKey: [UInt8]
  /// Bytes of the space's data frames.
  package var byteCount = 0

  package init(code: UInt8, firstKey: [UInt8]) {
    self.code = code
    self.firstKey = firstKey
    lastKey = firstKey
  }

  /// Counts one more entry; the key bounds are the caller's business.
  mutating func count(_ kind: RecordKind) {
    entryCount += 1
    if !kind.isPut { tombstoneCount += 1 }
    change += kind.change
  }

  /// Adds what was counted before, in entries in front of these.
  mutating func add(_ before: SpaceSummary) {
    entryCount += before.entryCount
    tombstoneCount += before.tombstoneCount
    change += before.change
    byteCount += before.byteCount
    firstKey = before.firstKey
  }

  fileprivate func encode() -> [UInt8] {
    var bytes = [code]
    bytes.append(varint: UInt64(entryCount))
    bytes.append(varint: UInt64(tombstoneCount))
    bytes.append(zigzag: Int64(change))
    bytes.append(varint: UInt64(firstKey.count))
    bytes.append(contentsOf: firstKey)
    bytes.append(varint: UInt64(lastKey.count))
    bytes.append(contentsOf: lastKey)
    bytes.append(varint: UInt64(byteCount))
    return bytes
  }

  @_lifetime(reader: copy reader)
  fileprivate static func decode(
    _ reader: inout ByteReader, limit: Int
  ) throws(FormatError) -> SpaceSummary {
    let code = try reader.u8()
    // LZ4 makes at most 255 bytes of one, and no entry is smaller than a byte.
    let entryCount = try reader.count(maximum: 256 * limit)
    let tombstoneCount = try reader.count(maximum: entryCount)
    let change = try reader.zigzag()
    guard change.magnitude <= UInt64(entryCount) else {
      throw reader.failure("change is larger than the number of entries")
    }
    let firstKey = try key(&reader, of: code)
    let lastKey = try key(&reader, of: code)
    guard compareBytes(firstKey.rawBytes, lastKey.rawBytes) <= 0 else {
      throw reader.failure("keys are not in order")
    }
    var summary = SpaceSummary(code: code, firstKey: firstKey)
    summary.lastKey = lastKey
    summary.entryCount = entryCount
    summary.tombstoneCount = tombstoneCount
    summary.change = Int(change)
    summary.byteCount = try reader.count(maximum: limit)
    return summary
  }

  @_lifetime(reader: copy reader)
  private static func key(
    _ reader: inout ByteReader, of code: UInt8
  ) throws(FormatError) -> [UInt8] {
    let key = try reader.takeArray(try reader.count(maximum: Limits.Key.maximumByteCount + 1))
    guard key.first == code else { throw reader.failure("key is of another space") }
    return key
  }
}

/// Where the filter of one space is, and of which part of the keys it was made.
package struct FilterHandle: Equatable, Sendable {
  package let spaceCode: UInt8
  /// Key bytes behind the space byte that the filter holds; 0 for whole keys.
  package let prefixByteCount: Int
  package let handle: BlockHandle
}

/// What is known of a segment without reading its data.
package struct Properties: Equatable, Sendable {
  /// What a property says.
  ///
  /// Never renumber (FORMAT.md 13). 4 to 6 are reserved.
  enum Tag: UInt64, CaseIterable {
    case sequences = 1
    case space = 2
    case filter = 3
  }

  package var lowestSequence: SequenceNumber
  package var highestSequence: SequenceNumber
  /// One for each space that has entries, ascending by code.
  package var spaces: [SpaceSummary]
  /// One for each space with a filter, ascending by code.
  package var filters: [FilterHandle]

  func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    var value: [UInt8] = []
    value.append(varint: lowestSequence)
    value.append(varint: highestSequence)
    Self.append(value, .sequences, to: &bytes)
    for space in spaces { Self.append(space.encode(), .space, to: &bytes) }
    for filter in filters {
      value = [filter.spaceCode]
      value.append(varint: UInt64(filter.prefixByteCount))
      value.append(varint: UInt64(filter.handle.offset))
      value.append(varint: UInt64(filter.handle.byteCount))
      Self.append(value, .filter, to: &bytes)
    }
    return bytes
  }

  private static func append(_ value: [UInt8], _ tag: Tag, to bytes: inout [UInt8]) {
    bytes.append(varint: tag.rawValue)
    bytes.append(varint: UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// Decodes the properties of a file whose frames end at `limit`; unknown ones are skipped.
  static func decode(_ bytes: RawSpan, limit: Int) throws(FormatError) -> Properties {
    var reader = ByteReader(bytes, structure: "properties block")
    var properties = Properties(lowestSequence: 1, highestSequence: 0, spaces: [], filters: [])
    var previousTag: UInt64 = 0
    while !reader.isAtEnd {
      let tag = try reader.varint()
      guard tag > previousTag || (tag == previousTag && tag != Tag.sequences.rawValue) else {
        throw reader.failure("properties are not in order")
      }
      previousTag = tag
      let count = try reader.count(maximum: bytes.byteCount)
      var value = ByteReader(try reader.take(count), structure: "properties block")
      switch Tag(rawValue: tag) {
      case .sequences: try properties.takeSequences(&value)
      case .space: try properties.takeSpace(&value, limit: limit)
      case .filter: try properties.takeFilter(&value, limit: limit)
      case nil: continue
      }
      guard value.isAtEnd else { throw value.failure("more bytes than the property has") }
    }
    guard properties.lowestSequence <= properties.highestSequence, !properties.spaces.isEmpty
    else { throw reader.failure("a property is missing") }
    return properties
  }

  @_lifetime(reader: copy reader)
  private mutating func takeSequences(_ reader: inout ByteReader) throws(FormatError) {
    lowestSequence = try reader.varint()
    highestSequence = try reader.varint()
    guard lowestSequence <= highestSequence, highestSequence <= Limits.Sequence.maximum else {
      throw reader.failure("sequence is out of range")
    }
  }

  @_lifetime(reader: copy reader)
  private mutating func takeSpace(
    _ reader: inout ByteReader, limit: Int
  ) throws(FormatError) {
    let space = try SpaceSummary.decode(&reader, limit: limit)
    if let last = spaces.last, last.code >= space.code {
      throw reader.failure("spaces are not in order")
    }
    spaces.append(space)
  }

  @_lifetime(reader: copy reader)
  private mutating func takeFilter(
    _ reader: inout ByteReader, limit: Int
  ) throws(FormatError) {
    let code = try reader.u8()
    let prefixByteCount = try reader.count(maximum: Limits.Key.maximumByteCount)
    let handle = try BlockHandle.decode(&reader, limit: limit)
    if let last = filters.last, last.spaceCode >= code {
      throw reader.failure("filters are not in order")
    }
    filters.append(
      FilterHandle(spaceCode: code, prefixByteCount: prefixByteCount, handle: handle))
  }
}
