// Rebuilds what can be read of a damaged store in another folder. The originals are only read.
//
// Which files count:
//  - With a MANIFEST, the files that it names. The newest readable one is followed: the path's own,
//    else the replaced one of the highest generation. Files that were replaced would bring deleted
//    keys back, so they are only asked for keys that a named segment has lost (`KeyGap`).
//  - Files above the MANIFEST's numbers count when it is an older one, or when a log that it names
//    is damaged: a flush that did not get as far as its publish has written the log's entries. They
//    may be parts of a load that was never committed as well, so the report says that deleted or
//    unwritten keys may be in the result.
//  - Without any MANIFEST, all files.
// Of each key the entry with the highest sequence wins, deletions included; what carries no
// sequence is older than what does.

internal import KVEngine

/// One salvage: what it has looked at so far, and what counts of it.
struct Salvage {
  let source: StoreLocation
  let target: StoreLocation
  let options: DatabaseOptions
  var report = SalvageReport()
  /// The MANIFEST that is followed.
  var base: Manifest?
  /// Keys that named segments may have lost.
  var gaps: [KeyGap] = []
  var segments: [(found: SalvagedSegment, isFiller: Bool)] = []
  var logs: [(image: LogImage, number: UInt64, isFiller: Bool)] = []
  private var names: [FileName] = []
  private var isLatest = false
  private var hasDamagedLog = false

  /// Rebuilds a store.
  ///
  /// - Throws: As `Database.salvage(storeAt:to:options:)`.
  static func run(
    from source: StoreLocation, to target: StoreLocation, options: DatabaseOptions
  ) throws(DatabaseError) -> SalvageReport {
    var salvage = Salvage(source: source, target: target, options: options)
    try salvage.look()
    let lock = salvage.takeLock()
    defer { lock?.unlock() }
    try salvage.chooseManifest()
    try salvage.readSegments()
    try salvage.readLogs()
    try salvage.readOthers()
    try salvage.write()
    return salvage.report
  }

  private init(source: StoreLocation, target: StoreLocation, options: DatabaseOptions) {
    self.source = source
    self.target = target
    self.options = options
  }

  /// Lists the store's files, and refuses targets that are not free before much is read.
  private mutating func look() throws(DatabaseError) {
    do throws(SystemError) {
      names = try source.files.list(source.folder).compactMap { FileName($0) }
    } catch {
      if error.isNotFound, !error.isNoFolder { throw .notFound(fileName: source.folder) }
      throw error.readFailure
    }
    names.sort { $0.text < $1.text }
    let isStore = names.contains { name in
      switch name {
      case .manifest, .oldManifest, .log, .segment: true
      case .lock, .reserve, .temporary: false
      }
    }
    guard isStore else { throw .notFound(fileName: source.folder) }
    let isInside: Bool
    do throws(SystemError) {
      let parent = try target.files.status(target.parent + "/.").identity
      isInside = try parent == source.folderIdentity()
      if try !isFree() { throw SystemError.taken(target.folder) }
    } catch {
      throw Writer.notWritten(error)
    }
    if isInside { throw .invalidArgument("the target is inside the damaged store") }
  }

  /// Whether the target is missing or an empty folder.
  private func isFree() throws(SystemError) -> Bool {
    do {
      return try target.files.list(target.folder).isEmpty
    } catch {
      if error.isNotFound, !error.isNoFolder { return true }
      throw error
    }
  }

  /// The store's lock, if it has one that is free: nothing is created in the folder.
  private mutating func takeLock() -> (any FileLock)? {
    guard names.contains(.lock) else { return nil }
    do throws(SystemError) {
      return try source.files.lock(source.path(.lock))
    } catch {
      report.wasBeingWritten = error.isLocked
      return nil
    }
  }

  // MARK: - MANIFEST

