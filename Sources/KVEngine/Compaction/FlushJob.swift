/// Why a job made no segment.
package enum JobFailure: Error {
  /// What it reads could not be read.
  case input(DatabaseError)
  /// What it writes could not be written.
  case output(SystemError)
}

/// Writes memtables and recovered logs as one segment.
///
/// Only the newest version of each key goes out: a reader that needs an older one holds the tables
/// that have it (see `ReadView`). Holds no lock and changes no state; a job that fails leaves a
/// file that no MANIFEST names.
package struct FlushJob {
  package let tables: [MemTable]
  package let images: [LogImage]

  package init(tables: [MemTable], images: [LogImage]) {
    self.tables = tables
    self.images = images
  }

  /// The codes of the spaces that have entries, ascending.
  private var spaceCodes: [UInt8] {
    Set(tables.flatMap(\.changes.codes) + images.flatMap(\.changes.codes)).sorted()
  }

  package var isEmpty: Bool { spaceCodes.isEmpty }

  /// Writes every space in key order.
  ///
  /// - Complexity: O(*n* log *s*) for *n* entries in *s* tables.
  package func run(_ writer: inout SegmentWriter) throws(JobFailure) -> SegmentSummary {
    for code in spaceCodes { try write(space: code, to: &writer) }
    do throws(SystemError) {
      return try writer.finish()
    } catch {
      throw .output(error)
    }
  }

  /// Writes every space into segments of its own.
  ///
  /// - Returns: What belongs together: the segments of one space, in key order.
  /// - Complexity: As ``run(_:)``.
  func run(
    into output: inout SegmentOutput, _ sink: inout some SegmentSink
  ) throws(JobFailure) -> [[SegmentSummary]] {
    var runs: [[SegmentSummary]] = []
    for code in spaceCodes {
      var run: [SegmentSummary] = []
      var entries = entries(ofSpace: code)
      while let tag = try entries.next() {
        if let full = try output.append(entries.key, tag, entries.value, &sink) {
          run.append(full)
        }
      }
      if let last = try output.finish() { run.append(last) }
      runs.append(run)
    }
    return runs
  }

  private func entries(ofSpace code: UInt8) -> NewestEntries {
    let sources =
      tables.map { MergeSource.table($0) } + images.map { MergeSource.image($0, space: code) }
    return NewestEntries(MergingCursor(sources), space: code)
  }

  private func write(space code: UInt8, to writer: inout SegmentWriter) throws(JobFailure) {
    var entries = entries(ofSpace: code)
    while let tag = try entries.next() {
      do throws(SystemError) {
        try writer.append(key: entries.key, tag: tag, value: entries.value)
      } catch {
        throw .output(error)
      }
    }
  }
}

/// The newest version of each key of one space, with the changes of the older ones added to it.
///
/// One entry carries a change between -1 and 1. What was merged may lack the entry that lies
/// between two insertions of a key; then the older one comes as an entry of its own, so that no
/// count moves.
package struct NewestEntries: ~Copyable {
  private var merging: MergingCursor
  private let code: UInt8
  private var isStarted = false
  private var keyBuffer = KeyBuffer()
  private var valueBuffer = KeyBuffer()
  /// Whether an older entry of the same key comes next.
  package private(set) var hasOlder = false

  package init(_ merging: consuming MergingCursor, space code: UInt8) {
    self.merging = merging
    self.code = code
  }

  /// The key of the entry, until the next one.
  package var key: RawSpan {
    @_lifetime(borrow self)
    get { keyBuffer.bytes }
  }

  /// The value of the entry, until the next one.
  package var value: RawSpan {
    @_lifetime(borrow self)
    get { valueBuffer.bytes }
  }

  /// The tag of the next key's entry; its key and value are in ``key`` and ``value``.
  package mutating func next() throws(JobFailure) -> EntryTag? {
    do throws(DatabaseError) {
      if !isStarted {
        isStarted = true
        try merging.seek(toFirstAtOrAfter: [code], sequence: .max)
      }
      guard merging.isValid else { return nil }
      let entry = merging.entry
      let tag = entry.tag
      guard entry.key.first == code else { return nil }
      keyBuffer.replace(after: 0, with: entry.key)
      valueBuffer.replace(after: 0, with: entry.value)
      try merging.advance()
      var kind = tag.kind
      hasOlder = false
      while merging.isValid, compareBytes(merging.entry.key, keyBuffer.bytes) == 0 {
        let change = merging.entry.tag.kind.change
        let merged = kind.merged(withOlderChange: change)
        hasOlder = merged.change != kind.change + change
        if hasOlder { break }
        kind = merged
        try merging.advance()
      }
      return EntryTag(sequence: tag.sequence, kind: kind)
    } catch {
      throw .input(error)
    }
  }
}
