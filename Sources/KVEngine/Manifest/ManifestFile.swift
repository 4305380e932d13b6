// Reads and replaces the MANIFEST. Publishing is the only commit point of everything but a write to
// the log: before the rename the old state holds, after it the new one.

/// The MANIFEST of one folder.
package struct ManifestFile: Sendable {
  package let files: any FileSystem
  package let folder: String
  /// Of the MANIFEST; made once, as reads without the lock look there each time.
  private let path: String

  package init(files: any FileSystem, folder: String) {
    self.files = files
    self.folder = folder
    path = folder + "/" + FileName.manifest.text
  }

  package func path(_ name: FileName) -> String { folder + "/" + name.text }

  /// Which step of a publish failed, because the consequences differ.
  package enum PublishFailure: Error {
    /// The old MANIFEST is in force; nothing of the new one is left.
    case unchanged(SystemError)
    /// Either may be in force after a crash; this handle must not go on writing.
    case unknown(SystemError)
  }

  /// The file that a MANIFEST was read from.
  ///
  /// It stays open, so that no other file can get its identity.
  package struct Origin: Sendable {
    package let identity: FileIdentity
    private let file: any File

    package init(_ file: any File) throws(SystemError) {
      self.file = file
      identity = try file.status().identity
    }

    fileprivate init(_ file: any File, _ status: FileStatus) {
      self.file = file
      identity = status.identity
    }
  }

  /// Reads a MANIFEST and tells which file it was read from.
  package func read(
    _ name: FileName = .manifest
  ) throws(ReadFailure) -> (Manifest, Origin) {
    let (bytes, origin) = try contents(of: name)
    do throws(DatabaseError) {
      return (try Manifest.decode(bytes.bytes, fileName: name.text), origin)
    } catch {
      throw .failed(error)
    }
  }

  /// The copies in the MANIFEST that do not verify, and its size.
  package func verify() throws(ReadFailure) -> (damage: [Corruption], byteCount: Int) {
    let (bytes, _) = try contents(of: .manifest)
    let damage = Manifest.damagedCopies(bytes.bytes, fileName: FileName.manifest.text)
    return (damage, bytes.byteCount)
  }

  private func contents(
    of name: FileName
  ) throws(ReadFailure) -> (ByteBuffer, Origin) {
    do throws(SystemError) {
      let file = try files.open(path(name), .read)
      let status = try file.status()
      let byteCount = min(status.byteCount, Limits.Manifest.maximumByteCount)
      return (try file.readBytes(at: 0, count: byteCount), Origin(file, status))
    } catch {
      throw error.isNotFound ? .missing : .failed(error.readFailure)
    }
  }

  /// Why a MANIFEST could not be read.
  package enum ReadFailure: Error {
    case missing
    case failed(DatabaseError)
  }

  /// The file that has the name now, whatever is in it; `nil` when none has.
  package func origin() throws(SystemError) -> Origin? {
    do {
      return try Origin(try files.open(path, .read))
    } catch {
      if error.isNotFound { return nil }
      throw error
    }
  }

  /// Whether the MANIFEST is still the file it was read from.
  package func isCurrent(_ identity: FileIdentity) throws(SystemError) -> Bool {
    do {
      return try files.status(path).identity == identity || isPlanted(.missedManifest)
    } catch {
      if error.isNotFound { return false }
      throw error
    }
  }

  /// Makes a state the one that the next open finds.
  ///
  /// Every file it names must be durable before; their names are made so here, by a flush of the
  /// folder before the rename, since of several changes of names any may survive alone. If we die
  ///  - before the rename: the old state holds, a temporary and a second name are left;
  ///  - between rename and second flush: old or new state, both complete, because what the old one
  ///    names is still there;
  ///  - after the second flush: the new state.
  ///
  /// It has its name by generation from the start, and not only when it is replaced: whoever lists
  /// the folder to copy it then sees a MANIFEST that later ones do not change.
  ///
  /// - Returns: The identity of the new MANIFEST and its bytes, both copies together.
  package func publish(
    _ manifest: Manifest
  ) throws(PublishFailure) -> (identity: FileIdentity, byteCount: Int) {
    assert(manifest.brokenInvariant == nil)
    let temporary = path(.temporary(.manifest))
    let second = path(.oldManifest(manifest.generation))
    let bytes = manifest.encode()
    guard bytes.count <= Limits.Manifest.maximumByteCount,
      manifest.segments.count <= Limits.Manifest.maximumSegmentCount
    else { throw .unchanged(.tooLarge(temporary)) }
    let identity: FileIdentity
    do throws(SystemError) {
      identity = try write(bytes, to: temporary)
      // Left by a publish of this generation that did not get as far as the rename.
      discard(second)
      do {
        try files.link(temporary, to: second)
      } catch {
        guard error.isLinkRefused else { throw error }
        _ = try write(bytes, to: second)
      }
      if !isPlanted(.unsyncedNames) { try files.syncDirectory(folder) }
    } catch {
      discard(temporary)
      discard(second)
      throw .unchanged(error)
    }
    do throws(SystemError) {
      try files.rename(temporary, to: path(.manifest))
      if !isPlanted(.unsyncedManifest) { try files.syncDirectory(folder) }
    } catch {
      throw .unknown(error)
    }
    return (identity, bytes.count)
  }

  /// Creates a file with these bytes and makes them durable; a left-over of that name goes first.
  package func write(_ bytes: [UInt8], to path: String) throws(SystemError) -> FileIdentity {
    discard(path)
    let file = try files.open(path, .create)
    do throws(WriteFailure) {
      try file.writeBytes(bytes.rawBytes, at: 0)
    } catch {
      throw error.cause
    }
    try file.sync()
    return try file.status().identity
  }

  /// Puts right which generations have names; called with the lock, before the first record.
  ///
  /// A name above the generation in force was left by a crash before the rename. What is committed
  /// from now on is not in that state, so that nobody may ever take it for a newer one. The
  /// generation in force has no second name in a copy of a folder.
  package func settle(_ generation: UInt64) throws(SystemError) {
    var isRemoved = true
    do throws(SystemError) {
      try files.unlink(path(.oldManifest(generation + 1)))
    } catch {
      isRemoved = false
    }
    if isRemoved { try files.syncDirectory(folder) }
    do throws(SystemError) {
      try files.link(path, to: path(.oldManifest(generation)))
    } catch {
      // It has the name, or the volume has no links: only copies would need it.
      return
    }
  }

  /// Removes a file nobody needs; that it stays is no error, the next sweep finds it (rule F11).
  package func discard(_ path: String) {
    do throws(SystemError) {
      try files.unlink(path)
    } catch {
      return
    }
  }
}
