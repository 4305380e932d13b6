import KVTestSupport
import Testing

@testable import KVEngine

/// Where a log ends, for bytes as crashes and damage leave them.
@Suite struct LogReaderTests {
  private func makeLog(_ count: Int = 4, syncing: Bool = true) throws -> LogSample {
    var log = try LogSample()
    for index in 0..<count {
      try log.append(
        LogSample.batch(index, count: 1 + index % 3, valueByteCount: 3 * index), syncing: syncing)
    }
    return log
  }

  /// The bytes up to the end of the last record.
  private func exactBytes(_ log: LogSample) throws -> [UInt8] {
    Array(try log.bytes.prefix(log.writer.offset))
  }

  @Test func whatIsWrittenIsRead() throws {
    let log = try makeLog(20)
    #expect(try log.batchCount(in: log.bytes) == 20)
    let contents = try log.read(log.bytes)
    #expect(contents.isCleanlyEnded)
    #expect(contents.acceptedByteCount == log.writer.offset)
    #expect(contents.preamble == log.preamble)
    for record in contents.records { #expect(record.offset % 8 == 0) }
    let empty = try LogSample(lastSequence: 17)
    let none = try empty.read(empty.bytes)
    #expect(none.records.isEmpty && none.lastSequence == 17 && none.isCleanlyEnded)
    #expect(none.acceptedByteCount == LogFormat.headByteCount)
  }

  @Test(.bug(id: "B04"), arguments: [true, false])
  func everyTruncationLeavesWholeBatches(syncing: Bool) throws {
    let log = try makeLog(syncing: syncing)
    let bytes = try log.bytes
    for count in 0...bytes.count {
      let part = Array(bytes.prefix(count))
      if count < LogFormat.headByteCount {
        let error = #expect(throws: DatabaseError.self, "\(count) bytes") { try log.read(part) }
        #expect(isDamaged(error), "\(count) bytes")
      } else {
        let expected = log.ends.dropFirst().filter { $0 <= count }.count
        #expect(try log.batchCount(in: part, "\(count) bytes") == expected, "\(count) bytes")
      }
    }
  }

  @Test(.bug(id: "B04")) func aBatchOfAHundredIsThereEntirelyOrNotAtAll() throws {
    var log = try LogSample()
    try log.append(LogSample.batch(1, count: 100, valueByteCount: 1))
    let bytes = try exactBytes(log)
    for count in LogFormat.headByteCount..<bytes.count {
      #expect(try log.batchCount(in: Array(bytes.prefix(count))) == 0, "\(count) bytes")
      // The same with the file at its full length, as an overwritten log is torn.
      let torn = Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: bytes.count - count)
      let isWhole = bytes[count...].allSatisfy { $0 == 0 }
      #expect(try log.batchCount(in: torn) == (isWhole ? 1 : 0), "torn at \(count)")
    }
    #expect(try log.batchCount(in: bytes) == 1)
  }

