internal import KVEngine
internal import MemoCore

/// What one record of a log does.
private struct RecordListing {
  let record: LogContents.Record
  var deletionCount = 0
  /// Ascending codes of the spaces that it writes to.
  let spaceCodes: [UInt8]

  /// Reads the operations of a record, whose checksum holds; those that do not decode end it.
  init(_ record: LogContents.Record, in log: LogContents) {
    self.record = record
    let payload = log.bytes.bytes.extracting(record.payload)
    var operations = OperationReader(payload, count: record.head.operationCount)
    var codes: Set<UInt8> = []
    while let operation = try? operations.next() {
      if !operation.kind.isPut { deletionCount += 1 }
      if let code = payload.extracting(operation.key).first { codes.insert(code) }
    }
    spaceCodes = codes.sorted()
  }

  var value: JSONValue {
    .object([
      JSONMember("offset", .whole(record.offset)),
      JSONMember("bytes", .whole(record.head.recordByteCount)),
      JSONMember("firstSequence", .whole(record.head.firstSequence)),
      JSONMember("lastSequence", .whole(record.head.lastSequence)),
      JSONMember("durableSequence", .whole(record.head.durableSequence)),
      JSONMember("deletions", .whole(deletionCount)),
      JSONMember("spaces", .array(spaceCodes.map { .whole($0) })),
    ])
  }
}

extension Inspector {
  /// Lists the live logs, oldest first, with their records.
  func log(of store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    let (found, damage) = try StoreReading.read(store) { reading, damage throws(DatabaseError) in
      let logs = try reading.logs()
      for log in logs { damage.add(log.damage.corruptions) }
      return (reading.manifest, logs)
    }
    let (manifest, logs) = found
    switch format {
    case .json:
      output.json([
        JSONMember("generation", .whole(manifest.generation)),
        JSONMember("flushedSequence", .whole(manifest.flushedSequence)),
        JSONMember("logs", .array(logs.map { Self.value(of: $0) })),
        JSONMember(damage: damage),
      ])
    case .text:
      output.line("everything up to sequence \(manifest.flushedSequence) is in segments")
      for log in logs { show(log, SpaceNames(manifest)) }
    }
    return damage.isEmpty ? .fine : .damage
  }

  private static func value(of log: LogReading) -> JSONValue {
    var members = [
      JSONMember("file", .text(log.fileName)), JSONMember("bytes", .whole(log.byteCount)),
    ]
    if let contents = log.contents {
      members += [
        JSONMember("usedBytes", .whole(contents.acceptedByteCount)),
        JSONMember("provenBytes", .whole(contents.unprovenOffset)),
        JSONMember("cleanEnd", .bool(contents.isCleanlyEnded && log.damage.isEmpty)),
        JSONMember("predecessor", .whole(contents.preamble.predecessor)),
        JSONMember("lastSequence", .whole(contents.lastSequence)),
        JSONMember("entries", .whole(log.image?.entryCount ?? 0)),
        JSONMember(
          "records", .array(contents.records.map { RecordListing($0, in: contents).value })),
      ]
    }
    return .object(members + [JSONMember(damage: log.damage.corruptions)])
  }

  private func show(_ log: LogReading, _ names: SpaceNames) {
    output.line("")
    guard let contents = log.contents else {
      output.line("\(log.fileName): \(Self.bytes(log.byteCount))")
      for corruption in log.damage.corruptions { output.line(corruption.line) }
      return
    }
    let used = contents.acceptedByteCount
    output.line(
      "\(log.fileName): \(Self.bytes(used)) of \(Self.bytes(log.byteCount)) used,"
        + " \(counted(contents.records.count, "record")),"
        + " \(counted(log.image?.entryCount ?? 0, "entry", "entries"))")
    if contents.preamble.predecessor != 0 {
      output.line(
        "continues \(FileName.log(contents.preamble.predecessor).text)"
          + " behind sequence \(contents.preamble.lastSequence)")
    }
    if !contents.records.isEmpty { printRecords(of: contents, names) }
    for corruption in log.damage.corruptions { output.line(corruption.line) }
    if contents.unprovenOffset < used {
      output.line("no later record says that byte \(contents.unprovenOffset) and on are synced")
    }
    if !contents.isCleanlyEnded, log.damage.isEmpty {
      output.line("behind byte \(used): what a crash left of a commit that never returned")
    }
  }

  private func printRecords(of contents: LogContents, _ names: SpaceNames) {
    var table = TextTable([
      ("byte", .right), ("bytes", .right), ("sequences", .left), ("deletions", .right),
      ("synced before", .left), ("spaces", .left),
    ])
    for record in contents.records {
      let listing = RecordListing(record, in: contents)
      let head = record.head
      table.add([
        "\(record.offset)", "\(head.recordByteCount)",
        "\(head.firstSequence) to \(head.lastSequence)", "\(listing.deletionCount)",
        "up to \(head.durableSequence)",
        listing.spaceCodes.map { names.label(of: $0) }.joined(separator: ", "),
      ])
    }
    for line in table.lines {
      output.line(line)
      if output.isClosed { return }
    }
  }
}
