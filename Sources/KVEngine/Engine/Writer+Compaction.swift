// The two ends of a compaction that need the lock: choosing its inputs and numbers, and publishing
// its output. What lies between, the merge, holds nothing.

extension Writer {
  /// What to merge next.
  ///
  /// A request takes the lock if it was given up; by itself only a handle that holds it merges.
  ///
  /// - Parameters:
  ///   - kind: What is due.
  ///   - excluded: Segments with damage: they are never an input.
  ///   - barren: Segments that are not merged again for the sake of their tombstones while the
  ///     oldest snapshot is not newer than this.
  ///   - disjoint: Segments that do not overlap though their bounds say so.
  ///   - isCancelled: Asked now and then by the job; `true` ends it.
  /// - Returns: `nil` when nothing is due, or when this handle is not writing.
  /// - Throws: ``DatabaseError/diskFull(_:)`` without room for it; with a request what keeps the
  ///   handle from writing.
  mutating func nextCompaction(
    _ kind: CompactionKind, excluding excluded: Set<UInt64>, barren: [UInt64: SequenceNumber],
    disjoint: DisjointSegments, isCancelled: @escaping @Sendable () -> Bool
  ) throws(DatabaseError) -> CompactionJob? {
    var excluded = excluded.union(compacting)
    var policy = compactionPolicy
    if kind.isRequest { _ = try begin() }
    guard case .open(let store) = status else { return nil }
    // Somebody looks now; what fails is tried again after the next flush, not at once.
    if kind != .relief { mayBeCompacted = false }
    if case .request(let sequence) = kind {
      // Without room for all at once there may be room for a part.
      policy.wholeByteCount = min(policy.wholeByteCount, try freeByteCount())
      for segment in store.manifest.segments where segment.lowestSequence > sequence {
        excluded.insert(segment.number)
      }
    }
    let horizon = state.oldestSnapshotSequence
    guard
      let plan = policy.plan(
        store.manifest.segments, now: now, isRequested: kind.isRequest, excluding: excluded,
        barren: Set(barren.filter { $0.value >= horizon }.keys), disjoint: disjoint)
    else { return nil }
    if kind == .relief, !policy.isRelief(plan, of: store.manifest.segments) { return nil }
    let segments = state.readView.version.segments
    let inputs = segments.filter { plan.inputs.contains($0.descriptor.number) }
    guard inputs.reduce(0, { $0 + $1.descriptor.byteCount }) <= (try freeByteCount()) else {
      throw .diskFull(SystemError.noSpace(location.folder).failure)
    }
    compacting.formUnion(plan.inputs)
    return CompactionJob(
      inputs: inputs, reason: plan.reason, session: session,
      outside: segments.map(\.descriptor).filter { !plan.inputs.contains($0.number) },
      policy: policy, options: options, horizon: horizon, now: now,
      isCancelled: isCancelled)
  }

  /// Bytes that output may take, which may be as large as all inputs: the commits that come
  /// meanwhile need room as well.
  private func freeByteCount() throws(DatabaseError) -> Int {
    do throws(SystemError) {
      return try location.files.freeByteCount(location.folder) - options.clampedLogByteCount * 2
    } catch {
      throw .io(error.failure)
    }
  }

  /// Creates a file for output that is published later; until then the sweep leaves it alone.
  ///
  /// - Throws: ``DatabaseError/cancelled`` when the lock was given up since the inputs were chosen.
  mutating func createOutput(
    in planned: UInt64
  ) throws(DatabaseError) -> (file: any File, number: UInt64) {
    guard case .open(var store) = status, planned == session else { throw .cancelled }
    do throws(SystemError) {
      let (file, number) = try createSegment(from: store.manifest.nextFileNumber)
      store.manifest.nextFileNumber = number + 1
      status = .open(store)
      unpublished.insert(number)
      return (file, number)
    } catch {
      throw Self.notWritten(error)
    }
  }

  /// Makes a compaction's output live in place of its inputs.
  ///
  /// If we die before the rename of the MANIFEST, the output is files that nobody names; after it,
  /// the inputs are, and they stay for copies and for the views that hold them. When the publish
  /// ends this handle, the new MANIFEST may be in force, so the output stays.
  ///
  /// - Throws: As ``createOutput(in:)`` and ``publish(_:replacing:)``.
  mutating func publish(
    _ output: [SegmentDescriptor], of job: CompactionJob
  ) throws(DatabaseError) {
    let numbers = output.map(\.number)
    guard case .open(let store) = status, job.session == session else {
      discardOutput(numbers, of: job)
      throw .cancelled
    }
    end(job)
    var manifest = store.manifest
    let replaced = Set(job.inputs.map(\.descriptor))
    manifest.segments.removeAll { replaced.contains($0) }
    manifest.segments += output
    do throws(DatabaseError) {
      try publish(manifest, replacing: store)
    } catch {
      if case .open = status { discardOutput(numbers, of: job) }
      throw error
    }
    unpublished.subtract(numbers)
    mayBeCompacted = true
    let byteCount = output.reduce(0) { $0 + $1.byteCount }
    state.metrics.count { statistics in
      statistics.compactionCount += 1
      statistics.compactionByteCount += byteCount
    }
    state.metrics.note(
      .compacted(inputCount: job.inputs.count, outputCount: output.count, byteCount: byteCount))
  }

  /// Publishes a state with the log and the memtables as they are.
  mutating func publish(
    _ changed: Manifest, replacing old: OpenStore
  ) throws(DatabaseError) {
    var (store, manifest) = (old, changed)
    manifest.generation += 1
    manifest.publishedAt = now
    let manifestByteCount: Int
    do throws(ManifestFile.PublishFailure) {
      manifestByteCount = try location.manifest.publish(manifest).byteCount
    } catch {
      switch error {
      case .unchanged(let cause) where !cause.isFailedSync: throw Self.notWritten(cause)
      case .unchanged(let cause), .unknown(let cause):
        fail()
        throw .io(cause.failure)
      }
    }
    store.manifest = manifest
    status = .open(store)
    state.metrics.count { $0.manifestByteCount += manifestByteCount }
    let view = state.readView
    let version = state.segments.version(of: manifest.segments)
    state.install(
      ReadView(
        tables: view.tables, images: view.images, version: version, sequence: view.sequence,
        counts: version.liveCounts(tables: view.tables, images: view.images),
        spaces: manifest.spaces, gaps: state.gaps))
    retire(old.manifest, replacedBy: manifest)
  }

  private mutating func end(_ job: CompactionJob) {
    lastUseTime = MonotonicClock.nanoseconds()
    // What an earlier session merged says nothing of this one.
    if job.session == session { compacting.subtract(job.inputs.map(\.descriptor.number)) }
  }

  /// Removes output that came to nothing.
  mutating func discardOutput(_ numbers: [UInt64], of job: CompactionJob) {
    end(job)
    unpublished.subtract(numbers)
    for number in numbers { location.manifest.discard(location.path(.segment(number))) }
  }
}
