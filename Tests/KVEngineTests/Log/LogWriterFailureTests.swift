import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// What an append that failed leaves, and what the writer says about it.
@Suite struct LogWriterFailureTests {
  /// A log of one record, its file behind planned faults.
  private func makeLog() throws -> (log: LogSample, files: FaultFileSystem, writer: LogWriter) {
    var log = try LogSample()
    try log.append(LogSample.batch(0))
    let files = FaultFileSystem(log.files)
    let file = try files.open(log.path, .update)
    let contents = try LogReader.contents(of: file, number: 3, store: LogSample.store)
    let writer = LogWriter(continuing: contents, file: file, store: LogSample.store, step: 64)
    return (log, files, writer)
  }

  /// How an append failed; `nil` when it did not.
  private func failure(
    of writer: inout LogWriter, _ batch: WriteBatch, _ firstSequence: SequenceNumber = 3
  ) -> LogWriter.AppendFailure? {
    do throws(LogWriter.AppendFailure) {
      try writer.append(
        batch.bytes, operationCount: batch.operationCount, firstSequence: firstSequence)
      return nil
    } catch {
      return error
    }
  }

  private static let large = LogSample.batch(1, count: 1, valueByteCount: 100)

  @Test(.bug(id: "B59"), arguments: [ENOSPC, EDQUOT, EFBIG, EIO])
  func spaceThatCannotBeWrittenLeavesTheLogAsItWas(code: Int32) throws {
    for progress in [Fault.Progress.nothing, .part] {
      var (log, files, writer) = try makeLog()
      files.plan(Fault(.error(code, after: progress), at: 1, of: [.write]))
      guard case .notWritten(let cause) = failure(of: &writer, Self.large) else {
        Issue.record("not reported as certainly not written")
        continue
      }
      #expect(cause.code == code && !writer.isAbandoned && !writer.isDirty)
      #expect(try log.batchCount(in: log.bytes) == 1)
      #expect(try log.read(log.bytes).isCleanlyEnded)
      // With space the same record goes in.
      #expect(failure(of: &writer, Self.large) == nil)
      #expect(try log.read(log.bytes).records.count == 2)
    }
  }

  @Test(.bug(id: "B59")) func aRecordThatFoundNoSpaceHalfWayEndsTheFile() throws {
    for progress in [Fault.Progress.nothing, .part] {
      var (log, files, writer) = try makeLog()
      files.plan(Fault(.error(ENOSPC, after: progress), at: 2, of: [.write]))
      let before = writer.preambleOfSuccessor
      guard case .notWritten(let cause) = failure(of: &writer, Self.large) else {
        Issue.record("not reported as certainly not written")
        continue
      }
      #expect(cause.code == ENOSPC && writer.isAbandoned)
      #expect(writer.preambleOfSuccessor == before)
      #expect(try log.batchCount(in: log.bytes) == 1)
    }
  }

  /// The space behind a log is zero, so a record is complete as soon as only zeros are missing.
  @Test func aRecordOfWhichOnlyZerosAreMissingIsNotCalledUnwritten() throws {
    for valueByteCount in [0, 1, 40, 500] {
      var batch = WriteBatch()
      batch.put([UInt8](repeating: 0, count: valueByteCount), forKey: [1, 2, 3])
      let recordByteCount = (RecordHead.byteCount + batch.bytes.count + 7) / 8 * 8
      for taken in 1..<recordByteCount {
        var (log, files, writer) = try makeLog()
        // The first record is written again in front of the new one.
        let again = log.ends[1] - log.ends[0]
        files.plan(
          Fault(.short(again + taken), at: 2, of: [.write]),
          Fault(.error(ENOSPC), at: 3, of: [.write]))
        let failure = failure(of: &writer, batch)
        #expect(writer.isAbandoned)
        let found = try log.read(log.bytes).records.count
        switch failure {
        case .notWritten: #expect(found == 1, "\(taken) of \(recordByteCount) bytes")
        case .unknown: #expect(found == 2, "\(taken) of \(recordByteCount) bytes")
        case nil: Issue.record("nothing failed")
        }
      }
    }
  }

  @Test func anyOtherFailureOfARecordIsOfUnknownExtent() throws {
    for progress in [Fault.Progress.nothing, .part, .everything] {
      var (_, files, writer) = try makeLog()
      files.plan(Fault(.error(EIO, after: progress), at: 2, of: [.write]))
      guard case .unknown(let cause) = failure(of: &writer, Self.large) else {
        Issue.record("not reported as unknown")
        continue
      }
      #expect(cause.code == EIO && writer.isAbandoned)
    }
  }

  @Test(.bug(id: "B64")) func shortWritesAreContinuedAndEmptyOnesAreErrors() throws {
    var (log, files, writer) = try makeLog()
    files.plan(Fault(.short(5), at: 1, of: [.write], isLasting: true))
    #expect(failure(of: &writer, Self.large) == nil)
    #expect(try log.read(log.bytes).records.count == 2)
    files.plan(Fault(.short(0), at: 1, of: [.write]))
    let batch = LogSample.batch(2, count: 1, valueByteCount: 500)
    #expect(failure(of: &writer, batch, 4) != nil)
  }

  @Test(.bug(id: "B65")) func aSyncIsTriedOnce() throws {
    var (_, files, writer) = try makeLog()
    #expect(failure(of: &writer, Self.large) == nil)
    #expect(writer.isDirty)
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    #expect(throws: SystemError(.sync, "/000003.log", code: EIO)) { try writer.sync() }
    #expect(files.callCount == 1)
    #expect(writer.isDirty)
  }
}
