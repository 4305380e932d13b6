import Glibc
import KVTestSupport
import Testing

@testable import KVEngine

/// How records get into a log, and how an old log is continued.
@Suite struct LogWriterTests {
  private let recording = RecordingFileSystem()

  /// A log of `synced.count` batches; whether each was synced.
  private func makeLog(synced: [Bool], step: Int = 64) throws -> LogSample {
    var log = try LogSample(step: step, files: recording.base)
    for (index, syncing) in synced.enumerated() {
      try log.append(LogSample.batch(index), syncing: syncing)
    }
    return log
  }

  /// A writer that continues what is in the file, its calls recorded.
  private func continued(_ log: LogSample, step: Int = 64) throws -> LogWriter {
    let file = try recording.open(log.path, .update)
    let contents = try LogReader.contents(of: file, number: 3, store: LogSample.store)
    #expect(contents.isCleanlyEnded)
    return LogWriter(continuing: contents, file: file, store: LogSample.store, step: step)
  }

  private func append(_ batch: WriteBatch, to writer: inout LogWriter, after log: LogSample) throws
  {
    try writer.append(
      batch.bytes, operationCount: batch.operationCount, firstSequence: log.lastSequence + 1)
  }

  /// Offset and length of every write so far.
  private var writes: [Range<Int>] {
    recording.operations.compactMap { operation in
      guard case .write(_, let offset, let bytes) = operation.change else { return nil }
      return offset..<(offset + bytes.count)
    }
  }

  @Test(arguments: [8, 64, 100, 4096]) func recordsLandInSpaceThatIsZeroAlready(step: Int) throws {
    let log = try LogSample(files: recording.base)
    var writer = try continued(log, step: step)
    var sequence: SequenceNumber = 1
    for index in 0..<20 {
      let batch = LogSample.batch(index, valueByteCount: 11 * index)
      try writer.append(batch.bytes, operationCount: 2, firstSequence: sequence)
      try writer.sync()
      sequence += 2
    }
    var length = LogFormat.headByteCount
    for operation in recording.operations {
      guard case .write(_, let offset, let bytes) = operation.change else { continue }
      if bytes.allSatisfy({ $0 == 0 }) {
        #expect(offset == length && bytes.count % step == 0)
        length += bytes.count
      } else {
        #expect(offset + bytes.count <= length)
      }
    }
    let bytes = try log.bytes
    #expect(bytes.count == length)
    #expect(bytes[writer.offset...].allSatisfy { $0 == 0 })
    #expect(try log.read(bytes).records.count == 20)
  }

  @Test(
    .bug(id: "B46"),
    arguments: [
      // What was synced, and how many records behind the last durable-up-to no record proves.
      ([true], 1), ([true, true], 1), ([true, true, true], 1), ([false, false, false], 3),
      ([true, false, false], 2), ([false, true, false], 1), ([false, false, true], 3),
    ] as [([Bool], Int)])
  func continuingWritesWhatIsNotProvenAgain(synced: [Bool], unproven: Int) throws {
    let log = try makeLog(synced: synced)
    let before = try log.bytes
    var writer = try continued(log)
    #expect(writes.isEmpty)
    let batch = LogSample.batch(50)
    try append(batch, to: &writer, after: log)
    let start = log.ends[synced.count - unproven]
    let last = try #require(writes.last)
    #expect(last == start..<writer.offset)
    #expect(try Array(log.bytes[..<log.writer.offset]) == Array(before[..<log.writer.offset]))
    // Only once: the next append writes its own record alone.
    let end = writer.offset
    try writer.append(batch.bytes, operationCount: 2, firstSequence: log.lastSequence + 3)
    #expect(writes.last == end..<writer.offset)
    #expect(try log.read(log.bytes).records.count == synced.count + 2)
  }

  @Test(.bug(id: "B46")) func whatAFailedSyncLeftIsDurableAfterTheNextOne() throws {
    // The record is visible but clean for the kernel; only writing it again makes it durable.
    let log = try LogSample()
    let recording = RecordingFileSystem(log.files)
    let files = FaultFileSystem(recording)
    let file = try files.open(log.path, .update)
    let contents = try LogReader.contents(of: file, number: 3, store: LogSample.store)
    var writer = LogWriter(continuing: contents, file: file, store: LogSample.store, step: 64)
    try append(LogSample.batch(0), to: &writer, after: log)
    files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
    #expect(throws: SystemError.self) { try writer.sync() }
    let again = try recording.open(log.path, .update)
    var next = LogWriter(
      continuing: try LogReader.contents(of: again, number: 3, store: LogSample.store),
      file: again, store: LogSample.store, step: 64)
    try next.append(LogSample.batch(1).bytes, operationCount: 2, firstSequence: 3)
    try next.sync()
    let image = recording.image(after: recording.operationCount, variant: .strict)
    #expect(try log.read(image.bytes(of: log.path)).records.count == 2)
  }

  @Test func aLogThatIsContinuedTimeAndAgainIsOneChain() throws {
    let log = try makeLog(synced: [true, true])
    var lastSequence = log.lastSequence
    for index in 2..<10 {
      var writer = try continued(log)
      let batch = LogSample.batch(index)
      try writer.append(batch.bytes, operationCount: 2, firstSequence: lastSequence + 1)
      if index.isMultiple(of: 2) { try writer.sync() }
      lastSequence += 2
      let contents = try log.read(log.bytes)
      #expect(contents.records.count == index + 1)
      #expect(contents.lastSequence == lastSequence)
      let successor = writer.preambleOfSuccessor
      #expect(successor.predecessor == 3)
      #expect(successor.predecessorChain == contents.chain)
      #expect(successor.predecessorByteCount == UInt64(contents.acceptedByteCount))
      #expect(successor.lastSequence == contents.lastSequence)
      #expect(successor.predecessorLastSequence == contents.lastSequence)
    }
  }

  @Test func aLogCutInThePaddingOfItsLastRecordCanBeContinued() throws {
    // One put of a key and a value that leave a record in need of padding.
    var batch = WriteBatch()
    batch.put([1], forKey: [2])
    let log = try makeLog(synced: [true])
    var padded = log
    try padded.append(batch)
    let whole = try Array(padded.bytes.prefix(padded.writer.offset))
    let content = padded.ends[1] + RecordHead.byteCount + batch.bytes.count
    #expect(content < whole.count)
    for count in content...whole.count {
      let files = MemoryFileSystem()
      let file = try files.create("/000003.log", Array(whole.prefix(count)))
      let contents = try LogReader.contents(of: file, number: 3, store: LogSample.store)
      if !contents.isCleanlyEnded { continue }
      var writer = LogWriter(continuing: contents, file: file, store: LogSample.store, step: 64)
      try writer.append(
        batch.bytes, operationCount: 1, firstSequence: contents.lastSequence + 1)
      let read = try log.read(try files.bytes(of: "/000003.log"))
      #expect(read.records.count == contents.records.count + 1, "\(count) of \(whole.count)")
    }
  }
}
