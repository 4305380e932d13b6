// The writing side of an open store: lock, live log, MANIFEST. Owned by the leader of the commit
// pipeline, one thread at a time; the other side, what readers see, is `EngineState`.
//
// Invariants:
//  C1  log order = sequence order = publish order;
//  C2  a batch is visible entirely or not at all, and only after its record is as durable as the
//      batch asked for;
//  C3  after a failed sync, or a failure nobody knows the extent of, this handle writes nothing any
//      more: the kernel may have marked the pages clean, so a second sync could succeed although
//      the bytes are gone (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX
//      ATC 2020). The next open writes the bytes again before it syncs (`LogWriter`);
//  C4  nothing that was read before the lock was taken is used for writing.

/// What one commit turned out to be.
package typealias CommitResult = Result<SequenceNumber, DatabaseError>

package struct Writer {
  /// A store that this handle holds the lock of.
  struct OpenStore {
    let lock: any FileLock
    var manifest: Manifest
    var log: LogWriter
    /// Whether the log must not get another record, so that the next commit begins a new one.
    var isLogFinished: Bool
  }

  enum Status {
    /// Not written yet: no lock is held.
    case idle
    case open(OpenStore)
    /// The app has suspended the store: no lock is held, and writes are refused.
    case suspended
    /// Finished by a failure (C3).
    case failed
    case closed
  }

  let location: StoreLocation
  let options: DatabaseOptions
  let state: EngineState
  var status = Status.idle
  var obsolete = ObsoleteFiles()
  var reserve = Reserve.unknown
  /// When the last commit was made or the last compaction ended, by the monotonic clock.
  var lastUseTime: UInt64 = 0
  /// When a lazy commit has to be durable, by the monotonic clock.
  var lazyDeadline: UInt64?
  /// Counts how often this handle took the lock.
  ///
  /// What was planned in an earlier session is void: another process may have removed its output
  /// meanwhile.
  var session: UInt64 = 0
  /// Inputs of the compactions of this session that run: no other one takes them, and the lock is
  /// not idle.
  var compacting: Set<UInt64> = []
  /// Segments that are being written by a compaction.
  var unpublished: Set<UInt64> = []
  /// Whether there are segments that nobody has looked at for a compaction.
  var mayBeCompacted = false
  /// The memtable of this handle's writes; in every view since the lock was taken.
  var table = MemTable()
  /// The MANIFEST of the newest state that this handle has read or made; `nil` before the first.
  var knownGeneration: UInt64?
  /// Whether something changed since an older moment cannot be told: see `PreconditionJudge`.
  var oldestJudgedSequence: SequenceNumber = 0
  /// This handle's place in the process's table, once the folder exists.
  var entry: HandleTable.Entry?

  package init(
    location: StoreLocation, options: DatabaseOptions, state: EngineState,
    entry: HandleTable.Entry?, generation: UInt64? = nil
  ) {
    knownGeneration = generation
    self.location = location
    self.options = options
    self.state = state
    self.entry = entry
  }

  var compactionPolicy: CompactionPolicy {
    CompactionPolicy(segmentByteCount: options.segmentByteCount)
  }

  var now: Int64 { options.wallClock?() ?? WallClock.microseconds() }

  // MARK: - Commit

  /// Commits batches in order, as one record and one sync.
  ///
  /// When there is no room for all of them, those that only delete are taken alone.
  package mutating func commit(_ group: [CommitRequest]) -> [CommitResult] {
    var results = commitTogether(group)
    let refused = group.indices.filter { index in
      guard case .failure(.diskFull) = results[index] else { return false }
      return !group[index].batch.hasPuts
    }
    if refused.isEmpty || refused.count == group.count { return results }
    for (index, result) in zip(refused, commitTogether(refused.map { group[$0] })) {
      results[index] = result
    }
    return results
  }

  private mutating func commitTogether(_ group: [CommitRequest]) -> [CommitResult] {
    var store: OpenStore
    do throws(DatabaseError) {
      store = try begin()
    } catch {
      return group.map { _ in .failure(error) }
    }
    var gathered = gather(group)
    // A full commit without an operation still makes the lazy ones before it durable.
    guard gathered.operationCount > 0 || gathered.needsSync && store.log.isDirty else {
      return gathered.results
    }
    do throws(DatabaseError) {
      if gathered.payload.count >= options.loadByteCount {
        try load(gathered)
      } else {
        try write(gathered, to: &store)
        status = .open(store)
      }
    } catch {
      if case .open = status { status = .open(store) }
      gathered.results = gathered.results.map { result in
        guard case .success = result else { return result }
        return .failure(error)
      }
    }
    return gathered.results
  }

  /// A group as one record, and what became of each of its batches so far.
  struct Gathered {
    let firstSequence: SequenceNumber
    var payload: [UInt8] = []
    var operationCount = 0
    var needsSync = false
    /// How soon lazy commits have to be durable.
    var lazyTime = Duration.seconds(3600)
    /// Whether any operation stores something.
    var hasPuts = false
    var results: [CommitResult] = []

    var lastSequence: SequenceNumber { firstSequence + UInt64(operationCount) - 1 }

    var commitCount: Int {
      results.count { result in
        if case .success = result { return true }
        return false
      }
    }
  }

  /// Judges the preconditions of each batch and gives its operations their sequences.
  private mutating func gather(_ group: [CommitRequest]) -> Gathered {
    let view = state.readView
    var judge = PreconditionJudge(view: view, oldestSequence: oldestJudgedSequence)
    var gathered = Gathered(firstSequence: view.sequence + 1)
    let lastJudged = group.lastIndex { !$0.batch.preconditions.isEmpty } ?? 0
    for (index, request) in group.enumerated() {
      let count = request.batch.operationCount
      let sequence = gathered.firstSequence + UInt64(gathered.operationCount)
      do throws(DatabaseError) {
        if request.batch.hasPuts { try admitPuts() }
        try judge.check(request.batch)
        let bytes = request.batch.filledBytes(firstSequence: sequence)
        if index < lastJudged, count > 0 {
          do throws(FormatError) {
            try judge.admit(bytes, count: count, firstSequence: sequence)
          } catch {
            throw DatabaseError.invalidArgument("the batch does not decode: \(error.reason)")
          }
        }
        gathered.payload += bytes
        gathered.operationCount += count
        gathered.hasPuts = gathered.hasPuts || request.batch.hasPuts
        switch request.durability {
        case .full: gathered.needsSync = true
        case .lazyWithin(let time): gathered.lazyTime = min(gathered.lazyTime, time)
        }
        gathered.results.append(.success(sequence + UInt64(count) - 1))
      } catch {
        gathered.results.append(.failure(error))
      }
    }
    return gathered
  }

  /// Append, apply, sync, publish.
  private mutating func write(
    _ group: Gathered, to store: inout OpenStore
  ) throws(DatabaseError) {
    if group.operationCount > 0 { try append(group, to: &store) }
    lastUseTime = MonotonicClock.nanoseconds()
    if group.needsSync {
      try sync(&store)
    } else {
      let due = lastUseTime + group.lazyTime.clampedNanoseconds
      lazyDeadline = min(lazyDeadline ?? .max, due)
    }
    guard group.operationCount > 0 else { return }
    count(group, logByteCount: RecordHead.byteCount + group.payload.count)
    let view = state.readView
    state.install(
      view.advanced(
        to: group.lastSequence,
        counts: view.version.liveCounts(tables: view.tables, images: view.images)))
  }

  func count(_ group: Gathered, logByteCount: Int) {
    let (payloadByteCount, commitCount) = (group.payload.count, group.commitCount)
    state.metrics.count { statistics in
      statistics.commitCount += commitCount
      statistics.recordCount += logByteCount > 0 ? 1 : 0
      statistics.batchByteCount += payloadByteCount
      statistics.logByteCount += logByteCount
    }
  }

  /// Puts a group into log and memtable.
  private mutating func append(
    _ group: Gathered, to store: inout OpenStore
  ) throws(DatabaseError) {
    guard group.lastSequence <= Limits.Sequence.maximum else {
      throw .limitExceeded(what: "number of writes", maximum: Int(Limits.Sequence.maximum))
    }
    try appendRecord(group, to: &store)
    do throws(FormatError) {
      let payload = group.payload.rawBytes
      try table.apply(
        payload, count: group.operationCount, firstSequence: group.firstSequence)
      try state.gaps.drop(
        for: payload, count: group.operationCount, lastSequence: group.lastSequence)
    } catch {
      // The batch encoded itself, so this is a fault of ours; the record is in the log.
      fail()
      throw .damaged(Corruption(error, fileName: FileName.log(store.log.number).text))
    }
  }

  private mutating func appendRecord(
    _ group: Gathered, to store: inout OpenStore
  ) throws(DatabaseError) {
    while true {
      do throws(LogWriter.AppendFailure) {
        return try store.log.append(
          group.payload, operationCount: group.operationCount,
          firstSequence: group.firstSequence)
      } catch {
        switch error {
        case .notWritten(let cause):
          store.isLogFinished = store.log.isAbandoned
          // A log that cannot be continued is replaced by a flush, which needs room of its own.
          let mayTryAgain = cause.isSpace && !group.hasPuts && !store.log.isAbandoned
          if mayTryAgain, spendReserve() { continue }
          throw Self.notWritten(cause)
        case .unknown(let cause):
          fail()
          throw .outcomeUnknown(cause.failure)
        }
      }
    }
  }

  package static func notWritten(_ error: SystemError) -> DatabaseError {
    error.isSpace ? .diskFull(error.failure) : .notWritten(error.failure)
  }

  /// Ends this handle's writing for good.
  ///
  /// Readers keep the last committed view.
  mutating func fail() {
    state.metrics.note(.failed(.failed))
    if case .open(let store) = status {
      // Readers go on with the last view, whose files others may remove from now on.
      state.segments.pinAll()
      store.lock.unlock()
    }
    status = .failed
  }

  // MARK: - After a commit

  /// Whether the log has reached its bound, so that the memtable should become a segment.
  package var needsFlush: Bool {
    guard case .open(let store) = status else { return false }
    return store.isLogFinished || store.log.offset >= options.clampedLogByteCount
  }

  /// Does what follows a commit; its failures do not concern the commit, which is done.
  package mutating func maintain() {
    guard needsFlush else { return }
    do throws(DatabaseError) {
      try flush()
      state.metrics.count { $0.backgroundFailure = nil }
    } catch {
      state.metrics.count { $0.backgroundFailure = error }
      state.metrics.note(.backgroundFailure(error))
    }
  }

  // MARK: - Close

  /// Ends this handle: makes lazy commits durable, gives up lock and table entry.
  ///
  /// After a failure nothing is written.
  package mutating func close() throws(DatabaseError) {
    defer {
      entry = nil
      status = .closed
    }
    guard case .open(var store) = status else { return }
    defer { store.lock.unlock() }
    try sync(&store)
  }
}

extension DatabaseOptions {
  var clampedLogByteCount: Int { min(max(logByteCount, 4 << 10), 128 << 20) }

  /// A group of so many bytes goes into segments at once: through the log it would be written
  /// twice.
  var loadByteCount: Int { 4 * clampedLogByteCount }
}

/// One caller's batch on its way through the pipeline.
package struct CommitRequest: Sendable {
  package let batch: WriteBatch
  package let durability: Durability

  package init(batch: WriteBatch, durability: Durability) {
    self.batch = batch
    self.durability = durability
  }
}

extension Duration {
  /// The duration in nanoseconds, between 0 and an hour.
  var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds >= 3600 { return 3600 * 1_000_000_000 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
