// The second half of a salvage: what verifies becomes one run of each space, the newest entry of
// each key. Deletions have then nothing left to hide and go; counts begin anew.

/// Entries of one space out of one damaged file, in internal key order.
final class SalvageSource {
  // One of the two.
  private let blocks: SalvagedBlocks?
  private var log: LogImageCursor?
  /// The number of the file: of two entries without an order the one in the later file wins.
  private let number: UInt64
  /// The only keys that count; `nil` for all.
  private let gaps: [KeyGap]?
  /// The key at the position, `nil` behind the last.
  private(set) var key: [UInt8]?
  private(set) var tag = EntryReference.none.tag

  init(
    _ segment: SalvagedSegment, space code: UInt8, gaps: [KeyGap]?
  ) throws(DatabaseError) {
    blocks = SalvagedBlocks(segment, space: code)
    number = segment.file.reference.number
    self.gaps = gaps
    try next()
  }

  init(
    _ log: LogImage, number: UInt64, space code: UInt8, gaps: [KeyGap]?
  ) throws(DatabaseError) {
    var cursor = LogImageCursor(log, space: code)
    let first = [code]
    cursor.seek(toFirstAtOrAfter: first.rawBytes, sequence: .max)
    blocks = nil
    self.log = cursor
    self.number = number
    self.gaps = gaps
    settle()
    if !counts { try next() }
  }

  /// The value at the position.
  var value: [UInt8] { entry.map { [UInt8](copying: $0.value) } ?? [] }

  private var entry: EntryReference? { blocks?.entry ?? log?.entry }

  /// Goes on to the next entry that counts.
  func next() throws(DatabaseError) {
    repeat {
      try blocks?.next()
      log?.next()
      settle()
    } while !counts
  }

  private func settle() {
    let entry = entry
    key = entry.map { [UInt8](copying: $0.key) }
    tag = entry?.tag ?? EntryReference.none.tag
  }

  private var counts: Bool {
    guard let key, let gaps else { return true }
    return gaps.contains { $0.contains(key) }
  }

  /// Whether this entry comes before another source's in the merged order.
  func precedes(_ other: SalvageSource) -> Bool {
    guard let key else { return false }
    guard let otherKey = other.key else { return true }
    let order = compareBytes(key, otherKey)
    if order != 0 { return order < 0 }
    if tag.sequence != other.tag.sequence { return tag.sequence > other.tag.sequence }
    return number > other.number
  }
}

/// The sound blocks of one space of a segment, entry by entry.
private final class SalvagedBlocks {
  private let file: SegmentFile
  private var places: ArraySlice<SalvagedSegment.Place>
  private var window = FrameWindow()
  private var reader = BlockReader()

  init(_ segment: SalvagedSegment, space code: UInt8) {
    file = segment.file
    places = segment.blocks.filter { $0.spaceCode == code }[...]
  }

  /// Where the entry at the position is, `nil` behind the last.
  var entry: EntryReference? { reader.reference }

  func next() throws(DatabaseError) {
    if reader.isValid {
      do throws(FormatError) {
        try reader.next()
      } catch {
        throw file.damage(error, at: 0)
      }
    }
    guard !reader.isValid, let place = places.popFirst() else { return }
    let handle = BlockHandle(offset: place.offset, byteCount: place.byteCount)
    try window.readAhead(handle.range, of: file)
    let buffer = try window.block(handle, .data, of: file)
    let block = try file.dataBlock(buffer, at: place.offset)
    reader.take(block)
    do throws(FormatError) {
      try reader.seekToFirst()
    } catch {
      throw file.damage(error, inBlockAt: place.offset)
    }
  }
}

/// A file that is opened for each read, so that any number of files can be merged.
final class ReopenedFile: File {
  private let files: any FileSystem
  private let path: String

  init(_ files: any FileSystem, _ path: String) {
    self.files = files
    self.path = path
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try unsafe files.open(path, .read).read(at: offset, into: buffer)
  }

  func status() throws(SystemError) -> FileStatus { try files.open(path, .read).status() }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    throw .noProgress
  }

  func sync() throws(SystemError) {}
}

extension Salvage {
  /// Writes everything that counts as a store of its own.
  ///
  /// If we die on the way, the target is a folder without MANIFEST that holds segments: it opens as
  /// damaged, never as an empty store.
  mutating func write() throws(DatabaseError) {
    try makeTarget()
    var output = NewSegments(writer: makeWriter())
    do throws(FailedOutput) {
      try write(to: &output)
    } catch {
      for name in output.made { target.manifest.discard(target.path(name)) }
      switch error {
      case .engine(let failure): throw failure
      case .system(let cause): throw Writer.notWritten(cause)
      }
    }
  }

  private enum FailedOutput: Error {
    case engine(DatabaseError)
    case system(SystemError)
  }

