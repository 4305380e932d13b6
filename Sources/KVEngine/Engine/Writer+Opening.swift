// How a handle comes to hold the lock: at its first write, never before.

extension Writer {
  /// The open store, ready for a record.
  ///
  /// - Throws: What keeps this handle from writing; nothing of the caller's batch is on disk.
  mutating func begin() throws(DatabaseError) -> OpenStore {
    switch status {
    case .closed: throw .closed
    case .failed: throw .failed
    case .suspended: throw .suspended
    case .idle: try acquire()
    case .open: break
    }
    if case .open(let store) = status, store.isLogFinished || store.log.isFull {
      try flush()
    }
    guard case .open(let store) = status else { throw .failed }
    return store
  }

  /// Takes the lock and reads everything again (C4).
  ///
  /// If anything fails, no lock is held.
  private mutating func acquire() throws(DatabaseError) {
    if options.isReadOnly { throw .invalidArgument("the store was opened for reading only") }
    let lock = try takeLock()
    do throws(DatabaseError) {
      switch try Recovery.find(at: location) {
      case .missing:
        throw DatabaseError.notFound(fileName: location.folder)
      case .unfinished:
        guard options.createIfMissing else {
          throw DatabaseError.notFound(fileName: location.folder)
        }
        try create()
        guard case .store(let created) = try Recovery.find(at: location) else {
          throw DatabaseError.notFound(fileName: location.folder)
        }
        try adopt(created, lock: lock)
      case .store(let found):
        try adopt(found, lock: lock)
        if found.earlier != nil { try renew(found) }
      }
    } catch {
      if case .open = status {} else { lock.unlock() }
      throw error
    }
  }

  private mutating func takeLock() throws(DatabaseError) -> any FileLock {
    do throws(SystemError) {
      if options.createIfMissing { try makeFolder() }
      if entry == nil {
        let folder = try location.folderIdentity()
        entry = HandleTable.enter(process: location.files.processNumber, folder: folder)
        if entry == nil { throw SystemError.locked(location.folder) }
      }
      return try location.files.lock(location.path(.lock))
    } catch {
      if error.isLocked { throw .alreadyOpen }
      if error.isNotFound { throw .notFound(fileName: error.failure.fileName) }
      if error.isReadOnly { throw .readOnlyLocation(error.failure) }
      throw Self.notWritten(error)
    }
  }

  private func makeFolder() throws(SystemError) {
    do {
      // Asked first: on a read-only volume, making a folder that exists may fail with EROFS.
      _ = try location.files.status(location.folder)
    } catch {
      guard error.isNotFound else { throw error }
      try location.files.makeDirectory(location.folder)
    }
  }

  /// Makes log 1 and the first MANIFEST.
  ///
  /// If we die before the MANIFEST has its name, the folder is an unfinished creation and the next
  /// first write begins anew; log 1 has no record before the MANIFEST and all names are durable.
  private func create() throws(DatabaseError) {
    let store = StoreIdentity.random()
    let manifest = Manifest(
      store: store, generation: 1, publishedAt: now, flushedSequence: 0, nextFileNumber: 2,
      logs: [1], segments: [], spaces: [])
    do throws(SystemError) {
      let preamble = LogPreamble(
        lastSequence: 0, predecessor: 0, predecessorByteCount: 0, predecessorLastSequence: 0,
        predecessorChain: 0)
      try makeLog(1, store: store, preamble: preamble)
    } catch {
      throw Self.notWritten(error)
    }
    do throws(ManifestFile.PublishFailure) {
      _ = try location.manifest.publish(manifest)
    } catch {
      switch error {
      case .unchanged(let cause), .unknown(let cause): throw Self.notWritten(cause)
      }
    }
  }

  /// Creates a log without records under its name; the name is not durable yet.
  func makeLog(
    _ number: UInt64, store: StoreIdentity, preamble: LogPreamble
  ) throws(SystemError) {
    let name = FileName.log(number)
    let temporary = location.path(.temporary(name))
    do {
      let bytes = LogWriter.emptyLog(number: number, store: store, preamble: preamble)
      _ = try location.manifest.write(bytes, to: temporary)
      try location.files.rename(temporary, to: location.path(name))
    } catch {
      location.manifest.discard(temporary)
      throw error
    }
  }

  /// Continues a store in place, or begins a new log where the old one must not be touched.
  private mutating func adopt(
    _ found: RecoveredStore, lock: any FileLock
  ) throws(DatabaseError) {
    guard let live = found.logs.last else {
      throw .damaged(
        Corruption(
          fileName: FileName.manifest.text, offset: 0, structure: "MANIFEST",
          reason: "names no log"))
    }
    var manifest = found.manifest
    let log: LogWriter
    do throws(SystemError) {
      if let earlier = found.earlier {
        try setAside(earlier, of: found)
        manifest.generation = earlier.report.newestGeneration
        manifest.nextFileNumber = earlier.nextFileNumber
        obsolete.retire(found.manifest, replacedAt: now)
      } else {
        try location.manifest.settle(manifest.generation)
      }
      if live.records.isEmpty {
        // No record proves that the names of this log and its MANIFEST are durable.
        try location.files.syncDirectory(location.folder)
        if live.number == 1 { try location.files.syncDirectory(location.parent) }
      }
      let file = try location.files.open(location.path(.log(live.number)), .update)
      log = LogWriter(
        continuing: live, file: file, store: found.manifest.store,
        step: options.zeroStepByteCount)
    } catch {
      if error.isReadOnly { throw .readOnlyLocation(error.failure) }
      throw Self.notWritten(error)
    }
    table = MemTable()
    session += 1
    compacting = []
    reserve = .unknown
    mayBeCompacted = !found.manifest.segments.isEmpty
    lastUseTime = MonotonicClock.nanoseconds()
    note(found)
    state.segments.unpinAll()
    state.install(found, table: table)
    status = .open(
      OpenStore(
        lock: lock, manifest: manifest, log: log,
        isLogFinished: !live.isCleanlyEnded || found.earlier != nil))
  }
}
