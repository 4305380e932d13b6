// Reads a store's state from its folder. Takes no lock, changes nothing, and never mistakes "cannot
// read" for "empty": what a folder holds is one of four findings.

/// Where a store is, through what it is reached, and which of its states will do.
package struct StoreLocation: Sendable {
  package let files: any FileSystem
  package let folder: String
  package let manifest: ManifestFile
  package let onDamage: DamagePolicy

  package init(
    files: any FileSystem, folder: String, onDamage: DamagePolicy = .report
  ) {
    self.onDamage = onDamage
    self.files = files
    self.folder = folder
    manifest = ManifestFile(files: files, folder: folder)
  }

  package func path(_ name: FileName) -> String { folder + "/" + name.text }

  /// What identifies the folder by whatever name it is reached, a symbolic link included.
  package func folderIdentity() throws(SystemError) -> FileIdentity {
    try files.status(folder + "/.").identity
  }

  /// The folder that holds the store's folder.
  package var parent: String {
    let bytes = Array(folder.utf8)
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
  }
}

package enum Recovery {
  /// What a folder holds.
  package enum Finding {
    /// There is no folder.
    case missing
    /// There is a folder without a store: nothing of ours, or a creation that did not get as far as
    /// its first record. Nothing was ever stored in it.
    case unfinished
    case store(RecoveredStore)
  }

  /// Reads the state, or an earlier one if that will do.
  ///
  /// - Throws: ``DatabaseError/damaged(_:)`` with what is wrong with the newest state when no other
  ///   is complete or none was asked for.
  package static func find(at location: StoreLocation) throws(DatabaseError) -> Finding {
    for _ in 0..<10 {
      do throws(DatabaseError) {
        return try findNewest(at: location)
      } catch {
        guard case .damaged(let corruption) = error, location.onDamage == .openEarlierState else {
          throw error
        }
        let origin = try readingFiles { () throws(SystemError) in try location.manifest.origin() }
        let found = try findEarlier(at: location, origin: origin, because: corruption)
        // A writer may have gone on from an earlier state meanwhile.
        let following = Following(manifest: origin, log: nil, logEnd: 0)
        if try following.hasChanged(at: location) { continue }
        guard let found else { throw error }
        return .store(found)
      }
    }
    throw .busy
  }

  /// Reads the state, again when a writer replaced it meanwhile (rule F22).
  ///
  /// A log can look damaged because it was written while it was read: where a record is now, zeros
  /// were read, and behind them another record that says it was durable. So damage is believed when
  /// two readings agree on it.
  private static func findNewest(at location: StoreLocation) throws(DatabaseError) -> Finding {
    var suspected: DatabaseError?
    for _ in 0..<10 {
      let manifest: Manifest
      let origin: ManifestFile.Origin
      do throws(ManifestFile.ReadFailure) {
        (manifest, origin) = try location.manifest.read()
      } catch {
        switch error {
        case .failed(let failure): throw failure
        case .missing:
          if let finding = try findWithoutManifest(at: location) { return finding }
          continue
        }
      }
      do throws(DatabaseError) {
        // One state as a whole. Whether it is still the newest, a handle without the lock looks at
        // its first read (`Following`); one with the lock need not.
        if location.onDamage == .openEarlierState { try checkSegments(of: manifest, at: location) }
        return .store(try recover(manifest, origin: origin, at: location))
      } catch {
        // A file that is gone or cut may have been replaced while we read; only then look again.
        let isCurrent = try readingFiles { () throws(SystemError) in
          try location.manifest.isCurrent(origin.identity)
        }
        guard isCurrent else { continue }
        guard case .damaged = error, error != suspected else { throw error }
        suspected = error
      }
    }
    throw .busy
  }

  /// Tells a folder in which nothing was ever stored from one that lost its MANIFEST.
  ///
  /// - Returns: `nil` when a MANIFEST has appeared meanwhile.
  private static func findWithoutManifest(
    at location: StoreLocation
  ) throws(DatabaseError) -> Finding? {
    let names: [FileName]
    do throws(SystemError) {
      names = try location.files.list(location.folder).compactMap { FileName($0) }
    } catch {
      // A name of a file in place of the folder is no missing store; ENOENT alone is.
      if error.isNotFound, !error.isNoFolder { return .missing }
      throw error.readFailure
    }
    if names.contains(.manifest) { return nil }
    guard try isStore(names, at: location) else { return .unfinished }
    // Its creation may have come as far while we looked.
    do throws(SystemError) {
      _ = try location.files.status(location.path(.manifest))
      return nil
    } catch {
      guard error.isNotFound else { throw error.readFailure }
    }
    throw .damaged(
      Corruption(
        fileName: FileName.manifest.text, offset: 0, structure: "MANIFEST",
        reason: "is missing though the folder holds a store's files"))
  }

  /// Whether names of files show that something was stored in their folder.
  private static func isStore(
    _ names: [FileName], at location: StoreLocation
  ) throws(DatabaseError) -> Bool {
    for name in names {
      switch name {
      // The first MANIFEST has its second name a moment before the first.
      case .lock, .manifest, .reserve, .temporary, .oldManifest(1): continue
      case .log(1): if try holdsRecord(1, at: location) { return true }
      case .log, .segment, .oldManifest: return true
      }
    }
    return false
  }

  /// Whether anything but a head and zeros is in a log; what cannot be judged counts as something.
  private static func holdsRecord(
    _ number: UInt64, at location: StoreLocation
  ) throws(DatabaseError) -> Bool {
    guard let bytes = try bytes(ofLog: number, at: location),
      bytes.byteCount > LogFormat.headByteCount
    else { return false }
    return bytes.bytes.extracting(droppingFirst: LogFormat.headByteCount)
      .firstNonZeroOffset != nil
  }

  /// Looks whether all segments are there in their full length; what is in them is up to reads.
  ///
  /// - Complexity: One system call for each.
  static func checkSegments(
    of manifest: Manifest, at location: StoreLocation
  ) throws(DatabaseError) {
    for segment in manifest.segments {
      let byteCount: Int
      do throws(SystemError) {
        byteCount = try location.files.status(location.path(.segment(segment.number))).byteCount
      } catch {
        guard error.isNotFound else { throw error.readFailure }
        throw .damaged(Corruption(missingSegment: segment.fileName))
      }
      guard byteCount == segment.byteCount else {
        throw .damaged(
          Corruption(
            fileName: segment.fileName, offset: min(byteCount, segment.byteCount),
            structure: "segment", reason: "has \(byteCount) bytes instead of \(segment.byteCount)"))
      }
    }
  }

  static func recover(
    _ manifest: Manifest, origin: ManifestFile.Origin, at location: StoreLocation
  ) throws(DatabaseError) -> RecoveredStore {
    var logs: [LogContents] = []
    var file: (any File)?
    var lastSequence = manifest.flushedSequence
    for number in manifest.logs {
      let (contents, opened) = try read(log: number, store: manifest.store, at: location)
      try check(contents, after: logs.last, expecting: lastSequence)
      lastSequence = contents.lastSequence
      logs.append(contents)
      file = opened
    }
    return try RecoveredStore(manifest: manifest, origin: origin, logs: logs, liveLog: file)
  }

  private static func read(
    log number: UInt64, store: StoreIdentity, at location: StoreLocation
  ) throws(DatabaseError) -> (LogContents, any File) {
    let file: any File
    do throws(SystemError) {
      file = try location.files.open(location.path(.log(number)), .read)
    } catch {
      guard error.isNotFound else { throw error.readFailure }
      throw .damaged(
        Corruption(
          fileName: FileName.log(number).text, offset: 0, structure: "log",
          reason: "is missing though the MANIFEST names it"))
    }
    return (try LogReader.contents(of: file, number: number, store: store), file)
  }

  /// A log has to begin where the state before it ends (invariant M3), and a predecessor that is
  /// still live has to end where its successor says.
  package static func check(
    _ log: LogContents, after previous: LogContents?, expecting lastSequence: SequenceNumber
  ) throws(DatabaseError) {
    let preamble = log.preamble
    var reason: String?
    if preamble.lastSequence != lastSequence {
      reason = "begins behind sequence \(preamble.lastSequence), not \(lastSequence)"
    } else if let previous,
      preamble.predecessor != previous.number
        || preamble.predecessorByteCount != UInt64(previous.acceptedByteCount)
        || preamble.predecessorChain != previous.chain
    {
      reason = "does not continue the log before it"
    }
    guard let reason else { return }
    throw .damaged(
      Corruption(
        fileName: FileName.log(log.number).text, offset: FileHeader.byteCount,
        structure: "log preamble", reason: reason))
  }
}

