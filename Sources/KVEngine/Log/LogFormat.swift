// FORMAT.md section 6. A log is a file header, a preamble, records, and zeros.

package enum LogFormat {
  /// Bytes before the first record.
  package static let headByteCount = FileHeader.byteCount + LogPreamble.byteCount
  /// Records begin at multiples of this.
  package static let alignment = 8
}

/// What a log continues: the second part of its head.
package struct LogPreamble: Equatable, Sendable {
  package static let byteCount = 48

  /// The last sequence before this log's first record.
  package var lastSequence: SequenceNumber
  /// The log before this one, 0 for none, and how far it counts.
  package var predecessor: UInt64
  package var predecessorByteCount: UInt64
  package var predecessorLastSequence: SequenceNumber
  package var predecessorChain: UInt32

  /// The whole head: the encoded file header, which the checksum covers as well, and this preamble.
  package func encode(after header: [UInt8]) -> [UInt8] {
    var bytes = header
    bytes.append(u64: lastSequence)
    bytes.append(u64: predecessor)
    bytes.append(u64: predecessorByteCount)
    bytes.append(u64: predecessorLastSequence)
    bytes.append(u32: predecessorChain)
    bytes.append(u64: 0)
    bytes.append(u32: CRC32C.checksum(bytes.rawBytes))
    return bytes
  }

  /// The preamble in a log's first ``LogFormat/headByteCount`` bytes, and the checksum that the
  /// first record's chain begins with.
  package static func decode(
    _ head: RawSpan
  ) throws(FormatError) -> (preamble: LogPreamble, chain: UInt32) {
    var reader = ByteReader(head, structure: "log preamble")
    guard head.byteCount >= LogFormat.headByteCount else {
      throw reader.failure("file is shorter than a log's head")
    }
    try reader.skip(FileHeader.byteCount)
    let preamble = LogPreamble(
      lastSequence: try reader.u64(), predecessor: try reader.u64(),
      predecessorByteCount: try reader.u64(), predecessorLastSequence: try reader.u64(),
      predecessorChain: try reader.u32())
    try reader.zeros(8)
    let covered = head.extracting(first: LogFormat.headByteCount - 4)
    let chain = CRC32C.checksum(covered)
    guard try reader.u32() == chain else { throw reader.failure("checksum does not match") }
    guard preamble.lastSequence <= Limits.Sequence.maximum else {
      throw reader.failure("sequence is out of range")
    }
    return (preamble, chain)
  }
}

/// The head of one record: a group of batches that were committed together.
package struct RecordHead: Equatable, Sendable {
  package static let byteCount = 40
  /// "MKVR" as a little-endian number.
  package static let magic: UInt32 = 0x5256_4B4D

  package var payloadByteCount: Int
  /// The checksum of the record before this one, or of the log's head.
  package var previous: UInt32
  package var operationCount: Int
  package var firstSequence: SequenceNumber
  /// Every sequence up to this one was known to be on the medium when the record was written.
  package var durableSequence: SequenceNumber
  package var payloadChecksum: UInt32

  package var lastSequence: SequenceNumber { firstSequence + UInt64(operationCount) - 1 }

  /// Bytes from the record's start to the next one's.
  package var recordByteCount: Int {
    let count = Self.byteCount + payloadByteCount
    return (count + LogFormat.alignment - 1) / LogFormat.alignment * LogFormat.alignment
  }

  /// The encoded head; its last four bytes are its checksum and the next record's `previous`.
  package func encode(at place: LogPlace) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(u32: Self.magic)
    bytes.append(u32: UInt32(payloadByteCount))
    bytes.append(u32: previous)
    bytes.append(u32: UInt32(operationCount))
    bytes.append(u64: firstSequence)
    bytes.append(u64: durableSequence)
    bytes.append(u32: payloadChecksum)
    bytes.append(u32: place.checksum(bytes.rawBytes))
    return bytes
  }

  /// Decodes a head that must be the one written at this place; `nil` when it is not.
  ///
  /// Only the head is judged: its checksum binds it to store, log and offset, so what passes was
  /// written there by us, whatever became of the payload.
  package static func decode(_ bytes: RawSpan, at place: LogPlace) -> (RecordHead, chain: UInt32)? {
    var reader = ByteReader(bytes, structure: "record")
    do throws(FormatError) {
      guard try reader.u32() == magic else { return nil }
      let payloadByteCount = try reader.u32()
      let previous = try reader.u32()
      let operationCount = try reader.u32()
      let firstSequence = try reader.u64()
      let durableSequence = try reader.u64()
      let payloadChecksum = try reader.u32()
      let chain = try reader.u32()
      guard chain == place.checksum(bytes.extracting(first: byteCount - 4)),
        payloadByteCount <= UInt32(Limits.Log.maximumByteCount), operationCount > 0,
        operationCount <= UInt32(Limits.Log.maximumByteCount),
        firstSequence <= Limits.Sequence.maximum, durableSequence < firstSequence
      else { return nil }
      let head = RecordHead(
        payloadByteCount: Int(payloadByteCount), previous: previous,
        operationCount: Int(operationCount), firstSequence: firstSequence,
        durableSequence: durableSequence, payloadChecksum: payloadChecksum)
      return (head, chain)
    } catch {
      return nil
    }
  }
}

/// Where a record is: its checksum holds nowhere else.
package struct LogPlace: Equatable, Sendable {
  package let store: StoreIdentity
  package let log: UInt64
  package var offset: Int

  package func checksum(_ bytes: RawSpan) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(u64: store.high)
    checksum.update(u64: store.low)
    checksum.update(u64: log)
    checksum.update(u64: UInt64(offset))
    checksum.update(bytes)
    return checksum.value
  }
}
