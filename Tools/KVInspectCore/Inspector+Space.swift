internal import KVEngine
internal import MemoCore

extension Inspector {
  /// Shows where the bytes of a store are.
  func space(of store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    let (usage, damage) = try StoreReading.read(store) { reading, damage throws(DatabaseError) in
      try SpaceUsage(reading, &damage)
    }
    switch format {
    case .json: printJSON(usage, damage)
    case .text: printText(usage, damage)
    }
    return damage.isEmpty ? .fine : .damage
  }

  private func printJSON(_ usage: SpaceUsage, _ damage: [Corruption]) {
    let names = SpaceNames(usage.manifest)
    let shares = usage.shares.map { share in
      JSONValue.object([
        JSONMember("code", .whole(share.code)),
        JSONMember("name", .text(names.name(of: share.code))),
        JSONMember("entries", .whole(share.entryCount)),
        JSONMember("deletions", .whole(share.tombstoneCount)),
        JSONMember("live", .whole(share.liveCount)),
        JSONMember("liveIsExact", .bool(share.isCounted)),
        JSONMember("bytes", .whole(share.byteCount)),
        JSONMember(
          "tiers",
          .array(
            share.tiers.sorted { $0.key < $1.key }.map { tier in
              .object([
                JSONMember("tier", .whole(tier.key)), JSONMember("bytes", .whole(tier.value)),
              ])
            })),
      ])
    }
    output.json([
      JSONMember("generation", .whole(usage.manifest.generation)),
      JSONMember("segments", .whole(usage.manifest.segments.count)),
      JSONMember("spaces", .array(shares)),
      JSONMember("dataBytes", .whole(usage.dataByteCount)),
      JSONMember("liveBytes", .whole(usage.liveByteCount)),
      JSONMember("segmentBytes", .whole(usage.byteCount(.segments))),
      JSONMember("logBytes", .whole(usage.byteCount(.log))),
      JSONMember("manifestBytes", .whole(usage.byteCount(.manifest))),
      JSONMember("reserveBytes", .whole(usage.byteCount(.reserve))),
      JSONMember("retiredBytes", .whole(usage.byteCount(.retired))),
      JSONMember("pinnedBytes", .whole(usage.byteCount(.pinned))),
      JSONMember("unfinishedBytes", .whole(usage.byteCount(.unfinished))),
      JSONMember("foreignBytes", .whole(usage.byteCount(.foreign))),
      JSONMember("totalBytes", .whole(usage.totalByteCount)),
      JSONMember(damage: damage),
    ])
  }

  private func printText(_ usage: SpaceUsage, _ damage: [Corruption]) {
    if !usage.shares.isEmpty {
      for line in table(of: usage).lines { output.line(line) }
      output.line("")
    }
    let indexByteCount = usage.byteCount(.segments) - usage.dataByteCount
    var table = TextTable([("files", .left), ("size", .right), ("what", .left)])
    func add(_ title: String, _ role: SpaceUsage.Role, _ text: String, isAlwaysShown: Bool = false)
    {
      if !isAlwaysShown, usage.fileCount(role) == 0 { return }
      table.add([title, Self.bytes(usage.byteCount(role)), text])
    }
    let segments = counted(usage.manifest.segments.count, "segment")
    add(
      "segments", .segments,
      segments + (indexByteCount > 0 ? ", \(Self.bytes(indexByteCount)) beside the entries" : ""),
      isAlwaysShown: true)
    add("log", .log, counted(usage.fileCount(.log), "file") + ", zeros ahead included")
    add("MANIFEST", .manifest, "the state")
    add("RESERVE", .reserve, "ballast for a full disk")
    add(
      "retired", .retired,
      counted(usage.fileCount(.retired), "file") + " kept ten minutes for copies")
    add("pinned", .pinned, "no longer named: held by snapshots, or next to be removed")
    add("unfinished", .unfinished, "being written, or left where a process died")
    add("foreign", .foreign, counted(usage.fileCount(.foreign), "file") + " that no store has")
    table.add(["total", Self.bytes(usage.totalByteCount)])
    for line in table.lines { output.line(line) }
    for corruption in damage { output.line(corruption.line) }
    if usage.dataByteCount > 0 {
      output.line("")
      let isExact = usage.shares.allSatisfy(\.isCounted)
      let share = usage.liveByteCount * 100 / usage.dataByteCount
      output.line(
        "live data  \(isExact ? "about" : "at most about") \(share) % of the entries' bytes")
    }
  }

  /// A line for each space: entries, and bytes by tier.
  private func table(of usage: SpaceUsage) -> TextTable {
    let tiers = usage.tiers
    let columns: [(title: String, alignment: TextTable.Alignment)] =
      [("space", .left), ("entries", .right), ("deletions", .right), ("live", .right)]
      + tiers.map { ("tier \($0)", .right) } + [("size", .right)]
    var table = TextTable(columns)
    let names = SpaceNames(usage.manifest)
    for share in usage.shares {
      table.add(
        [
          names.label(of: share.code), "\(share.entryCount)", "\(share.tombstoneCount)",
          (share.isCounted ? "" : "<= ") + "\(share.liveCount)",
        ] + tiers.map { tier in share.tiers[tier].map { Self.bytes($0) } ?? "" }
          + [Self.bytes(share.byteCount)])
    }
    return table
  }
}
