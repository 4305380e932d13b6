internal import KVEngine
internal import MemoCore

/// The live segments of a store in numbers.
private struct SegmentTotals {
  let segmentCount: Int
  let byteCount: Int
  let entryCount: Int
  let tombstoneCount: Int

  init(_ manifest: Manifest) {
    segmentCount = manifest.segments.count
    byteCount = manifest.segments.reduce(0) { $0 + $1.byteCount }
    entryCount = manifest.segments.reduce(0) { $0 + $1.entryCount }
    tombstoneCount = manifest.segments.reduce(0) { $0 + $1.tombstoneCount }
  }

  var value: JSONValue {
    .object([
      JSONMember("segments", .whole(segmentCount)), JSONMember("bytes", .whole(byteCount)),
      JSONMember("entries", .whole(entryCount)), JSONMember("deletions", .whole(tombstoneCount)),
    ])
  }

  var text: String {
    [
      counted(segmentCount, "segment"), Inspector.bytes(byteCount),
      counted(entryCount, "entry", "entries"), counted(tombstoneCount, "deletion"),
    ].joined(separator: ", ")
  }
}

extension Inspector {
  /// Merges all that can be merged; takes the store's lock.
  func compact(_ store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    var options = DatabaseOptions()
    options.createIfMissing = false
    let timeline = try MemoTimeline(at: store, options: options)
    let before = try totals(of: store)
    let statistics: DatabaseStatistics
    do throws(DatabaseError) {
      try timeline.database.compact()
      statistics = try timeline.database.statistics()
    } catch {
      throw .database(error)
    }
    let after = try totals(of: store)
    try timeline.close()
    switch format {
    case .json:
      output.json([
        JSONMember("before", before.value), JSONMember("after", after.value),
        JSONMember("compactions", .whole(statistics.compactionCount)),
        JSONMember(
          "writtenBytes", .whole(statistics.compactionByteCount + statistics.flushByteCount)),
      ])
    case .text:
      output.line("before  \(before.text)")
      output.line("after   \(after.text)")
      output.line("what was replaced stays for ten minutes, for copies of the folder")
    }
    return .fine
  }

  /// Makes a copy that opens by itself; the store is not changed and not locked.
  func checkpoint(
    of store: String, to target: String, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    let timeline = try open(store)
    do throws(DatabaseError) {
      try timeline.database.checkpoint(to: target)
    } catch {
      throw .database(error)
    }
    let totals = try totals(of: target)
    switch format {
    case .json: output.json([JSONMember("checkpoint", totals.value)])
    case .text: output.line("checkpoint  \(totals.text)")
    }
    return .fine
  }

  private func totals(of store: String) throws(MemoError) -> SegmentTotals {
    try StoreReading.read(store) { reading, _ throws(DatabaseError) in
      SegmentTotals(reading.manifest)
    }.0
  }
}
