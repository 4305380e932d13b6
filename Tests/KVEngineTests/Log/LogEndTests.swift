import KVTestSupport
import Testing

@testable import KVEngine

/// Crash or damage: what stands behind the first record that does not verify decides.
@Suite struct LogEndTests {
  /// Which of the batches are synced after they are appended.
  private func makeLog(synced: [Bool]) throws -> LogSample {
    var log = try LogSample()
    for (index, syncing) in synced.enumerated() {
      try log.append(LogSample.batch(index, count: 2), syncing: syncing)
    }
    return log
  }

  enum Hole: CaseIterable {
    case zeros, garbage, flippedHead, flippedPayload

    func dig(in bytes: inout [UInt8], _ record: Range<Int>) {
      switch self {
      case .zeros: for offset in record { bytes[offset] = 0 }
      case .garbage: for offset in record { bytes[offset] = UInt8(truncatingIfNeeded: offset) | 1 }
      case .flippedHead: bytes[record.lowerBound + 12] ^= 1
      case .flippedPayload: bytes[record.lowerBound + RecordHead.byteCount] ^= 1
      }
    }
  }

  /// Reads the log with a hole at one record; `nil` when it is damaged.
  private func batchCount(_ log: LogSample, _ hole: Hole, at index: Int) throws -> Int? {
    var bytes = try log.bytes
    hole.dig(in: &bytes, log.ends[index]..<log.ends[index + 1])
    do throws(DatabaseError) {
      let contents = try log.read(bytes)
      #expect(!contents.isCleanlyEnded)
      return contents.records.count
    } catch {
      guard case .damaged(let corruption) = error else { throw error }
      #expect(corruption.fileName == "000003.log")
      #expect(corruption.offset == log.ends[index])
      return nil
    }
  }

  @Test(.bug(id: "B07"), arguments: Hole.allCases)
  func aHoleThatALaterRecordKnowsToBeDurableIsDamage(hole: Hole) throws {
    let log = try makeLog(synced: [true, true, true])
    #expect(try batchCount(log, hole, at: 0) == nil)
    #expect(try batchCount(log, hole, at: 1) == nil)
    // Nothing stands behind the last one: it looks like a torn tail.
    let last = try log.read(Self.dug(log, hole, at: 2)).records.count
    #expect(last == 2)
  }

  private static func dug(_ log: LogSample, _ hole: Hole, at index: Int) throws -> [UInt8] {
    var bytes = try log.bytes
    hole.dig(in: &bytes, log.ends[index]..<log.ends[index + 1])
    return bytes
  }

  @Test(arguments: Hole.allCases)
  func aHoleInTheWindowThatWasNotFlushedIsTheEnd(hole: Hole) throws {
    let log = try makeLog(synced: [false, false, false, false])
    for index in 0..<3 {
      #expect(try batchCount(log, hole, at: index) == index)
    }
  }

  @Test(arguments: Hole.allCases)
  func theBorderOfWhatIsDurableDecides(hole: Hole) throws {
    // Durable up to the second record when the fourth was written; the third is in the window.
    let log = try makeLog(synced: [false, true, false, false])
    #expect(try batchCount(log, hole, at: 0) == nil)
    #expect(try batchCount(log, hole, at: 1) == nil)
    #expect(try batchCount(log, hole, at: 2) == 2)
  }

  /// Durable-up-to of a later record below, at and above the first sequence of what is missing.
  @Test func durableUpToAtTheExpectedSequenceIsDamageAndBelowItIsNot() throws {
    var log = try LogSample()
    try log.append(LogSample.batch(0, count: 3))  // 1...3
    let expected = log.lastSequence + 1
    let gap = [UInt8](repeating: 0, count: 64)
    let start = try Array(log.bytes.prefix(log.writer.offset)) + gap
    for durable in [expected - 2, expected - 1, expected, expected + 1, expected + 7] {
      let place = LogPlace(store: LogSample.store, log: 3, offset: start.count)
      let head = RecordHead(
        payloadByteCount: 0, previous: 7, operationCount: 1, firstSequence: expected + 8,
        durableSequence: durable, payloadChecksum: 0)
      let bytes = start + head.encode(at: place)
      let result = Result { () throws(DatabaseError) in try log.read(bytes) }
      if durable >= expected {
        let error = #expect(throws: DatabaseError.self) { try result.get() }
        #expect(isDamaged(error), "\(durable)")
      } else {
        #expect(try result.get().records.count == 1, "\(durable)")
      }
    }
  }

