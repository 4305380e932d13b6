// Judges the bytes of a log: which records count, and whether what does not verify is the ordinary
// end after a crash or damage to something that was durable (FORMAT.md 6.4, the decision table).
//
// Invariants of what is returned:
//  L1  the records form one chain from the head: each names its predecessor's checksum;
//  L2  their sequences run on without a gap from the preamble's last sequence;
//  L3  nothing behind the accepted end was ever acknowledged in mode full, or the log is damaged.
//
// Source: Pebble's newest log format stores the synced offset for the same decision;
// "Protocol-Aware Recovery for Consensus-Based Storage" (FAST 2018) shows why cutting at the first
// bad checksum is wrong.

/// The accepted records of one log.
package struct LogContents: Sendable {
  /// One record that counts.
  package struct Record: Sendable {
    package let offset: Int
    package let head: RecordHead

    package var payload: Range<Int> {
      let start = offset + RecordHead.byteCount
      return start..<(start + head.payloadByteCount)
    }
  }

  package let number: UInt64
  package let preamble: LogPreamble
  package let bytes: ByteBuffer
  package let records: [Record]
  /// Bytes from the start of the file to the end of the last accepted record.
  package let acceptedByteCount: Int
  /// The checksum that the next record has to name.
  package let chain: UInt32
  /// Whether everything behind the accepted end is zero: only then may the log be continued.
  package let isCleanlyEnded: Bool

  /// The sequence of the newest accepted operation.
  package var lastSequence: SequenceNumber {
    records.last?.head.lastSequence ?? preamble.lastSequence
  }

  /// Where bytes begin that no record proves to be on the medium.
  package var unprovenOffset: Int {
    guard let durable = records.last?.head.durableSequence else { return acceptedByteCount }
    return records.first { $0.head.lastSequence > durable }?.offset ?? acceptedByteCount
  }
}

package enum LogReader {
  /// Reads a log's bytes as a whole; a log is bounded, and open needs all of it.
  package static func contents(
    of file: any File, name: FileName, store: StoreIdentity
  ) throws(DatabaseError) -> LogContents {
    guard case .log(let number) = name else {
      throw .invalidArgument("\(name.text) is not the name of a log")
    }
    let bytes: ByteBuffer?
    do throws(SystemError) {
      let byteCount = try file.status().byteCount
      bytes =
        byteCount > Limits.Log.maximumByteCount
        ? nil : try file.readBytes(at: 0, count: byteCount)
    } catch {
      throw error.readFailure
    }
    guard let bytes else {
      throw .damaged(
        Corruption(
          fileName: name.text, offset: Limits.Log.maximumByteCount, structure: "log",
          reason: "file is larger than any log"))
    }
    return try contents(of: bytes, number: number, store: store)
  }

  /// Judges the bytes of a log.
  ///
  /// - Complexity: O(bytes), each byte read once; behind a bad spot once more for the look-ahead.
  package static func contents(
    of buffer: ByteBuffer, number: UInt64, store: StoreIdentity
  ) throws(DatabaseError) -> LogContents {
    let bytes = buffer.bytes
    var (preamble, chain) = try head(of: bytes, number: number, store: store)
    var records: [LogContents.Record] = []
    var offset = LogFormat.headByteCount
    var lastSequence = preamble.lastSequence
    while let (record, next) = record(
      in: bytes, at: LogPlace(store: store, log: number, offset: offset), chain: chain,
      after: lastSequence)
    {
      records.append(record)
      chain = next
      lastSequence = record.head.lastSequence
      offset += record.head.recordByteCount
    }
    let isClean = try judgeRest(
      of: bytes, from: LogPlace(store: store, log: number, offset: offset),
      expecting: lastSequence + 1)
    return LogContents(
      number: number, preamble: preamble, bytes: buffer, records: records,
      acceptedByteCount: offset, chain: chain, isCleanlyEnded: isClean)
  }

  /// Decodes a log's head, which must be the one of this log in this store.
  private static func head(
    of bytes: RawSpan, number: UInt64, store: StoreIdentity
  ) throws(DatabaseError) -> (LogPreamble, chain: UInt32) {
    let name = FileName.log(number).text
    let header = try FileHeader.read(bytes, kind: .log, fileName: name)
    do throws(FormatError) {
      guard header.identity == store, header.number == number else {
        throw FormatError("file header", at: 16, "belongs to another store or another log")
      }
      return try LogPreamble.decode(bytes)
    } catch {
      throw .damaged(Corruption(error, fileName: name))
    }
  }

  /// The record at a place if it verifies as the successor of what was read so far.
  private static func record(
    in bytes: RawSpan, at place: LogPlace, chain: UInt32, after lastSequence: SequenceNumber
  ) -> (LogContents.Record, chain: UInt32)? {
    let offset = place.offset
    guard bytes.byteCount - offset >= RecordHead.byteCount else { return nil }
    let headBytes = bytes.extracting(offset..<(offset + RecordHead.byteCount))
    guard let (head, next) = RecordHead.decode(headBytes, at: place) else { return nil }
    let record = LogContents.Record(offset: offset, head: head)
    guard head.previous == chain, head.firstSequence == lastSequence + 1,
      head.lastSequence <= Limits.Sequence.maximum,
      // With its padding: a record behind one that is cut there would begin out of alignment.
      offset + head.recordByteCount <= bytes.byteCount,
      CRC32C.checksum(bytes.extracting(record.payload)) == head.payloadChecksum
    else { return nil }
    return (record, next)
  }

  /// Decides what the bytes behind the accepted end are, where a record would have begun with the
  /// sequence `expected`.
  ///
  /// - Returns: Whether all of them are zero. `false` is the torn tail of a crash.
  /// - Throws: ``DatabaseError/damaged(_:)`` when a later record proves that what is missing had
  ///   been durable.
  private static func judgeRest(
    of bytes: RawSpan, from end: LogPlace, expecting expected: SequenceNumber
  ) throws(DatabaseError) -> Bool {
    let rest = bytes.extracting(droppingFirst: end.offset)
    guard let zeroByteCount = rest.firstNonZeroOffset else { return true }
    let alignment = LogFormat.alignment
    var offset = end.offset + zeroByteCount / alignment * alignment
    while offset + RecordHead.byteCount <= bytes.byteCount {
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
      if UInt32(littleEndian: word) == RecordHead.magic,
        let (head, _) = RecordHead.decode(
          bytes.extracting(offset..<(offset + RecordHead.byteCount)),
          at: LogPlace(store: end.store, log: end.log, offset: offset)),
        head.durableSequence >= expected
      {
        throw .damaged(
          Corruption(
            fileName: FileName.log(end.log).text, offset: end.offset, structure: "log record",
            reason: "does not verify, though a record at byte \(offset) shows it was durable"))
      }
      offset += alignment
    }
    return false
  }
}