/// A store's state as it was found on disk.
package struct RecoveredStore {
  package let manifest: Manifest
  private let origin: ManifestFile.Origin?
  /// Set when this is not the newest state.
  package let earlier: EarlierFinding?
  /// Ascending by number; the last one is live.
  package let logs: [LogContents]
  /// The logs' entries, newest log first; logs without a record have none.
  package let images: [LogImage]
  private let liveLog: (any File)?

  init(
    manifest: Manifest, origin: ManifestFile.Origin?, logs: [LogContents], liveLog: (any File)?,
    earlier: EarlierFinding? = nil
  ) throws(DatabaseError) {
    self.earlier = earlier
    self.manifest = manifest
    self.origin = origin
    self.liveLog = liveLog
    self.logs = logs
    var images: [LogImage] = []
    for log in logs where !log.records.isEmpty {
      do throws(FormatError) {
        images.insert(try LogImage(log), at: 0)
      } catch {
        throw .damaged(Corruption(error, fileName: FileName.log(log.number).text))
      }
    }
    self.images = images
  }

  /// The sequence of the newest operation; in an earlier state that of the newest one that any file
  /// shows, so that none is given out twice.
  package var lastSequence: SequenceNumber {
    max(logs.last?.lastSequence ?? manifest.flushedSequence, earlier?.lastSequence ?? 0)
  }

  /// How a reader of this state notices the next one.
  package var following: Following {
    guard let log = logs.last, earlier == nil else {
      return Following(manifest: origin, log: nil, logEnd: 0)
    }
    return Following(
      manifest: origin, log: liveLog, logEnd: log.acceptedByteCount,
      tornLog: log.isCleanlyEnded ? nil : log.bytes)
  }

  /// What a reader of this state sees.
  package func view(
    tables: [MemTable] = [], segments: OpenSegments, gaps: GapNotes
  ) -> ReadView {
    gaps.reset(to: lastSequence)
    let version = segments.version(of: manifest.segments)
    return ReadView(
      tables: tables, images: images, version: version, sequence: lastSequence,
      counts: version.liveCounts(tables: tables, images: images),
      spaces: manifest.spaces, gaps: gaps)
  }
}