  /// A writer into the target, for the steps that a flush has as well.
  private func makeWriter() -> Writer {
    let state = EngineState(
      .empty, segments: OpenSegments(files: target.files, folder: target.folder, options: options),
      metrics: Metrics(handler: nil), gaps: GapNotes(isEnabled: false))
    return Writer(location: target, options: options, state: state, entry: nil)
  }

  private func makeTarget() throws(DatabaseError) {
    do throws(SystemError) {
      do {
        try target.files.makeDirectory(target.folder)
      } catch {
        // An empty folder may have been made for it.
        guard error.isExisting, try target.files.list(target.folder).isEmpty else { throw error }
      }
    } catch {
      throw Writer.notWritten(error)
    }
  }

  private mutating func write(to output: inout NewSegments) throws(FailedOutput) {
    var manifest = Manifest(
      store: .random(), generation: 1, publishedAt: output.writer.now,
      flushedSequence: report.sequence, nextFileNumber: 1, logs: [], segments: [],
      spaces: base?.spaces ?? [])
    let codes = Set(segments.flatMap { $0.found.blocks.map(\.spaceCode) })
      .union(logs.flatMap(\.image.changes.codes)).sorted()
    do throws(JobFailure) {
      for code in codes { manifest.segments += try merge(space: code, to: &output) }
    } catch {
      switch error {
      case .input(let failure): throw .engine(failure)
      case .output(let cause): throw .system(cause)
      }
    }
    name(codes, in: &manifest)
    manifest.nextFileNumber = output.nextFileNumber
    let preamble = LogPreamble(
      lastSequence: report.sequence, predecessor: 0, predecessorByteCount: 0,
      predecessorLastSequence: 0, predecessorChain: 0)
    do throws(Writer.FlushFailure) {
      _ = try output.writer.beginLog(after: preamble, manifest: &manifest, made: &output.made)
    } catch {
      switch error {
      case .system(let cause), .final(let cause): throw .system(cause)
      case .database(let failure): throw .engine(failure)
      }
    }
    do throws(ManifestFile.PublishFailure) {
      _ = try target.manifest.publish(manifest, replacing: nil)
    } catch {
      switch error {
      case .unchanged(let cause), .unknown(let cause): throw .system(cause)
      }
    }
    do throws(SystemError) {
      try target.files.syncDirectory(target.parent)
    } catch {
      throw .system(error)
    }
  }

  /// Spaces that have keys and no known name get one, or nobody could read them.
  private mutating func name(_ codes: [UInt8], in manifest: inout Manifest) {
    let known = Set(manifest.spaces.map(\.code))
    for code in codes where Limits.Space.userCodes.contains(code) && !known.contains(code) {
      guard code != Limits.Space.firstUserCode else { continue }
      var name = "recovered-\(code)"
      while manifest.spaces.contains(where: { $0.name == Array(name.utf8) }) { name += "'" }
      manifest.spaces.append(NamedSpace(code: code, name: Array(name.utf8)))
      report.inventedSpaceNames.append(name)
    }
  }

  /// Writes the newest entry of each key of a space, if it is a value.
  private mutating func merge(
    space code: UInt8, to output: inout NewSegments
  ) throws(JobFailure) -> [SegmentDescriptor] {
    let policy = output.writer.compactionPolicy
    var run = SegmentOutput(
      .replacement(isDense: false), segmentByteCount: policy.segmentByteCount, options: options)
    var summaries: [SegmentSummary] = []
    let isCounted =
      segments.contains { $0.found.countedSpaces.contains(code) }
      || logs.contains { $0.image.entries(ofSpace: code).contains { $0.tag.kind.change != 0 } }
    let sources = try self.sources(of: code)
    var last: [UInt8]?
    while let first = sources.dropFirst().reduce(
      sources.first,
      { best, source in
        best.map { source.precedes($0) ? source : $0 }
      }), let key = first.key
    {
      let tag = first.tag
      if key != last, tag.kind.isPut {
        let kept = EntryTag(sequence: tag.sequence, kind: isCounted ? .insertion : .put)
        let value = first.value
        if let full = try run.append(key.rawBytes, kept, value.rawBytes, &output) {
          summaries.append(full)
        }
        report.entryCount += 1
      }
      last = key
      do throws(DatabaseError) {
        try first.next()
      } catch {
        throw .input(error)
      }
    }
    if let full = try run.finish() { summaries.append(full) }
    let tier = policy.tier(ofByteCount: summaries.reduce(0) { $0 + $1.byteCount })
    return summaries.map { SegmentDescriptor($0, tier: tier) }
  }

  private func sources(of code: UInt8) throws(JobFailure) -> [SalvageSource] {
    var sources: [SalvageSource] = []
    do throws(DatabaseError) {
      for (segment, isFiller) in segments {
        sources.append(
          try SalvageSource(segment, space: code, gaps: isFiller ? gaps : nil))
      }
      for log in logs {
        sources.append(
          try SalvageSource(
            log.image, number: log.number, space: code, gaps: log.isFiller ? gaps : nil))
      }
    } catch {
      throw .input(error)
    }
    return sources
  }
}
