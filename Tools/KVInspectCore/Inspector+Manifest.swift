internal import KVEngine
internal import MemoCore

/// A MANIFEST that was replaced and is kept for copies of the folder.
private struct EarlierManifest {
  let generation: UInt64
  /// `nil` when it is damaged.
  let manifest: Manifest?
  let isWhole: Bool

  init(
    _ generation: UInt64, _ finding: Result<Manifest, DatabaseError>, fileNames: Set<String>
  ) {
    self.generation = generation
    manifest = try? finding.get()
    isWhole = manifest.map { $0.fileNames.allSatisfy { fileNames.contains($0.text) } } ?? false
  }

  var fileName: String { FileName.oldManifest(generation).text }

  var value: JSONValue {
    var members = [JSONMember("file", .text(fileName)), JSONMember("whole", .bool(isWhole))]
    if let manifest {
      members += [
        JSONMember("generation", .whole(manifest.generation)),
        JSONMember("publishedAt", .whole(manifest.publishedAt)),
        JSONMember("segments", .whole(manifest.segments.count)),
        JSONMember("logs", .whole(manifest.logs.count)),
      ]
    }
    return .object(members)
  }
}

extension Inspector {
  /// Shows the MANIFEST in force and those it replaced.
  func manifest(of store: String, _ format: OutputFormat) throws(MemoError) -> ExitCode {
    var manifest: Manifest?
    var damage: [Corruption]
    var byteCount = 0
    do throws(MemoError) {
      let (found, copies) = try StoreReading.read(store) { reading, damage throws(DatabaseError) in
        do throws(ManifestFile.ReadFailure) {
          let (copies, byteCount) = try reading.location.manifest.verify()
          damage.add(copies)
          return (reading.manifest, byteCount)
        } catch {
          if case .failed(let failure) = error { throw failure }
          throw .notFound(fileName: store)
        }
      }
      (manifest, byteCount) = found
      damage = copies
    } catch {
      // What is left of the store is worth a look when the MANIFEST cannot be read.
      guard case .database(.damaged(let corruption)) = error else { throw error }
      damage = [corruption]
    }
    // The one in force has such a name as well.
    let earlier = try earlierManifests(of: store).filter { $0.generation != manifest?.generation }
    switch format {
    case .json:
      var members = [JSONMember("file", .text(FileName.manifest.text))]
      if let manifest { members += Self.members(of: manifest, byteCount: byteCount) }
      members.append(JSONMember("earlier", .array(earlier.map(\.value))))
      output.json(members + [JSONMember(damage: damage)])
    case .text:
      if let manifest { show(manifest, byteCount: byteCount) }
      for corruption in damage { output.line(corruption.line) }
      show(earlier)
    }
    return damage.isEmpty ? .fine : .damage
  }

  private func earlierManifests(of store: String) throws(MemoError) -> [EarlierManifest] {
    let location = StoreLocation(files: PosixFileSystem.shared, folder: store)
    do throws(DatabaseError) {
      let found = try StoreReading.earlierManifests(at: location)
      let names = try readingFiles { () throws(SystemError) in
        Set(try location.files.list(store))
      }
      return found.map { EarlierManifest($0.generation, $0.finding, fileNames: names) }
    } catch {
      throw .database(error)
    }
  }

  // MARK: - JSON

  private static func members(of manifest: Manifest, byteCount: Int) -> [JSONMember] {
    [
      JSONMember("bytes", .whole(byteCount)), JSONMember("store", .text(manifest.store.text)),
      JSONMember("format", .whole(FormatVersion.current)),
      JSONMember("generation", .whole(manifest.generation)),
      JSONMember("publishedAt", .whole(manifest.publishedAt)),
      JSONMember("flushedSequence", .whole(manifest.flushedSequence)),
      JSONMember("nextFileNumber", .whole(manifest.nextFileNumber)),
      JSONMember("logs", .array(manifest.logs.map { .text(FileName.log($0).text) })),
      JSONMember("segments", .array(manifest.segments.map { .object($0.members) })),
      JSONMember(
        "spaces",
        .array(
          manifest.spaces.map { space in
            .object([
              JSONMember("code", .whole(space.code)),
              JSONMember("name", .text(String(decoding: space.name, as: UTF8.self))),
            ])
          })),
    ]
  }

  // MARK: - Text

  private func show(_ manifest: Manifest, byteCount: Int) {
    let names = SpaceNames(manifest)
    output.line("file        \(FileName.manifest.text), \(Self.bytes(byteCount))")
    output.line("store       \(manifest.store.text), format \(FormatVersion.current)")
    output.line("generation  \(manifest.generation), \(Self.time(manifest.publishedAt))")
    output.line("flushed     sequences up to \(manifest.flushedSequence)")
    output.line("next file   \(manifest.nextFileNumber)")
    output.line(
      "logs        " + manifest.logs.map { FileName.log($0).text }.joined(separator: ", "))
    for space in manifest.spaces {
      output.line("space       \(names.label(of: space.code)), code \(space.code)")
    }
    if manifest.segments.isEmpty { return }
    output.line("")
    var table = TextTable([
      ("segment", .left), ("tier", .right), ("size", .right), ("entries", .right),
      ("sequences", .left), ("oldest deletion", .left),
    ])
    for segment in manifest.segments {
      table.add([
        segment.fileName, "\(segment.tier)", Self.bytes(segment.byteCount),
        "\(segment.entryCount)", "\(segment.lowestSequence) to \(segment.highestSequence)",
        segment.tombstonesSince == 0 ? "none" : Self.time(segment.tombstonesSince),
      ])
    }
    for line in table.lines { output.line(line) }
  }

  private func show(_ earlier: [EarlierManifest]) {
    if earlier.isEmpty { return }
    output.line("")
    output.line("kept for copies of the folder:")
    for item in earlier {
      guard let manifest = item.manifest else {
        output.line("  \(item.fileName): cannot be read")
        continue
      }
      output.line(
        "  \(item.fileName): \(Self.time(manifest.publishedAt)),"
          + " \(counted(manifest.segments.count, "segment")),"
          + " \(counted(manifest.logs.count, "log"))"
          + (item.isWhole ? "" : "; some of its files are gone"))
    }
  }

  /// A moment for people.
  private static func time(_ microseconds: Int64) -> String {
    MemoTimestamp(microseconds: microseconds).map { "\($0)" } ?? "\(microseconds)"
  }
}