  /// Follows the newest MANIFEST that verifies.
  private mutating func chooseManifest() throws(DatabaseError) {
    var candidates: [(generation: UInt64, name: FileName)] = []
    for name in names {
      switch name {
      case .manifest: candidates.append((.max, name))
      case .oldManifest(let generation): candidates.append((generation, name))
      default: continue
      }
    }
    if !names.contains(.manifest) { lose(.manifest, "is missing") }
    for (generation, name) in candidates.sorted(by: { $0.generation > $1.generation }) {
      if let base {
        let isSecond = generation == base.generation
        add(name, .none, isSecond ? "is its second name" : "describes an older state")
        continue
      }
      do throws(ManifestFile.ReadFailure) {
        let manifest = try source.manifest.read(name).0
        base = manifest
        isLatest = name == .manifest
        report.manifestName = name.text
        report.sequence = max(report.sequence, manifest.flushedSequence)
        add(name, .whole, "is followed: generation \(manifest.generation)")
      } catch {
        switch error {
        case .failed(.notAvailableYet(let failure)): throw .notAvailableYet(failure)
        case .failed(.unsupportedFormat(let name, let found, let known)):
          throw .unsupportedFormat(fileName: name, found: found, known: known)
        case .failed(let failure): try lose(name, failure)
        case .missing: lose(name, "is missing")
        }
      }
    }
    report.mayHoldDeletedKeys = !isLatest
  }

  // MARK: - Segments

  /// Reads the segments that the MANIFEST names.
  private mutating func readSegments() throws(DatabaseError) {
    for descriptor in base?.segments ?? [] {
      let name = FileName.segment(descriptor.number)
      guard names.contains(name) else {
        lose(descriptor, "is missing")
        continue
      }
      let found = try read(descriptor.number, descriptor)
      if found.frames.reference.identity == descriptor.identity, !found.blocks.isEmpty {
        take(found, isFiller: false)
        continue
      }
      // Another segment under the name, or nothing that verifies.
      lose(descriptor, found.blocks.isEmpty ? "nothing verifies" : "is another segment")
    }
  }

  private func read(
    _ number: UInt64, _ descriptor: SegmentDescriptor?
  ) throws(DatabaseError) -> SalvagedSegment {
    let name = FileName.segment(number)
    let file = ReopenedFile(source.files, source.path(name))
    return try SalvagedSegment.read(
      file, name: name.text, number: number, descriptor: descriptor)
  }

  private mutating func take(_ found: SalvagedSegment, isFiller: Bool) {
    segments.append((found, isFiller))
    if !isFiller {
      report.losses += found.losses
      gaps += found.gaps
    }
    let use: SalvageReport.Use =
      isFiller ? .filler : found.losses.isEmpty ? .whole : found.blocks.isEmpty ? .none : .part
    let reason =
      isFiller
      ? "was replaced; asked for keys that are lost elsewhere"
      : found.losses.isEmpty ? "all entries verify" : found.losses[0].reason
    report.files.append(
      SalvageReport.File(
        name: found.frames.fileName, use: use, entryCount: found.entryCount,
        sequences: found.sequences, reason: reason))
    note(found.sequences?.upperBound)
  }

  private mutating func note(_ sequence: SequenceNumber?) {
    report.sequence = max(report.sequence, sequence ?? 0)
  }

  // MARK: - Logs

  /// Reads the logs that the MANIFEST names.
  private mutating func readLogs() throws(DatabaseError) {
    for number in base?.logs ?? [] {
      if names.contains(.log(number)) {
        try read(log: number, isFiller: false)
      } else {
        lose(.log(number), "is missing")
        hasDamagedLog = true
      }
    }
  }

  private mutating func read(log number: UInt64, isFiller: Bool) throws(DatabaseError) {
    let name = FileName.log(number)
    let buffer: ByteBuffer
    do throws(SystemError) {
      let file = try source.files.open(source.path(name), .read)
      let byteCount = min(try file.status().byteCount, Limits.Log.maximumByteCount)
      buffer = try file.readBytes(at: 0, count: byteCount)
    } catch {
      hasDamagedLog = hasDamagedLog || !isFiller
      return try lose(name, error.readFailure, isNeeded: !isFiller)
    }
    let stores = base.map { [$0.store] } ?? Self.claims(in: buffer)
    var (contents, damage) = try LogReader.readablePrefix(
      of: buffer, number: number, stores: stores)
    var image: LogImage?
    while let found = contents, image == nil {
      do throws(FormatError) {
        image = try LogImage(found)
      } catch {
        damage = Corruption(error, fileName: name.text)
        contents = found.cut(before: error.offset)
      }
    }
    guard let contents, let image else {
      hasDamagedLog = hasDamagedLog || !isFiller
      return lose(
        name, damage?.reason ?? "does not begin", offsets: 0..<buffer.byteCount,
        isNeeded: !isFiller)
    }
    if image.entryCount > 0 { logs.append((image, number, isFiller)) }
    note(contents.lastSequence)
    let isTorn = damage == nil && !contents.isCleanlyEnded
    let reason =
      damage.map { "\($0.structure) at byte \($0.offset): \($0.reason)" }
      ?? (isTorn ? "its end does not verify; perhaps a write that was cut off" : nil)
    if let reason, !isFiller {
      // Of a torn end nothing was acknowledged, so nothing else has to stand in for it.
      hasDamagedLog = hasDamagedLog || damage != nil
      report.losses.append(
        SalvageReport.Loss(
          fileName: name.text, offsets: contents.acceptedByteCount..<buffer.byteCount,
          reason: reason))
    }
    let first = contents.preamble.lastSequence + 1
    report.files.append(
      SalvageReport.File(
        name: name.text, use: isFiller ? .filler : reason == nil ? .whole : .part,
        entryCount: image.entryCount,
        sequences: image.entryCount == 0 ? nil : first...contents.lastSequence,
        reason: reason ?? "all records verify"))
  }

