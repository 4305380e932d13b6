/// Where a job's segments go.
package protocol SegmentSink {
  /// Creates a file for the next segment.
  mutating func begin() throws(JobFailure) -> (file: any File, number: UInt64)
}

/// The segments of one job as they are written: each up to a size and of one space.
struct SegmentOutput {
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
  private var open: (file: any File, writer: SegmentWriter, number: UInt64)?
  private var syncedByteCount = 0

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
    _ key: [UInt8], _ tag: EntryTag, _ value: [UInt8], _ sink: inout some SegmentSink
  ) throws(JobFailure) -> SegmentSummary? {
    var full: SegmentSummary?
    if let open, open.writer.byteCount >= segmentByteCount || open.writer.isFull {
      full = try finish()
    }
    if open == nil {
      let (file, number) = try sink.begin()
      let writer = SegmentWriter(
        file: file, number: number, identity: .random(),
        blockByteCount: options.blockByteCount, policies: options.policies,
        compression: compression)
      open = (file, writer, number)
      syncedByteCount = 0
    }
    do throws(SystemError) {
      try open?.writer.append(key: key.rawBytes, tag: tag, value: value.rawBytes)
      if let open, isReplacement, open.writer.byteCount - syncedByteCount >= Self.syncByteCount {
        try open.file.sync()
        syncedByteCount = open.writer.byteCount
      }
    } catch {
      throw .output(error)
    }
    return full
  }

  /// Ends the open segment, makes it durable and, if it replaces others, reads it back.
  mutating func finish() throws(JobFailure) -> SegmentSummary? {
    guard let (file, writer, number) = open else { return nil }
    open = nil
    let summary: SegmentSummary
    do throws(SystemError) {
      summary = try writer.finish()
      try file.sync()
    } catch {
      throw .output(error)
    }
    guard isReplacement else { return summary }
    do throws(DatabaseError) {
      let found = try SegmentVerifier(
        file: file, fileName: FileName.segment(number).text, reference: summary.reference
      ).verify()
      if let first = found.corruptions.first { throw .damaged(first) }
    } catch {
      throw .input(error)
    }
    return summary
  }
}
