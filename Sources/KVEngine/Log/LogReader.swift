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
    let durable = records.last?.head.durableSequence ?? 0
    return records.first { $0.head.lastSequence > durable }?.offset ?? acceptedByteCount
  }

  /// The log up to the record that an offset is in, as if that did not verify; `nil` when no record
  /// goes by it.
  package func cut(before offset: Int) -> LogContents? {
    let kept = records.filter { $0.payload.upperBound < offset }
    guard kept.count < records.count else { return nil }
    return LogContents(
      number: number, preamble: preamble, bytes: bytes, records: kept,
      acceptedByteCount: kept.last.map { $0.offset + $0.head.recordByteCount }
        ?? LogFormat.headByteCount, chain: chain, isCleanlyEnded: false)
  }
}

package enum LogReader {
  /// Reads a log's bytes as a whole; a log is bounded, and open needs all of it.
  package static func contents(
    of file: any File, number: UInt64, store: StoreIdentity
  ) throws(DatabaseError) -> LogContents {
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
          fileName: FileName.log(number).text, offset: Limits.Log.maximumByteCount,
          structure: "log", reason: "file is larger than any log"))
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
    let (preamble, chain) = try head(of: bytes, number: number, store: store)
    let start = Start(store: store, number: number, preamble: preamble, chain: chain)
    return try contents(of: buffer, from: start) { end throws(DatabaseError) in
      try judgeRest(of: bytes, from: end.place, expecting: end.lastSequence + 1)
    }
  }

  /// What the records of a log begin with.
  private struct Start {
    let store: StoreIdentity
    let number: UInt64
    let preamble: LogPreamble
    let chain: UInt32
  }

  /// Reads records as long as they verify; `judge` says whether what lies behind them is nothing.
  private static func contents(
    of buffer: ByteBuffer, from start: Start,
    _ judge: (
      (place: LogPlace, lastSequence: SequenceNumber)
    ) throws(DatabaseError) -> Bool
  ) throws(DatabaseError) -> LogContents {
    let bytes = buffer.bytes
    var chain = start.chain
    var records: [LogContents.Record] = []
    var place = LogPlace(store: start.store, log: start.number, offset: LogFormat.headByteCount)
    var lastSequence = start.preamble.lastSequence
    while let (record, next) = record(in: bytes, at: place, chain: chain, after: lastSequence) {
      records.append(record)
      chain = next
      lastSequence = record.head.lastSequence
      place = LogPlace(
        store: start.store, log: start.number, offset: place.offset + record.head.recordByteCount)
    }
    return LogContents(
      number: start.number, preamble: start.preamble, bytes: buffer, records: records,
      acceptedByteCount: place.offset, chain: chain,
      isCleanlyEnded: try judge((place, lastSequence)))
  }

  /// The longest prefix of records that verify, whatever lies behind it: for a salvage.
  ///
  /// Where the head is damaged, the first record proves by its checksum which store it is of, if
  /// that is one of `stores`.
  ///
  /// - Returns: The prefix, `nil` when the log does not even begin, and what is damaged.
  /// - Throws: ``DatabaseError/unsupportedFormat(fileName:found:known:)``.
  package static func readablePrefix(
    of buffer: ByteBuffer, number: UInt64, stores: [StoreIdentity]
  ) throws(DatabaseError) -> (contents: LogContents?, damage: Corruption?) {
    let bytes = buffer.bytes
    var damage: Corruption?
    var start: Start?
    for store in stores where start == nil {
      do throws(DatabaseError) {
        let (preamble, chain) = try head(of: bytes, number: number, store: store)
        start = Start(store: store, number: number, preamble: preamble, chain: chain)
      } catch {
        guard case .damaged(let corruption) = error else { throw error }
        damage = corruption
      }
    }
    if start == nil {
      start = stores.lazy.compactMap { firstRecord(of: buffer, number: number, store: $0) }.first
    } else {
      damage = nil
    }
    guard let start else { return (nil, damage) }
    let contents = try contents(of: buffer, from: start) { end throws(DatabaseError) in
      do throws(DatabaseError) {
        return try judgeRest(of: bytes, from: end.place, expecting: end.lastSequence + 1)
      } catch {
        if case .damaged(let corruption) = error { damage = corruption }
        return false
      }
    }
    return (contents, damage)
  }

  /// Where a log without a head begins, by its first record.
  private static func firstRecord(
    of buffer: ByteBuffer, number: UInt64, store: StoreIdentity
  ) -> Start? {
    let bytes = buffer.bytes
    let (offset, end) = (LogFormat.headByteCount, LogFormat.headByteCount + RecordHead.byteCount)
    guard bytes.byteCount >= end,
      let (head, _) = RecordHead.decode(
        bytes.extracting(offset..<end), at: LogPlace(store: store, log: number, offset: offset)),
      head.firstSequence > 0
    else { return nil }
    let preamble = LogPreamble(
      lastSequence: head.firstSequence - 1, predecessor: 0, predecessorByteCount: 0,
      predecessorLastSequence: 0, predecessorChain: 0)
    return Start(store: store, number: number, preamble: preamble, chain: head.previous)
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
        || isPlanted(.unverifiedRecord)
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
    var place = end
    place.offset += zeroByteCount / alignment * alignment
    while let head = nextHead(in: bytes, from: &place) {
      if head.durableSequence >= expected, !isPlanted(.cutLog) {
        throw .damaged(
          Corruption(
            fileName: FileName.log(end.log).text, offset: end.offset, structure: "log record",
            reason: "does not verify, though a record at byte \(place.offset) shows it was durable"
          ))
      }
      place.offset += alignment
    }
    return false
  }

  /// The first head of a record at a place or behind it, whether or not it continues anything; the
  /// place becomes that of the head.
  private static func nextHead(in bytes: RawSpan, from place: inout LogPlace) -> RecordHead? {
    while place.offset + RecordHead.byteCount <= bytes.byteCount {
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place.offset, as: UInt32.self)
      if UInt32(littleEndian: word) == RecordHead.magic,
        let (head, _) = RecordHead.decode(
          bytes.extracting(place.offset..<(place.offset + RecordHead.byteCount)), at: place)
      {
        return head
      }
      place.offset += LogFormat.alignment
    }
    return nil
  }

  /// The highest sequence that a log's head or any of its records shows, accepted or not; 0 when
  /// none does.
  package static func highestSequence(
    in buffer: ByteBuffer, number: UInt64, store: StoreIdentity
  ) -> SequenceNumber {
    let bytes = buffer.bytes
    var highest: SequenceNumber = 0
    do throws(DatabaseError) {
      highest = try head(of: bytes, number: number, store: store).0.lastSequence
    } catch {
      // The records speak for themselves.
    }
    var place = LogPlace(store: store, log: number, offset: LogFormat.headByteCount)
    while let head = nextHead(in: bytes, from: &place) {
      highest = max(highest, min(head.lastSequence, Limits.Sequence.maximum))
      place.offset += LogFormat.alignment
    }
    return highest
  }
}
