internal import KVEngine
internal import MemoCore

extension Inspector {
  /// Follows one key through the log and every segment.
  ///
  /// Without a space, the word is the id of a memo, or a key of the default space, whichever the
  /// store holds.
  func find(
    _ word: String, in store: String, space: String?, _ format: OutputFormat
  ) throws(MemoError) -> ExitCode {
    let (found, damage) = try StoreReading.read(store) { reading, damage throws(DatabaseError) in
      let names = SpaceNames(reading.manifest)
      let logs = try reading.logs()
      let findings: [KeySearch.Findings]
      if let space {
        let search = try Self.search(for: word, inSpaceNamed: space, names)
        findings = [try search.findings(in: reading, logs: logs, &damage)]
      } else {
        findings = try Self.findings(of: word, in: reading, logs: logs, &damage)
      }
      return (findings, names)
    }
    var (findings, names) = found
    let isFound = findings.contains { !$0.entries.isEmpty }
    // Of what a word can mean, what nothing is stored under is of no interest.
    if isFound {
      findings.removeAll { $0.entries.isEmpty && $0.places.allSatisfy(\.damage.isEmpty) }
    }
    switch format {
    case .json:
      output.json([
        JSONMember("found", .bool(isFound)),
        JSONMember("searches", .array(findings.map { Self.value(of: $0, names) })),
        JSONMember(damage: damage),
      ])
    case .text:
      for (position, item) in findings.enumerated() {
        if position > 0 { output.line("") }
        show(item, names)
      }
    }
    return isFound && damage.isEmpty ? .fine : .damage
  }

  // MARK: - What a word means

  private static func search(
    for word: String, inSpaceNamed space: String, _ names: SpaceNames
  ) throws(DatabaseError) -> KeySearch {
    guard let code = names.code(of: space) else {
      throw .invalidArgument("the store has no space '\(TerminalText.visible(space, limit: 40))'")
    }
    return try search(for: word, in: code)
  }

  private static func search(
    for word: String, in code: UInt8
  ) throws(DatabaseError) -> KeySearch {
    guard let key = KeyText.bytes(of: word), key.count <= Limits.Key.maximumByteCount else {
      throw .invalidArgument("KEY is no key: behind 0x it needs pairs of hexadecimal digits")
    }
    return KeySearch(title: "key", key: [code] + key, isPrefix: false)
  }

  private static func findings(
    of word: String, in reading: StoreReading, logs: [LogReading], _ damage: inout DamageNotes
  ) throws(DatabaseError) -> [KeySearch.Findings] {
    func holds(_ space: Space) -> Bool {
      reading.manifest.segments.contains { $0.bounds(ofSpace: space.code) != nil }
        || logs.contains { $0.image?.changes.codes.contains(space.code) ?? false }
    }
    var findings: [KeySearch.Findings] = []
    if holds(.standard) {
      let search = try search(for: word, in: Space.standard.code)
      findings.append(try search.findings(in: reading, logs: logs, &damage))
    }
    if holds(MemoSpace.ids) || findings.isEmpty {
      for id in MemoID.readings(of: word) {
        findings += try Self.findings(of: id, in: reading, logs: logs, &damage)
      }
    }
    return findings
  }

  /// The entries of an id's hash, and those of the memos that they name.
  private static func findings(
    of id: MemoID, in reading: StoreReading, logs: [LogReading], _ damage: inout DamageNotes
  ) throws(DatabaseError) -> [KeySearch.Findings] {
    let prefix = [MemoSpace.ids.code] + IDKey.prefix(hash: id.hash64)
    let ids = try KeySearch(title: "\(id.kind) id, hash", key: prefix, isPrefix: true)
      .findings(in: reading, logs: logs, &damage)
    var memoKeys: [MemoKey] = []
    for entry in ids.entries {
      let bytes = Array(entry.key.dropFirst())
      guard let key = try? IDKey.decode(bytes.rawBytes).memoKey, !memoKeys.contains(key) else {
        continue
      }
      memoKeys.append(key)
    }
    var findings = [ids]
    for key in memoKeys {
      let search = KeySearch(
        title: "memo of", key: [MemoSpace.memos.code] + key.encode(), isPrefix: false)
      findings.append(try search.findings(in: reading, logs: logs, &damage))
    }
    return findings
  }

  // MARK: - JSON

  private static func value(of findings: KeySearch.Findings, _ names: SpaceNames) -> JSONValue {
    let search = findings.search
    var members = [
      JSONMember("space", .whole(search.spaceCode)),
      JSONMember("name", .text(names.name(of: search.spaceCode))),
      JSONMember("key", .text(KeyText.hexadecimal(search.key.dropFirst()))),
      JSONMember("prefix", .bool(search.isPrefix)),
    ]
    if !search.isPrefix {
      members.append(JSONMember("live", .bool(findings.newest?.tag.kind.isPut ?? false)))
    }
    members.append(JSONMember("places", .array(findings.places.map { value(of: $0) })))
    return .object(members)
  }

  private static func value(of place: KeySearch.Place) -> JSONValue {
    var members = [
      JSONMember("file", .text(place.fileName)),
      JSONMember(
        "entries",
        .array(
          place.entries.map { entry in
            .object([
              JSONMember("key", .text(KeyText.hexadecimal(entry.key.dropFirst()))),
              JSONMember("sequence", .whole(entry.tag.sequence)),
              JSONMember("kind", .text("\(entry.tag.kind)")),
              JSONMember("valueBytes", .whole(entry.valueByteCount)),
              JSONMember("offset", .whole(entry.offset)),
            ])
          })),
    ]
    if let absence = place.absence {
      members.append(JSONMember("absence", .text(absence.rawValue)))
    }
    return .object(members + [JSONMember(damage: place.damage.corruptions)])
  }

  // MARK: - Text

  private func show(_ findings: KeySearch.Findings, _ names: SpaceNames) {
    let search = findings.search
    let key = KeyText.hexadecimal(search.key.dropFirst())
    output.line(
      search.title + (search.isPrefix ? " " : " \(KeyText.short(search.key)), ")
        + "\(TerminalText.visible(key, limit: 66)) in \(names.label(of: search.spaceCode))")
    for place in findings.places { show(place) }
    if search.isPrefix { return }
    guard let newest = findings.newest else { return output.line("  not stored") }
    output.line(
      newest.tag.kind.isPut
        ? "  live: sequence \(newest.tag.sequence) has the value"
        : "  deleted with sequence \(newest.tag.sequence)")
  }

  private func show(_ place: KeySearch.Place) {
    let start = "  \(place.fileName)  "
    for entry in place.entries {
      output.line(
        start + "\(entry.tag.kind), sequence \(entry.tag.sequence),"
          + " value \(Self.bytes(entry.valueByteCount)), at byte \(entry.offset)")
    }
    switch place.absence {
    case .otherSpaces: output.line(start + "holds nothing of this space")
    case .outsideBounds: output.line(start + "outside its bounds")
    case .filtered: output.line(start + "excluded by its filter")
    case .notFound:
      let block = place.searchedOffset.map { " in the block at byte \($0)" } ?? ""
      output.line(start + "not found" + block)
    case .unreadable, nil: break
    }
    for corruption in place.damage.corruptions { output.line(start + corruption.line) }
  }
}
