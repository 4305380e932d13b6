internal import KVEngine
internal import MemoCore

// Import in batches, each one commit: what a batch's line has said is durable, whatever happens to
// the process after it. A line that is no memo is refused with its number and the reason, and stops
// nothing.

extension Inspector {
  func importMemos(
    to store: String, from source: LineSource, rejected: String?, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    var job: ImportJob
    do throws(SystemError) {
      job = ImportJob(
        lines: try Self.lines(of: source), rejected: try rejected.map(RejectedLines.init),
        output: output, errors: errors, format: format)
    } catch {
      throw .database(.io(error.failure))
    }
    var failure: MemoError?
    do throws(MemoError) {
      let timeline = try MemoTimeline(at: store, options: DatabaseOptions())
      try job.run(timeline)
      if job.hasChangedStore { try timeline.flush() }
      try timeline.close()
    } catch {
      // What was committed before stays.
      failure = error
    }
    job.progress.clear()
    do throws(SystemError) {
      try job.rejected?.finish()
    } catch {
      failure = failure ?? .database(.io(error.failure))
    }
    job.report(isComplete: failure == nil)
    if let failure { throw failure }
    return job.refusedCount == 0 ? .fine : .damage
  }

  private static func lines(of source: LineSource) throws(SystemError) -> LineReader {
    switch source {
    case .standardInput: LineReader(descriptor: 0, name: "standard input")
    case .file(let path): try LineReader(path: path)
    }
  }
}

/// One run of an import.
struct ImportJob: ~Copyable {
  private var lines: LineReader
  let rejected: RejectedLines?
  private let output: Output
  private let errors: Output
  private let format: OutputFormat

  private var memos: [Memo] = []
  private var byteCount = 0
  private var counts = ImportCounts()
  private var lineCount = 0
  private var repairedCount = 0
  private(set) var refusedCount = 0

  var hasChangedStore: Bool { counts.inserted + counts.replaced > 0 }
  let progress: Progress

  /// A batch is committed when it has so many memos or bytes of text: soon at first, so that a
  /// program hears early that something is durable, then in loads that become large segments.
  private var batchCount = 1000
  private static let maximumBatchCount = 100_000
  private static let batchByteCount = 32 << 20

  init(
    lines: consuming LineReader, rejected: RejectedLines?, output: Output, errors: Output,
    format: OutputFormat
  ) {
    progress = Progress(errors, isShown: format == .text && errors.isTerminal)
    self.lines = lines
    self.rejected = rejected
    self.output = output
    self.errors = errors
    self.format = format
  }

  mutating func run(_ timeline: MemoTimeline) throws(MemoError) {
    var failure: SystemError?
    reading: while true {
      let line: LineReader.Line
      do throws(SystemError) {
        guard let next = try lines.next() else { break reading }
        line = next
      } catch {
        // What was read before the source failed is taken all the same.
        failure = error
        break reading
      }
      try take(line, for: timeline)
      if memos.count >= batchCount || byteCount >= Self.batchByteCount {
        try commit(timeline)
      }
    }
    try commit(timeline)
    if let failure { throw .database(.io(failure.failure)) }
  }

  private mutating func take(
    _ line: LineReader.Line, for timeline: MemoTimeline
  ) throws(MemoError) {
    lineCount = line.number
    switch line.content {
    case .tooLong(let byteCount):
      // Its bytes are gone: nothing that could be mended.
      refuse(line.number, "is \(byteCount) bytes long, more than any memo", raw: nil)
    case .bytes(let bytes):
      let parsed: MemoLine
      do throws(RefusedLine) {
        guard let line = try MemoLine.parse(bytes, number: line.number) else { return }
        parsed = line
      } catch {
        return refuse(line.number, error.description, raw: bytes)
      }
      var memo = parsed.memo
      if let payload = parsed.payload { memo.payload = try payload.encoded(for: timeline) }
      guard MemoTimeline.canStore(memo) else {
        return refuse(line.number, "the memo is larger than a store can hold", raw: bytes)
      }
      if parsed.replacementCount > 0 { repairedCount += 1 }
      memos.append(memo)
      byteCount += memo.id.encodedByteCount + memo.body.utf8.count + memo.payload.count
    }
  }