  @Test func headsThatClaimNonsenseProveNothing() throws {
    var log = try LogSample()
    try log.append(LogSample.batch(0))
    let start = try Array(log.bytes.prefix(log.writer.offset))
    let maximum = Limits.Sequence.maximum
    let heads = [
      RecordHead(
        payloadByteCount: 0, previous: 0, operationCount: 0, firstSequence: 100,
        durableSequence: 50, payloadChecksum: 0),
      RecordHead(
        payloadByteCount: 0, previous: 0, operationCount: 1, firstSequence: maximum + 1,
        durableSequence: 50, payloadChecksum: 0),
      RecordHead(
        payloadByteCount: 0, previous: 0, operationCount: 1, firstSequence: 100,
        durableSequence: 100, payloadChecksum: 0),
      RecordHead(
        payloadByteCount: Limits.Log.maximumByteCount + 1, previous: 0, operationCount: 1,
        firstSequence: 100, durableSequence: 50, payloadChecksum: 0),
      RecordHead(
        payloadByteCount: 0, previous: 0, operationCount: Limits.Log.maximumByteCount + 1,
        firstSequence: 100, durableSequence: 50, payloadChecksum: 0),
    ]
    for head in heads {
      let place = LogPlace(store: LogSample.store, log: 3, offset: start.count)
      let contents = try log.read(start + head.encode(at: place))
      #expect(contents.records.count == 1, "\(head)")
    }
  }

  @Test func aRecordThatChainsOnButReachesBehindTheFileIsCut() throws {
    var log = try LogSample()
    try log.append(LogSample.batch(0))
    let contents = try log.read(log.bytes)
    let start = try Array(log.bytes.prefix(log.writer.offset))
    for payload in [1, 8, 4096, Limits.Log.maximumByteCount] {
      let head = RecordHead(
        payloadByteCount: payload, previous: contents.chain, operationCount: 1,
        firstSequence: contents.lastSequence + 1, durableSequence: contents.lastSequence,
        payloadChecksum: 0)
      let place = LogPlace(store: LogSample.store, log: 3, offset: start.count)
      #expect(try log.read(start + head.encode(at: place)).records.count == 1, "\(payload)")
    }
  }

  @Test func aRecordOfTheLastSequencesIsReadAndNoneBehindThem() throws {
    let maximum = Limits.Sequence.maximum
    var log = try LogSample(lastSequence: maximum - 2)
    try log.append(LogSample.batch(0, count: 2))
    #expect(try log.batchCount(in: log.bytes) == 1)
    #expect(try log.read(log.bytes).lastSequence == maximum)
    var over = try LogSample(lastSequence: maximum - 1)
    try over.append(LogSample.batch(0, count: 2))
    #expect(try over.read(over.bytes).records.isEmpty)
  }

  @Test func thePredecessorIsPartOfTheHead() throws {
    let preamble = LogPreamble(
      lastSequence: 9, predecessor: 2, predecessorByteCount: 1000, predecessorLastSequence: 9,
      predecessorChain: 0xABCD)
    var bytes = LogWriter.emptyLog(number: 3, store: LogSample.store, preamble: preamble)
    #expect(bytes.count == LogFormat.headByteCount)
    let log = try LogSample()
    #expect(try log.read(bytes).preamble == preamble)
    for bit in 0..<(8 * bytes.count) {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      let error = #expect(throws: DatabaseError.self, "bit \(bit)") { try log.read(bytes) }
      #expect(isDamaged(error), "bit \(bit)")
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
  }
}
