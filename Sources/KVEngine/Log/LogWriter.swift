// Appends records to the live log. A record only ever lands in space that was written with zeros
// before, so that a full disk is met while nothing of the record is on disk yet, and an overwrite
// costs a fifth less per sync than a growing file.

/// The writing end of a log.
///
/// Used by one thread at a time: the leader of the commit pipeline.
package struct LogWriter {
  package let number: UInt64
  private let store: StoreIdentity
  package let file: any File
  private let zeroStepByteCount: Int
  /// Where the next record begins.
  package private(set) var offset: Int
  /// Everything before this offset was written; behind `offset` it is zero.
  private var zeroedByteCount: Int
  private var chain: UInt32
  /// The newest sequence in the log.
  private var lastSequence: SequenceNumber
  /// Every sequence up to this one is on the medium.
  private var durableSequence: SequenceNumber
  /// Bytes that go out again with the next append: what no record proves to be on the medium.
  private var unproven: [UInt8]
  /// Whether a record was written in part, so that the file gets no further byte (rule F4).
  package private(set) var isAbandoned = false

  /// How far an append that failed had come.
  package enum AppendFailure: Error {
    /// The record is certainly not in the log.
    case notWritten(SystemError)
    /// Nobody knows what is in the log.
    case unknown(SystemError)
  }

  /// Continues a log behind its accepted end.
  ///
  /// Nothing may be appended unless everything behind that end is zero (rule F5): a log with a torn
  /// end is only asked how it ends, for the head of its successor.
  ///
  /// What no record proves durable is written again with the first append: that makes its pages
  /// dirty, so the next sync covers them even when an earlier sync failed (rule F5).
  package init(continuing contents: LogContents, file: any File, store: StoreIdentity, step: Int) {
    number = contents.number
    self.store = store
    self.file = file
    zeroStepByteCount = step
    offset = contents.acceptedByteCount
    zeroedByteCount = contents.bytes.byteCount
    chain = contents.chain
    lastSequence = contents.lastSequence
    durableSequence = contents.records.last?.head.durableSequence ?? contents.preamble.lastSequence
    unproven = [UInt8](
      copying: contents.bytes.bytes.extracting(
        contents.unprovenOffset..<contents.acceptedByteCount))
    if isPlanted(.unprovenLogEnd) { unproven = [] }
  }

  /// Begins a log that has no record yet.
  package init(
    beginning number: UInt64, file: any File, store: StoreIdentity, preamble: LogPreamble,
    step: Int
  ) {
    self.number = number
    self.store = store
    self.file = file
    zeroStepByteCount = step
    let head = Self.emptyLog(number: number, store: store, preamble: preamble)
    offset = head.count
    zeroedByteCount = head.count
    chain = Self.chain(of: head)
    lastSequence = preamble.lastSequence
    durableSequence = preamble.lastSequence
    unproven = []
  }

  /// Whether the largest record may not fit any more.
  ///
  /// A log over the limit would be lost as a whole, because no reader takes it.
  package var isFull: Bool { offset > Limits.Log.fullByteCount }

  /// Whether a sync is owed: a record was appended that is not known to be on the medium.
  package private(set) var isDirty = false

  /// Writes one record; it is durable after the next ``sync()``.
  package mutating func append(
    _ payload: [UInt8], operationCount: Int, firstSequence: SequenceNumber
  ) throws(AppendFailure) {
    assert(firstSequence == lastSequence + 1 && !isAbandoned)
    let head = RecordHead(
      payloadByteCount: payload.count, previous: chain, operationCount: operationCount,
      firstSequence: firstSequence, durableSequence: durableSequence,
      payloadChecksum: CRC32C.checksum(payload.rawBytes))
    let headBytes = head.encode(at: LogPlace(store: store, log: number, offset: offset))
    try writeZeros(upTo: offset + head.recordByteCount)

    var bytes = unproven
    bytes.reserveCapacity(unproven.count + head.recordByteCount)
    bytes.append(contentsOf: headBytes)
    bytes.append(contentsOf: payload)
    bytes.pad(toMultipleOf: LogFormat.alignment)
    do throws(WriteFailure) {
      try file.writeBytes(bytes.rawBytes, at: offset - unproven.count)
    } catch {
      isAbandoned = true
      let isMissing = error.cause.isSpace && !mayBeStored(bytes, at: offset - unproven.count)
      throw isMissing ? .notWritten(error.cause) : .unknown(error.cause)
    }
    unproven = []
    offset += head.recordByteCount
    chain = Self.chain(of: headBytes)
    lastSequence = head.lastSequence
    isDirty = true
  }

  /// Makes everything in the log durable.
  ///
  /// A failure is final: see rule F4.
  package mutating func sync() throws(SystemError) {
    if !isPlanted(.earlyAcknowledgement) { try file.sync() }
    durableSequence = lastSequence
    isDirty = false
  }

  /// How this log ends, for the head of the one after it.
  package var preambleOfSuccessor: LogPreamble {
    LogPreamble(
      lastSequence: lastSequence, predecessor: number, predecessorByteCount: UInt64(offset),
      predecessorLastSequence: lastSequence, predecessorChain: chain)
  }

  /// Whether all of a record may be in the file although its write failed.
  ///
  /// How much was taken before the failure does not tell: the space behind is zero, so a record of
  /// which only zeros are missing is complete; and a network volume may take a write and report
  /// with it that an earlier one found no space.
  private func mayBeStored(_ bytes: [UInt8], at offset: Int) -> Bool {
    do {
      let found = try file.readBytes(at: offset, count: bytes.count)
      return compareBytes(found.bytes, bytes.rawBytes) == 0
    } catch {
      return true
    }
  }

  private mutating func writeZeros(upTo end: Int) throws(AppendFailure) {
    guard end > zeroedByteCount else { return }
    let steps = (end - zeroedByteCount + zeroStepByteCount - 1) / zeroStepByteCount
    let zeros = [UInt8](repeating: 0, count: steps * zeroStepByteCount)
    do throws(WriteFailure) {
      try file.writeBytes(zeros.rawBytes, at: zeroedByteCount)
    } catch {
      throw .notWritten(error.cause)
    }
    zeroedByteCount += zeros.count
  }

  private static func chain(of head: [UInt8]) -> UInt32 {
    head.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}

extension LogWriter {
  /// The bytes of a log without records.
  package static func emptyLog(
    number: UInt64, store: StoreIdentity, preamble: LogPreamble
  ) -> [UInt8] {
    let header = FileHeader(kind: .log, identity: store, number: number).encode()
    return preamble.encode(after: header)
  }
}