  @Test(arguments: [true, false]) func noFlippedBitYieldsAnythingButAPrefix(
    syncing: Bool
  ) throws {
    let log = try makeLog(3, syncing: syncing)
    var bytes = try log.bytes
    for bit in 0..<(8 * bytes.count) {
      let offset = bit / 8
      bytes[offset] ^= 1 << UInt8(bit % 8)
      defer { bytes[offset] ^= 1 << UInt8(bit % 8) }
      let record = log.ends.lastIndex { $0 <= offset }
      do throws(DatabaseError) {
        let contents = try log.read(bytes)
        let found = contents.records.count
        let isPrefix = zip(contents.records, log.batches).allSatisfy {
          Array(bytes[$0.payload]) == $1.bytes
        }
        #expect(isPrefix, "bit \(bit)")
        // Only padding between records can change without a trace.
        let isBehind = record == log.batches.count
        let isCut = record == found
        let isPadding =
          record.map { index in
            index < log.batches.count
              && offset >= log.ends[index] + RecordHead.byteCount + log.batches[index].bytes.count
          } ?? false
        #expect(isBehind || isCut || isPadding, "bit \(bit)")
        if isBehind { #expect(found == log.batches.count && !contents.isCleanlyEnded) }
        // Behind a record that is known to be durable nothing is cut.
        if syncing, isCut { #expect(found >= log.batches.count - 1, "bit \(bit)") }
      } catch {
        #expect(isDamaged(error), "bit \(bit)")
        #expect(record == nil || syncing, "bit \(bit)")
      }
    }
  }

  @Test(.bug(id: "B07"), arguments: [1, 7, 511, 512, 4096, 1_000_000])
  func aTailOfZerosIsTheEnd(count: Int) throws {
    let log = try makeLog()
    let bytes = try exactBytes(log) + [UInt8](repeating: 0, count: count)
    #expect(try log.batchCount(in: bytes) == 4)
    #expect(try log.read(bytes).isCleanlyEnded)
  }

  @Test func aTailOfAnythingElseIsNoCleanEnd() throws {
    let log = try makeLog()
    let bytes = try exactBytes(log)
    var random = SeededGenerator(seed: 21)
    for count in 1...200 {
      let tail = random.bytes(count).map { $0 | 1 }
      #expect(try log.batchCount(in: bytes + tail, "\(count)") == 4)
      #expect(try !log.read(bytes + tail).isCleanlyEnded, "\(count)")
    }
    let late = bytes + [UInt8](repeating: 0, count: 4095) + [1]
    #expect(try log.batchCount(in: late) == 4)
    #expect(try !log.read(late).isCleanlyEnded)
  }

  @Test(.bug(id: "B05")) func recordsOfAnotherLogStoreOrPlaceAreRefused() throws {
    let log = try makeLog(2)
    let bytes = try exactBytes(log)
    let second = Array(bytes[log.ends[1]..<log.ends[2]])
    // The same batches, in a log of another number and in one of another store.
    var sibling = try LogSample(number: 4)
    for index in 0..<2 { try sibling.append(log.batches[index]) }
    let foreign = Array(try sibling.bytes[log.ends[1]..<log.ends[2]])
    let first = Array(bytes[..<log.ends[1]])
    #expect(foreign.count == second.count && foreign != second)
    #expect(try log.batchCount(in: first + second) == 2)
    #expect(try log.batchCount(in: first + foreign) == 1)
    // A record that is moved or repeated.
    #expect(try log.batchCount(in: first + [UInt8](repeating: 0, count: 8) + second) == 1)
    #expect(try log.batchCount(in: bytes + second) == 2)
    let errors = [
      #expect(throws: DatabaseError.self) { try log.read(bytes, number: 4) },
      #expect(throws: DatabaseError.self) {
        try log.read(bytes, store: StoreIdentity(high: 1, low: 1))
      },
    ]
    for error in errors { #expect(isDamaged(error)) }
  }

  @Test(.bug(id: "B05")) func theLongerTailOfAnEarlierLifeIsNotReplayed() throws {
    // Twice the same log, once long and once short: the short one written over the long one.
    let long = try makeLog(8, syncing: false)
    var short = try LogSample()
    try short.append(LogSample.batch(99, count: 1, valueByteCount: 0))
    let over = Array(try short.bytes.prefix(short.ends[1]))
    let bytes = over + Array(try long.bytes.dropFirst(over.count))
    #expect(try short.batchCount(in: bytes) == 1)
    #expect(try !short.read(bytes).isCleanlyEnded)
  }

  @Test func aHeadThatCountsOnFromBehindTheLastSequenceIsDamage() throws {
    for (last, isRefused) in [
      (Limits.Sequence.maximum, false), (Limits.Sequence.maximum + 1, true), (.max, true),
    ] {
      let log = try LogSample(lastSequence: last)
      let bytes = try log.bytes
      do throws(DatabaseError) {
        #expect(try log.read(bytes).lastSequence == last && !isRefused)
      } catch {
        #expect(isRefused && isDamaged(error), "\(last)")
      }
    }
  }

  @Test func aPartOfARecordsHeadIsNone() throws {
    let log = try makeLog(1)
    let place = LogPlace(
      store: LogSample.store, log: log.number, offset: LogFormat.headByteCount)
    let head = Array(try log.bytes[place.offset..<place.offset + RecordHead.byteCount])
    #expect(RecordHead.decode(head.rawBytes, at: place) != nil)
    for count in head.indices {
      #expect(RecordHead.decode(head.rawBytes.extracting(first: count), at: place) == nil)
    }
  }

  @Test func aLogIsCutOnlyWhereItHasARecord() throws {
    let log = try makeLog()
    let contents = try log.read(log.bytes)
    #expect(contents.cut(before: contents.acceptedByteCount + 1) == nil)
    let part = try #require(contents.cut(before: log.ends[2] + RecordHead.byteCount))
    #expect(part.records.count == 2 && part.acceptedByteCount == log.ends[2])
    #expect(!part.isCleanlyEnded)
  }

  @Test(.bug(id: "B08")) func aReadThatFailsIsNoEnd() throws {
    let log = try makeLog()
    let files = FaultFileSystem(log.files)
    for position in 1... {
      let file = try files.open(log.path, .read)
      files.plan(Fault(.error(5), at: position, of: [.read, .status]))
      let result = Result { () throws(DatabaseError) in
        try LogReader.contents(of: file, number: 3, store: LogSample.store)
      }
      guard files.wasHit else {
        #expect(try result.get().records.count == 4)
        #expect(position > 2)
        return
      }
      #expect(throws: DatabaseError.self) { try result.get() }
      if case .failure(let error) = result { #expect(!isDamaged(error)) }
    }
  }

  @Test(.bug(id: "B58")) func aLogThatTheDeviceDoesNotGiveOutIsNotAvailableYet() throws {
    let log = try makeLog()
    let files = FaultFileSystem(log.files)
    let file = try files.open(log.path, .read)
    files.plan(Fault(.error(1), at: 1, of: [.read]))
    let error = #expect(throws: DatabaseError.self) {
      try LogReader.contents(of: file, number: 3, store: LogSample.store)
    }
    guard case .notAvailableYet = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func readsThatReturnLittleReadAllOfIt() throws {
    let log = try makeLog()
    let files = FaultFileSystem(log.files, Fault(.short(7), at: 1, of: [.read], isLasting: true))
    let file = try files.open(log.path, .read)
    let contents = try LogReader.contents(of: file, number: 3, store: LogSample.store)
    #expect(contents.records.count == 4)
  }

  @Test func aFileLargerThanAnyLogIsDamaged() throws {
    let files = MemoryFileSystem()
    let file = try files.create("/000003.log")
    try file.write([1], at: Limits.Log.maximumByteCount)
    let error = #expect(throws: DatabaseError.self) {
      try LogReader.contents(of: file, number: 3, store: LogSample.store)
    }
    #expect(isDamaged(error))
  }
}