  /// The store that a log says it belongs to, proved or not: its records prove it.
  private static func claims(in log: ByteBuffer) -> [StoreIdentity] {
    var reader = ByteReader(log.bytes, structure: "file header")
    do throws(FormatError) {
      try reader.skip(16)
      return [StoreIdentity(high: try reader.u64(), low: try reader.u64())]
    } catch {
      return []
    }
  }

  // MARK: - The rest

  /// Judges the files that the MANIFEST does not name.
  private mutating func readOthers() throws(DatabaseError) {
    let live = base?.fileNames ?? []
    for name in names where !live.contains(name) {
      switch name {
      case .manifest, .oldManifest, .lock: continue
      case .reserve: add(name, .none, "ballast")
      case .temporary: add(name, .none, "was not finished")
      case .segment(let number):
        guard let isFiller = isFiller(number) else {
          add(name, .none, "was replaced, or never became part of the store")
          continue
        }
        take(try read(number, nil), isFiller: isFiller)
      case .log(let number):
        guard let isFiller = isFiller(number) else {
          add(name, .none, "its entries are in segments")
          continue
        }
        try read(log: number, isFiller: isFiller)
      }
    }
    if segments.contains(where: \.isFiller) || logs.contains(where: \.isFiller) {
      report.mayHoldDeletedKeys = true
    }
    // Segments that no MANIFEST names may also be parts of a load that was never committed.
    let named = Set((base?.segments ?? []).map(\.number))
    if segments.contains(where: { !named.contains($0.found.frames.reference.number) }) {
      report.mayHoldDeletedKeys = true
    }
  }

  /// Whether a file that is not named only fills gaps; `nil` when it is not used.
  private func isFiller(_ number: UInt64) -> Bool? {
    guard let base else { return false }
    if number >= base.nextFileNumber, !isLatest || hasDamagedLog { return false }
    return gaps.isEmpty ? nil : true
  }

  // MARK: - Report

  private mutating func add(_ name: FileName, _ use: SalvageReport.Use, _ reason: String) {
    report.files.append(SalvageReport.File(name: name.text, use: use, reason: reason))
  }

  private mutating func lose(_ descriptor: SegmentDescriptor, _ reason: String) {
    for space in descriptor.spaces {
      gaps.append(KeyGap(lower: space.lower, upper: space.upper + [0]))
    }
    lose(
      .segment(descriptor.number), reason, lower: descriptor.spaces.first?.lower,
      upper: descriptor.spaces.last?.upper)
  }

  private mutating func lose(
    _ name: FileName, _ failure: DatabaseError, isNeeded: Bool = true
  ) throws(DatabaseError) {
    if case .notAvailableYet = failure { throw failure }
    guard case .damaged(let corruption) = failure else {
      return lose(name, "\(failure)", isNeeded: isNeeded)
    }
    lose(name, "\(corruption.structure): \(corruption.reason)", isNeeded: isNeeded)
  }

  private mutating func lose(
    _ name: FileName, _ reason: String, offsets: Range<Int>? = nil, lower: [UInt8]? = nil,
    upper: [UInt8]? = nil, isNeeded: Bool = true
  ) {
    add(name, .none, reason)
    guard isNeeded else { return }
    report.losses.append(
      SalvageReport.Loss(
        fileName: name.text, offsets: offsets, lowerKey: lower, upperKey: upper, reason: reason))
  }
}
