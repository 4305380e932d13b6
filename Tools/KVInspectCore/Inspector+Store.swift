internal import KVEngine
internal import MemoCore

extension Inspector {
  func summary(of store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    let timeline = try open(store)
    let state = try timeline.storeSummary()
    let memoCount = try timeline.count()
    let newest = try timeline.latest(1).first?.createdAt
    let oldest = try timeline.oldest()?.createdAt
    switch format {
    case .json:
      var members = [
        JSONMember("memos", .integer(Int64(memoCount))),
        JSONMember("format", .integer(Int64(FormatVersion.current))),
        JSONMember("store", .text(state.identity)),
        JSONMember("generation", .integer(Int64(state.generation))),
        JSONMember("sequence", .integer(Int64(state.sequence))),
        JSONMember("segments", .integer(Int64(state.segmentCount))),
        JSONMember("segmentBytes", .integer(Int64(state.segmentByteCount))),
        JSONMember("logBytes", .integer(Int64(state.logByteCount))),
        JSONMember("logEntries", .integer(Int64(state.logEntryCount))),
        JSONMember("replacedBytes", .integer(Int64(state.replacedByteCount))),
      ]
      if let newest { members.append(JSONMember("newest", .text("\(newest)"))) }
      if let oldest { members.append(JSONMember("oldest", .text("\(oldest)"))) }
      output.json(members)
    case .text:
      output.line("memos       \(memoCount)")
      if let newest, let oldest {
        output.line("newest      \(newest)")
        output.line("oldest      \(oldest)")
      }
      output.line("segments    \(state.segmentCount), \(Self.bytes(state.segmentByteCount))")
      let logEntries = counted(state.logEntryCount, "entry", "entries")
      output.line("log         \(logEntries), \(Self.bytes(state.logByteCount))")
      output.line(
        "replaced    \(Self.bytes(state.replacedByteCount)) in files kept ten minutes for copies")
      output.line("format      \(FormatVersion.current)")
      output.line("store       \(state.identity), generation \(state.generation)")
    }
    return .fine
  }

  func verify(_ store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    let report: VerificationReport
    do throws(MemoError) {
      report = try open(store).verify()
    } catch {
      // A store that does not open is what this command is for: damage is its answer.
      guard case .database(.damaged(let corruption)) = error else { throw error }
      var found = VerificationReport()
      found.damage = [corruption]
      report = found
    }
    for corruption in report.damage {
      switch format {
      case .json:
        output.json(corruption.members)
      case .text:
        output.line(corruption.line)
      }
    }
    switch format {
    case .json:
      output.json([
        JSONMember("sound", .bool(report.isSound)),
        JSONMember("segments", .integer(Int64(report.segmentCount))),
        JSONMember("blocks", .integer(Int64(report.blockCount))),
        JSONMember("entries", .integer(Int64(report.entryCount))),
        JSONMember("bytes", .integer(Int64(report.byteCount))),
      ])
    case .text:
      let read = [
        counted(report.segmentCount, "segment"), counted(report.blockCount, "block"),
        counted(report.entryCount, "entry", "entries"), Self.bytes(report.byteCount),
      ].joined(separator: ", ")
      let damage = counted(report.damage.count, "place") + " damaged; read "
      output.line((report.isSound ? "sound: " : damage) + read)
    }
    return report.isSound ? .fine : .damage
  }

  /// A size for people: up to four digits and a binary unit.
  static func bytes(_ count: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var unit = 0
    var tenths = count * 10
    while tenths >= 10_240, unit + 1 < units.count {
      tenths /= 1024
      unit += 1
    }
    if unit == 0 || tenths >= 1000 { return "\(tenths / 10) \(units[unit])" }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}

/// A number and what it counts: "1 entry", "2 entries".
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
  "\(count) " + (count == 1 ? one : many ?? one + "s")
}
