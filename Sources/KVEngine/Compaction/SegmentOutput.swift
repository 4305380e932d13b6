/// Where a job's segments go.
package protocol SegmentSink {
  /// Creates a file for the next segment.
  mutating func begin() throws(JobFailure) -> (file: any File, number: UInt64)
}

/// The segments of one job as they are written: each up to a size and of one space.
struct SegmentOutput: ~Copyable {
  /// How the segments of a job are written.
  enum Care {
    /// Compressed as tightly as it goes where that is worth it, made durable in steps, and read
    /// back: the output replaces what was durable already.
    case replacement(isDense: Bool)
    /// Fast, and made durable at the end: the caller of a commit waits.
    case addition
  }

  /// One sync of a whole segment of 32 MiB would hold up the commits of others for 90 ms.
  private static let syncByteCount = 256 << 10

  let care: Care
  private let segmentByteCount: Int
  private let options: DatabaseOptions
  private var open: Open?

  /// A segment that is being written.
  private struct Open: ~Copyable {
    let file: any File
    var writer: SegmentWriter
    let number: UInt64
    var syncedByteCount = 0

    /// Whether the segment has to be finished before another entry.
    func isFull(at cap: Int) -> Bool { writer.byteCount >= cap || writer.isFull }

    /// Makes what was written durable when it is enough for a step.
    mutating func syncStep() throws(SystemError) {
      guard writer.byteCount - syncedByteCount >= SegmentOutput.syncByteCount else { return }
      try file.sync()
      syncedByteCount = writer.byteCount
    }
  }

  init(_ care: Care, segmentByteCount: Int, options: DatabaseOptions) {
    self.care = care
    self.segmentByteCount = segmentByteCount
    self.options = options
  }

  /// Whether the segments are compressed as tightly as it goes.
  var isDense: Bool { compression == .tight }

  private var compression: SegmentWriter.Compression {
    switch care {
    case .replacement(let isDense): isDense ? .tight : .plain
    case .addition: .withDictionary
    }
  }

  private var isReplacement: Bool {
    if case .replacement = care { return true }
    return false
  }

  /// Adds an entry, beginning a segment if none is open.
  ///
  /// - Returns: The segment that was full before.
  mutating func append(
    _ key: RawSpan, _ tag: EntryTag, _ value: RawSpan, _ sink: inout some SegmentSink
  ) throws(JobFailure) -> SegmentSummary? {
    var full: SegmentSummary?
    if open?.isFull(at: segmentByteCount) ?? false { full = try finish() }
    if open == nil {
      let (file, number) = try sink.begin()
      let writer = SegmentWriter(
        file: file, number: number, identity: .random(),
        blockByteCount: options.blockByteCount, policy: options.policy,
        compression: compression)
      open = Open(file: file, writer: writer, number: number)
    }
    do throws(SystemError) {
      try open?.writer.append(key: key, tag: tag, value: value)
      if isReplacement { try open?.syncStep() }
    } catch {
      throw .output(error)
    }
    return full
  }

  /// Ends the open segment, makes it durable and, if it replaces others, reads it back.
  mutating func finish() throws(JobFailure) -> SegmentSummary? {
    guard var open = open.take() else { return nil }
    let summary: SegmentSummary
    do throws(SystemError) {
      summary = try open.writer.finish()
      try open.file.sync()
    } catch {
      throw .output(error)
    }
    guard isReplacement else { return summary }
    do throws(DatabaseError) {
      let found = try SegmentVerifier(
        file: open.file, fileName: FileName.segment(open.number).text,
        reference: summary.reference
      ).verify()
      if let first = found.corruptions.first { throw .damaged(first) }
    } catch {
      throw .input(error)
    }
    return summary
  }
}
