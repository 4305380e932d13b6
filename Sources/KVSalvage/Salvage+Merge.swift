// The second half of a salvage: what verifies becomes one run of each space, the newest entry of
// each key. Deletions have then nothing left to hide and go; counts begin anew.

internal import KVEngine

extension Salvage {
  /// Writes everything that counts as a store of its own.
  mutating func write() throws(DatabaseError) {
    var store = try NewStore(at: target, options: options)
    do throws(DatabaseError) {
      let codes = Set(segments.flatMap { $0.found.blocks.map(\.head.spaceCode) })
        .union(logs.flatMap(\.image.changes.codes)).sorted()
      for code in codes { try merge(space: code, into: &store) }
      try store.publish(upTo: report.sequence, spaces: names(of: codes))
    } catch {
      store.discard()
      throw error
    }
  }

  /// The names of spaces: those that have keys and no known name get one, or nobody could read
  /// them.
  private mutating func names(of codes: [UInt8]) -> [NamedSpace] {
    var spaces = base?.spaces ?? []
    let known = Set(spaces.map(\.code))
    for code in codes where Limits.Space.userCodes.contains(code) && !known.contains(code) {
      guard code != Limits.Space.firstUserCode else { continue }
      var name = "recovered-\(code)"
      while spaces.contains(where: { $0.name == Array(name.utf8) }) { name += "'" }
      spaces.append(NamedSpace(code: code, name: Array(name.utf8)))
      report.inventedSpaceNames.append(name)
    }
    return spaces
  }

  /// Writes the newest entry of each key of a space, if it is a value.
  private mutating func merge(
    space code: UInt8, into store: inout NewStore
  ) throws(DatabaseError) {
    let isCounted =
      segments.contains { $0.found.countedSpaces.contains(code) }
      || logs.contains { Self.carriesChange($0.image, space: code) }
    let sources = try self.sources(of: code)
    var last: [UInt8]?
    while let first = sources.dropFirst().reduce(
      sources.first,
      { best, source in
        best.map { source.precedes($0) ? source : $0 }
      }), let (key, tag, value) = first.entry
    {
      if key != last, tag.kind.isPut {
        let kept = EntryTag(sequence: tag.sequence, kind: isCounted ? .insertion : .put)
        try store.append(key: key, tag: kept, value: value)
        report.entryCount += 1
      }
      last = key
      try first.next()
    }
    try store.endRun()
  }

  /// Whether some entry of a space carries a change of the number of keys.
  private static func carriesChange(_ log: LogImage, space code: UInt8) -> Bool {
    var cursor = LogImageCursor(log, space: code)
    let first = [code]
    cursor.seek(toFirstAtOrAfter: first.rawBytes, sequence: .max)
    while cursor.isValid {
      if cursor.tag.kind.change != 0 { return true }
      cursor.next()
    }
    return false
  }

  private func sources(of code: UInt8) throws(DatabaseError) -> [SalvageSource] {
    var sources: [SalvageSource] = []
    for (segment, isFiller) in segments {
      sources.append(try SalvageSource(segment, space: code, gaps: isFiller ? gaps : nil))
    }
    for log in logs {
      sources.append(
        try SalvageSource(
          log.image, number: log.number, space: code, gaps: log.isFiller ? gaps : nil))
    }
    return sources
  }
}
