// Flush: the memtable becomes a segment, and a new log begins. Both are published in one MANIFEST,
// so there is exactly one live log at any time.
//
// If we die (1) before the publish, the old log still holds everything, and files that no MANIFEST
// names are left; (2) after its rename, the segment holds everything, and the old log stays for
// copies until its grace ends. What went out in a new file was synced before the publish, so a log
// whose end was torn, or whose sync failed, is left behind with nothing in it that is needed.

extension Writer {
  /// Writes memtable and recovered log as a segment and begins a new log.
  ///
  /// - Throws: What failed. The store stays as it was, and usable, unless a sync failed (C3).
  mutating func flush() throws(DatabaseError) {
    do throws(DatabaseError) {
      try makeSegmentAndLog()
    } catch {
      guard case .diskFull = error, spendReserve() else { throw error }
      try makeSegmentAndLog()
    }
    do throws(DatabaseError) {
      try makeReserve()
    } catch {
      // The flush is done; without ballast puts are refused until there is room again.
      refusePuts()
    }
  }

  private mutating func makeSegmentAndLog() throws(DatabaseError) {
    guard case .open(let store) = status else { return }
    let view = state.readView
    let job = FlushJob(tables: view.tables, images: view.images)
    if job.isEmpty && !store.isLogFinished { return }
    var made: [FileName] = []
    do throws(FlushFailure) {
      var manifest = store.manifest
      let preamble = store.log.preambleOfSuccessor
      if !job.isEmpty {
        manifest.segments.append(try makeSegment(job, manifest: &manifest, made: &made))
      }
      let log = try beginLog(after: preamble, manifest: &manifest, made: &made)
      manifest.generation += 1
      manifest.publishedAt = now
      manifest.flushedSequence = view.sequence
      do throws(ManifestFile.PublishFailure) {
        _ = try location.manifest.publish(manifest, replacing: store.manifest.generation)
      } catch {
        switch error {
        case .unchanged(let cause): throw FlushFailure.system(cause)
        case .unknown(let cause): throw FlushFailure.final(cause)
        }
      }
      install(manifest, log: log, replacing: store, view: view)
    } catch {
      throw abandon(error, made: made)
    }
  }

  /// How far a flush that failed had come.
  enum FlushFailure: Error {
    case system(SystemError)
    case final(SystemError)
    case database(DatabaseError)
  }

  func makeSegment(
    _ job: FlushJob, manifest: inout Manifest, made: inout [FileName]
  ) throws(FlushFailure) -> SegmentDescriptor {
    let segment: (file: any File, writer: SegmentWriter)
    do throws(SystemError) {
      let (file, number) = try createSegment(from: manifest.nextFileNumber)
      made.append(.segment(number))
      manifest.nextFileNumber = number + 1
      let writer = SegmentWriter(
        file: file, number: number, identity: .random(),
        blockByteCount: options.blockByteCount, policies: options.policies)
      segment = (file, writer)
    } catch {
      throw .system(error)
    }
    do throws(JobFailure) {
      let summary = try job.run(segment.writer)
      do throws(SystemError) {
        try segment.file.sync()
      } catch {
        throw JobFailure.output(error)
      }
      let hasTombstones = summary.spaces.contains { $0.tombstoneCount > 0 }
      return SegmentDescriptor(
        summary, tier: compactionPolicy.tier(ofByteCount: summary.byteCount), isDense: false,
        tombstonesSince: hasTombstones ? now : 0)
    } catch {
      switch error {
      case .input(let cause): throw .database(cause)
      case .output(let cause): throw .system(cause)
      }
    }
  }

  /// Creates a segment's file; a name that is taken is passed over, never reused (rule F10).
  func createSegment(
    from first: UInt64
  ) throws(SystemError) -> (file: any File, number: UInt64) {
    var number = first
    while true {
      do {
        return (try location.files.open(location.path(.segment(number)), .create), number)
      } catch {
        guard error.isExisting else { throw error }
        number += 1
      }
    }
  }

  func beginLog(
    after preamble: LogPreamble, manifest: inout Manifest, made: inout [FileName]
  ) throws(FlushFailure) -> LogWriter {
    let number = manifest.nextFileNumber
    do throws(SystemError) {
      try makeLog(number, store: manifest.store, preamble: preamble)
      made.append(.log(number))
      manifest.nextFileNumber = number + 1
      manifest.logs = [number]
      let file = try location.files.open(location.path(.log(number)), .update)
      return LogWriter(
        beginning: number, file: file, store: manifest.store, preamble: preamble,
        step: options.zeroStepByteCount)
    } catch {
      throw .system(error)
    }
  }

  private mutating func install(
    _ manifest: Manifest, log: LogWriter, replacing store: OpenStore, view: ReadView
  ) {
    status = .open(
      OpenStore(lock: store.lock, manifest: manifest, log: log, isLogFinished: false))
    table = MemTable()
    mayBeCompacted = true
    let version = state.segments.version(of: manifest.segments)
    state.install(
      ReadView(
        tables: [table], images: [], version: version, sequence: view.sequence,
        counts: liveCounts(version: version, tables: [], images: []), spaces: manifest.spaces,
        gaps: state.gaps))
    retire(store.manifest, replacedBy: manifest)
    countFlush(of: manifest, replacing: store.manifest)
  }

  private func countFlush(of manifest: Manifest, replacing old: Manifest) {
    let known = Set(old.segments.map(\.number))
    let made = manifest.segments.filter { !known.contains($0.number) }
    let byteCount = made.reduce(0) { $0 + $1.byteCount }
    let manifestByteCount = manifest.encode().count
    state.metrics.count { statistics in
      statistics.flushCount += made.count
      statistics.flushByteCount += byteCount
      statistics.manifestByteCount += manifestByteCount
    }
    // A log that could not be continued may have been replaced by an empty memtable's flush.
    if made.isEmpty { return }
    state.metrics.note(.flushed(byteCount: byteCount))
  }

  /// Removes what nothing needs after a publish.
  mutating func retire(_ old: Manifest, replacedBy manifest: Manifest) {
    obsolete.retire(old, replacedAt: manifest.publishedAt)
    let (segments, unpublished) = (state.segments, unpublished)
    _ = obsolete.sweep(location, keeping: manifest, now: manifest.publishedAt) { number in
      unpublished.contains(number) || segments.isHeld(number)
    }
  }

  /// Removes a failed flush's files, or ends the handle where nobody knows what is in force.
  private mutating func abandon(
    _ failure: FlushFailure, made: [FileName]
  ) -> DatabaseError {
    switch failure {
    case .final(let cause):
      fail()
      return .io(cause.failure)
    case .system(let cause) where cause.isFailedSync:
      fail()
      return .io(cause.failure)
    case .system(let cause):
      for name in made { location.manifest.discard(location.path(name)) }
      return Self.notWritten(cause)
    case .database(let error):
      for name in made { location.manifest.discard(location.path(name)) }
      return error
    }
  }
}
