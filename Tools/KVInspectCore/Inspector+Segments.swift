internal import KVEngine
internal import MemoCore

/// A live segment and what its footer, properties and index say of it.
private struct SegmentListing {
  let descriptor: SegmentDescriptor
  var damage = DamageNotes()

  init(_ descriptor: SegmentDescriptor, of store: StoreReading) throws(DatabaseError) {
    self.descriptor = descriptor
    let fileName = descriptor.fileName
    let expected = descriptor.byteCount
    try damage.noting { () throws(DatabaseError) in
      let file = try store.open(.segment(descriptor.number))
      let byteCount = try readingFiles { () throws(SystemError) in try file.status().byteCount }
      guard byteCount == expected else {
        throw .damaged(
          Corruption(
            fileName: fileName, offset: min(byteCount, expected), structure: "file",
            reason: "has \(byteCount) bytes, not \(expected)"))
      }
      let reader = SegmentReader(
        file: file, fileName: fileName, reference: descriptor.reference)
      _ = try reader.properties()
      _ = try reader.index()
    }
  }

  func value(_ names: SpaceNames) -> JSONValue {
    .object(
      descriptor.members + [
        JSONMember("entries", .whole(descriptor.entryCount)),
        JSONMember("deletions", .whole(descriptor.tombstoneCount)),
        JSONMember("spaces", .array(descriptor.spaces.map { $0.value(names) })),
        JSONMember(damage: damage.corruptions),
      ])
  }
}

extension Inspector {
  /// Lists the live segments, newest first, as reads look at them.
  func segments(of store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    let (found, damage) = try StoreReading.read(store) { reading, damage throws(DatabaseError) in
      var listings: [SegmentListing] = []
      let newestFirst = reading.manifest.segments.sorted { $0.highestSequence > $1.highestSequence }
      for descriptor in newestFirst {
        let listing = try SegmentListing(descriptor, of: reading)
        damage.add(listing.damage.corruptions)
        listings.append(listing)
      }
      return (reading.manifest, listings)
    }
    let (manifest, listings) = found
    let names = SpaceNames(manifest)
    let byteCount = manifest.segments.reduce(0) { $0 + $1.byteCount }
    let entryCount = manifest.segments.reduce(0) { $0 + $1.entryCount }
    switch format {
    case .json:
      output.json([
        JSONMember("generation", .whole(manifest.generation)),
        JSONMember("bytes", .whole(byteCount)), JSONMember("entries", .whole(entryCount)),
        JSONMember("segments", .array(listings.map { $0.value(names) })),
        JSONMember(damage: damage),
      ])
    case .text:
      for line in table(of: listings, names).lines { output.line(line) }
      for corruption in damage { output.line(corruption.line) }
      output.line(
        [
          counted(listings.count, "segment"), Self.bytes(byteCount),
          counted(entryCount, "entry", "entries"),
        ].joined(separator: ", "))
    }
    return damage.isEmpty ? .fine : .damage
  }

  /// A line for each segment and below it one for each of its spaces.
  private func table(of listings: [SegmentListing], _ names: SpaceNames) -> TextTable {
    var table = TextTable([
      ("file", .left), ("tier", .right), ("size", .right), ("entries", .right),
      ("deletions", .right), ("sequences or keys", .left),
    ])
    for listing in listings {
      let segment = listing.descriptor
      let mark = listing.damage.isEmpty ? "" : "  damaged"
      table.add([
        segment.fileName, "\(segment.tier)" + (segment.isDense ? " dense" : ""),
        Self.bytes(segment.byteCount), "\(segment.entryCount)", "\(segment.tombstoneCount)",
        "\(segment.lowestSequence) to \(segment.highestSequence)" + mark,
      ])
      for space in segment.spaces {
        table.add([
          "  " + names.label(of: space.code), "", Self.bytes(space.byteCount),
          "\(space.entryCount)", "\(space.tombstoneCount)",
          KeyText.short(space.lower) + " to " + KeyText.short(space.upper),
        ])
      }
    }
    return table
  }
}

extension SegmentDescriptor {
  var entryCount: Int { spaces.reduce(0) { $0 + $1.entryCount } }
  var tombstoneCount: Int { spaces.reduce(0) { $0 + $1.tombstoneCount } }

  /// What identifies the segment and where it stands, for programs.
  var members: [JSONMember] {
    [
      JSONMember("file", .text(fileName)), JSONMember("segment", .text(identity.text)),
      JSONMember("bytes", .whole(byteCount)), JSONMember("tier", .whole(tier)),
      JSONMember("dense", .bool(isDense)),
      JSONMember("lowestSequence", .whole(lowestSequence)),
      JSONMember("highestSequence", .whole(highestSequence)),
      JSONMember("tombstonesSince", .whole(tombstonesSince)),
    ]
  }
}

extension SpaceBounds {
  fileprivate func value(_ names: SpaceNames) -> JSONValue {
    .object([
      JSONMember("code", .whole(code)), JSONMember("name", .text(names.name(of: code))),
      JSONMember("entries", .whole(entryCount)), JSONMember("deletions", .whole(tombstoneCount)),
      JSONMember("change", .whole(change)), JSONMember("bytes", .whole(byteCount)),
      JSONMember("lower", .text(KeyText.hexadecimal(lower.dropFirst()))),
      JSONMember("upper", .text(KeyText.hexadecimal(upper.dropFirst()))),
    ])
  }
}
