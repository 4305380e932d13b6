internal import KVEngine
internal import KVSalvage
internal import MemoCore

extension Inspector {
  /// Rebuilds a damaged store in another folder, says what became of each file, and checks the new
  /// store.
  func salvage(
    _ store: String, to target: String, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    let report = try MemoTimeline.salvage(storeAt: store, to: target)
    for file in report.files { show(file, format) }
    for loss in report.losses { show(loss, format) }
    let timeline = try open(target)
    let check = try timeline.verify()
    let memoCount = try timeline.count()
    switch format {
    case .json:
      output.json([
        JSONMember("memos", .integer(Int64(memoCount))),
        JSONMember("entries", .integer(Int64(report.entryCount))),
        JSONMember("sequence", .integer(Int64(report.sequence))),
        JSONMember("manifest", report.manifestName.map { .text($0) } ?? .null),
        JSONMember("complete", .bool(report.isComplete)),
        JSONMember("mayHoldDeletedKeys", .bool(report.mayHoldDeletedKeys)),
        JSONMember("wasBeingWritten", .bool(report.wasBeingWritten)),
        JSONMember("sound", .bool(check.isSound)),
      ])
    case .text: summarize(report, memoCount: memoCount, check)
    }
    return report.isComplete && check.isSound ? .fine : .damage
  }

  private func summarize(
    _ report: SalvageReport, memoCount: Int, _ check: VerificationReport
  ) {
    output.line(
      "kept: " + counted(memoCount, "memo") + ", "
        + counted(report.entryCount, "entry", "entries") + " in all, up to write "
        + "\(report.sequence)")
    if report.mayHoldDeletedKeys {
      output.line("note: files that had been replaced were used: deleted memos may be back")
    }
    if report.wasBeingWritten {
      output.line("note: the store was being written: try again when no app has it open")
    }
    for name in report.inventedSpaceNames {
      output.line("note: a space without a known name is now \(TerminalText.visible(name))")
    }
    for corruption in check.damage {
      output.line("damaged: " + TerminalText.visible("\(corruption)"))
    }
  }

  private func show(_ file: SalvageReport.File, _ format: OutputFormat) {
    switch format {
    case .json:
      output.json([
        JSONMember("file", .text(file.name)), JSONMember("use", .text(file.use.rawValue)),
        JSONMember("entries", .integer(Int64(file.entryCount))),
        JSONMember("reason", .text(file.reason)),
      ])
    case .text:
      let use =
        switch file.use {
        case .whole: "used"
        case .part: "used in part"
        case .filler: "used to fill in"
        case .none: "not used"
        }
      output.line(TerminalText.visible("\(file.name): \(use): \(file.reason)"))
    }
  }

  private func show(_ loss: SalvageReport.Loss, _ format: OutputFormat) {
    let keys = [loss.lowerKey, loss.upperKey].map { $0.map(Self.hexadecimal) }
    switch format {
    case .json:
      var members = [JSONMember("lost", .text(loss.fileName))]
      if let offsets = loss.offsets {
        members.append(JSONMember("from", .integer(Int64(offsets.lowerBound))))
        members.append(JSONMember("to", .integer(Int64(offsets.upperBound))))
      }
      if let key = keys[0] { members.append(JSONMember("lowerKey", .text(key))) }
      if let key = keys[1] { members.append(JSONMember("upperKey", .text(key))) }
      members.append(JSONMember("reason", .text(loss.reason)))
      output.json(members)
    case .text:
      var place = loss.fileName
      if let offsets = loss.offsets {
        place += ", bytes \(offsets.lowerBound) to \(offsets.upperBound)"
      }
      let span = keys.contains { $0 != nil } ? "; keys \(keys[0] ?? "") to \(keys[1] ?? "")" : ""
      output.line(TerminalText.visible("lost: \(place): \(loss.reason)" + span))
    }
  }

  /// The first bytes of a key as digits: keys may be long, and may hold text of the app's.
  private static func hexadecimal(_ key: [UInt8]) -> String {
    key.prefix(16).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined() + (key.count > 16 ? "..." : "")
  }
}