  private mutating func refuse(_ number: Int, _ reason: String, raw: [UInt8]?) {
    refusedCount += 1
    if let raw { rejected?.append(raw) }
    switch format {
    case .json:
      output.json([
        JSONMember("line", .integer(Int64(number))), JSONMember("refused", .text(reason)),
      ])
    case .text:
      progress.clear()
      errors.line("line \(number): \(reason)")
      errors.flush()
    }
  }

  /// Makes the gathered memos durable and says so.
  private mutating func commit(_ timeline: MemoTimeline) throws(MemoError) {
    if memos.isEmpty { return }
    counts += try timeline.importBatch(memos)
    memos.removeAll(keepingCapacity: true)
    byteCount = 0
    batchCount = min(2 * batchCount, Self.maximumBatchCount)
    switch format {
    case .json:
      output.json([
        JSONMember("committed", .integer(Int64(counts.total))),
        JSONMember("line", .integer(Int64(lineCount))),
      ])
      // A program that kills us must have been told what is durable.
      output.flush()
    case .text:
      progress.show(memoCount: counts.total, fraction: lines.fraction)
    }
  }

  /// Says what became of the lines; of those before a failure only to people.
  func report(isComplete: Bool) {
    if !isComplete, counts.total == 0 { return }
    switch format {
    case .json where isComplete:
      output.json([
        JSONMember("inserted", .integer(Int64(counts.inserted))),
        JSONMember("replaced", .integer(Int64(counts.replaced))),
        JSONMember("unchanged", .integer(Int64(counts.unchanged))),
        JSONMember("outdated", .integer(Int64(counts.outdated))),
        JSONMember("repaired", .integer(Int64(repairedCount))),
        JSONMember("refused", .integer(Int64(refusedCount))),
      ])
    case .json: break
    case .text:
      var parts = [
        (counts.inserted, "new"), (counts.replaced, "replaced an older version"),
        (counts.unchanged, "there already"), (counts.outdated, "older than what is there"),
        (repairedCount, "with half characters repaired"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      if refusedCount > 0 { parts.append(counted(refusedCount, "line") + " refused") }
      if parts.isEmpty { parts.append("no memos") }
      output.line(parts.joined(separator: ", ") + (isComplete ? "" : "; then the import failed"))
    }
  }
}

/// The refused lines as they were read, in a file of their own.
final class RejectedLines {
  private let path: String
  private let file: any File
  private var pending: [UInt8] = []
  private var offset = 0
  private var failure: SystemError?

  /// Creates the file; one that exists is left alone.
  init(_ path: String) throws(SystemError) {
    self.path = path
    file = try PosixFileSystem.shared.open(path, .create)
  }

  func append(_ line: [UInt8]) {
    pending.append(contentsOf: line)
    pending.append(UInt8(ascii: "\n"))
    if pending.count >= 64 << 10 { write() }
  }

  /// Makes the file durable, or takes it away again when no line was refused.
  func finish() throws(SystemError) {
    write()
    if let failure { throw failure }
    if offset == 0 {
      try PosixFileSystem.shared.unlink(path)
    } else {
      try file.sync()
    }
  }

  private func write() {
    if failure != nil { return }
    let bytes = pending
    do throws(WriteFailure) {
      try file.writeBytes(bytes.rawBytes, at: offset)
      offset += bytes.count
    } catch {
      failure = error.cause
    }
    pending.removeAll(keepingCapacity: true)
  }
}

/// A line on a terminal that says how far long work has come.
final class Progress {
  private let errors: Output
  private let isShown: Bool
  private var isVisible = false

  init(_ errors: Output, isShown: Bool) {
    self.errors = errors
    self.isShown = isShown
  }

  /// Shows how far the work has come; without `fraction` nobody knows how much of it is left.
  func show(memoCount: Int, fraction: Double?) {
    if !isShown { return }
    var text = "\r\u{1B}[K"
    if let fraction {
      let width = 30
      let filled = min(width, Int(fraction * Double(width)))
      let bar =
        String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
      text += "[\(bar)] \(Int(fraction * 100)) %  "
    }
    errors.buffer.append(contentsOf: (text + "\(memoCount) memos").utf8)
    errors.flush()
    isVisible = true
  }

  /// Takes the line away, so that other output stands on a line of its own.
  func clear() {
    if !isVisible { return }
    errors.buffer.append(contentsOf: "\r\u{1B}[K".utf8)
    errors.flush()
    isVisible = false
  }
}
