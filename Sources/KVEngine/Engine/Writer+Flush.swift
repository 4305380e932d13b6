// Flush: the memtable becomes a segment, and a new log begins. Both are published in one MANIFEST,
// so there is exactly one live log at any time.
//
// If we die (1) before the publish, the old log still holds everything, and files that no MANIFEST
// names are left; (2) after its rename, the segment holds everything, and the old log stays for
// copies until its grace ends. What went out in a new file was synced before the publish, so a log
// whose end was torn, or whose sync failed, is left behind with nothing in it that is needed.
//
// A load is a flush that brings a group of its own.

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
    renewReserve()
  }

  private mutating func renewReserve() {
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
      if !job.isEmpty {
        manifest.segments.append(try makeSegment(job, manifest: &manifest, made: &made))
      }
      try publish(manifest, upTo: view.sequence, replacing: store, made: &made)
    } catch {
      throw abandon(error, made: made)
    }
  }

  /// Begins a new log behind a sequence and publishes it with the segments that hold everything up
  /// to there.
  private mutating func publish(
    _ flushed: Manifest, upTo sequence: SequenceNumber, replacing store: OpenStore,
    made: inout [FileName]
  ) throws(FlushFailure) {
    var manifest = flushed
    var preamble = store.log.preambleOfSuccessor
    preamble.lastSequence = sequence
    let log = try beginLog(after: preamble, manifest: &manifest, made: &made)
    manifest.generation += 1
    manifest.publishedAt = now
    manifest.flushedSequence = sequence
    let manifestByteCount: Int
    do throws(ManifestFile.PublishFailure) {
      manifestByteCount = try location.manifest.publish(manifest).byteCount
    } catch {
      switch error {
      case .unchanged(let cause): throw FlushFailure.system(cause)
      case .unknown(let cause): throw FlushFailure.final(cause)
      }
    }
    install(manifest, log: log, replacing: store)
    countFlush(of: manifest, replacing: store.manifest, manifestByteCount: manifestByteCount)
  }

  // MARK: - Load

  /// Commits a group that is too large for the log, with the memtable, as segments of one space
  /// each, cut at the cap: what comes in time order is never written again.
  ///
  /// The publish is the commit. Readers of other handles see the group with it; it is in no log, so
  /// the new log goes on behind its sequences.
  mutating func load(_ group: Gathered) throws(DatabaseError) {
    guard group.lastSequence <= Limits.Sequence.maximum else {
      throw .limitExceeded(what: "number of writes", maximum: Int(Limits.Sequence.maximum))
    }
    do throws(DatabaseError) {
      try makeSegments(of: group)
    } catch {
      guard case .diskFull = error, !group.hasPuts, spendReserve() else { throw error }
      try makeSegments(of: group)
    }
    count(group, logByteCount: 0)
    lastUseTime = MonotonicClock.nanoseconds()
    lazyDeadline = nil
    renewReserve()
  }

  private mutating func makeSegments(of group: Gathered) throws(DatabaseError) {
    guard case .open(let store) = status else { return }
    let view = state.readView
    let image: LogImage
    do throws(FormatError) {
      image = try LogImage(
        operations: group.payload, count: group.operationCount,
        firstSequence: group.firstSequence)
      try state.gaps.drop(
        for: group.payload.rawBytes, count: group.operationCount,
        lastSequence: group.lastSequence)
    } catch {
      throw .invalidArgument("the batch does not decode: \(error.reason)")
    }
    let job = FlushJob(tables: view.tables, images: view.images + [image])
    var sink = NewSegments(writer: self, nextFileNumber: store.manifest.nextFileNumber)
    do throws(FlushFailure) {
      var manifest = store.manifest
      manifest.segments += try makeSegments(job, &sink)
      manifest.nextFileNumber = sink.nextFileNumber
      try publish(manifest, upTo: group.lastSequence, replacing: store, made: &sink.made)
    } catch {
      throw abandon(error, made: sink.made).asCommitFailure
    }
  }

  private func makeSegments(
    _ job: FlushJob, _ sink: inout NewSegments
  ) throws(FlushFailure) -> [SegmentDescriptor] {
    let policy = compactionPolicy
    var output = SegmentOutput(
      .addition, segmentByteCount: policy.segmentByteCount, options: options)
    do throws(JobFailure) {
      let runs = try job.run(into: &output, &sink)
      return runs.flatMap { run in
        let tier = policy.tier(ofByteCount: run.reduce(0) { $0 + $1.byteCount })
        return run.map { descriptor(of: $0, tier: tier) }
      }
    } catch {
      throw FlushFailure(error)
    }
  }

  // MARK: - Parts

  /// How far a flush that failed had come.
  enum FlushFailure: Error {
    case system(SystemError)
    case final(SystemError)
    case database(DatabaseError)

    init(_ failure: JobFailure) {
      switch failure {
      case .input(let cause): self = .database(cause)
      case .output(let cause): self = .system(cause)
      }
    }
  }

  func makeSegment(
    _ job: FlushJob, manifest: inout Manifest, made: inout [FileName]
  ) throws(FlushFailure) -> SegmentDescriptor {
    let (file, number): (any File, UInt64)
    do throws(SystemError) {
      (file, number) = try createSegment(from: manifest.nextFileNumber)
    } catch {
      throw .system(error)
    }
    made.append(.segment(number))
    manifest.nextFileNumber = number + 1
    var writer = SegmentWriter(
      file: file, number: number, identity: .random(),
      blockByteCount: options.blockByteCount, policy: options.policy)
    do throws(JobFailure) {
      let summary = try job.run(&writer)
      do throws(SystemError) {
        try file.sync()
      } catch {
        throw JobFailure.output(error)
      }
      return descriptor(
        of: summary, tier: compactionPolicy.tier(ofByteCount: summary.byteCount))
    } catch {
      throw FlushFailure(error)
    }
  }

  /// What the MANIFEST says of a segment that holds new entries.
  private func descriptor(of summary: SegmentSummary, tier: Int) -> SegmentDescriptor {
    let hasTombstones = summary.spaces.contains { $0.tombstoneCount > 0 }
    return SegmentDescriptor(summary, tier: tier, tombstonesSince: hasTombstones ? now : 0)
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
    var number = manifest.nextFileNumber
    do throws(SystemError) {
      // A name that is taken is passed over (rule F10); nobody else makes files meanwhile.
      while try isTaken(.log(number)) { number += 1 }
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

  private func isTaken(_ name: FileName) throws(SystemError) -> Bool {
    do {
      _ = try location.files.status(location.path(name))
      return true
    } catch {
      if error.isNotFound { return false }
      throw error
    }
  }

  private mutating func install(
    _ manifest: Manifest, log: LogWriter, replacing store: OpenStore
  ) {
    status = .open(
      OpenStore(lock: store.lock, manifest: manifest, log: log, isLogFinished: false))
    table = MemTable()
    mayBeCompacted = true
    let version = state.segments.version(of: manifest.segments)
    state.install(
      ReadView(
        tables: [table], images: [], version: version, sequence: manifest.flushedSequence,
        counts: version.liveCounts(tables: [], images: []), spaces: manifest.spaces,
        gaps: state.gaps))
    retire(store.manifest, replacedBy: manifest)
  }

  private func countFlush(
    of manifest: Manifest, replacing old: Manifest, manifestByteCount: Int
  ) {
    let known = Set(old.segments.map(\.number))
    let made = manifest.segments.filter { !known.contains($0.number) }
    let byteCount = made.reduce(0) { $0 + $1.byteCount }
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
    sweep(keeping: manifest)
  }

  private mutating func sweep(keeping manifest: Manifest) {
    let (segments, unpublished) = (state.segments, unpublished)
    _ = obsolete.sweep(location, keeping: manifest, now: manifest.publishedAt) { number in
      unpublished.contains(number) || segments.isHeld(number)
    }
  }

  /// Removes what was replaced, though its grace is not over.
  mutating func removeReplaced() {
    guard case .open(let store) = status else { return }
    obsolete.endGrace()
    sweep(keeping: store.manifest)
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

extension DatabaseError {
  /// What a failure to write or publish segments means for the commit that was to be in them: when
  /// the handle is finished, the next open tells.
  fileprivate var asCommitFailure: DatabaseError {
    guard case .io(let failure) = self else { return self }
    return .outcomeUnknown(failure)
  }
}

/// Segments as they are made, noted so that a failure can take them away.
struct NewSegments: SegmentSink {
  let writer: Writer
  var nextFileNumber: UInt64 = 1
  var made: [FileName] = []

  mutating func begin() throws(JobFailure) -> (file: any File, number: UInt64) {
    do throws(SystemError) {
      let segment = try writer.createSegment(from: nextFileNumber)
      made.append(.segment(segment.number))
      nextFileNumber = segment.number + 1
      return segment
    } catch {
      throw .output(error)
    }
  }
}
