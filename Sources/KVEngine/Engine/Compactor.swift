import Synchronization

/// What a compaction is for.
enum CompactionKind: Equatable {
  /// What the policy wants by itself.
  case due
  /// Everything that can be merged, but for what is newer than a sequence as a whole.
  case request(upTo: SequenceNumber)
  /// Nothing but flushes, beside a compaction that runs.
  case relief

  var isRequest: Bool {
    if case .request = self { true } else { false }
  }
}

/// Runs compactions: chooses, merges, publishes.
///
/// One at a time for each handle, but for ``relieve(isCancelled:)``.
package final class Compactor: Sendable {
  /// What was learnt about segments; their numbers are never used again.
  private struct Lessons {
    /// With a damaged block: merging them would lose what the block held.
    var damaged: Set<UInt64> = []
    /// What a merge for the sake of tombstones left without losing one, and up to which age of the
    /// oldest snapshot it is of no use to try again.
    var barren: [UInt64: SequenceNumber] = [:]
    var disjoint = DisjointSegments()
    /// Inputs of the merges that run.
    var merging: Set<UInt64> = []
    /// The newest flush when a relief found nothing to merge.
    var fruitless: UInt64?
  }

  private let pipeline: CommitPipeline
  private let state: EngineState
  private let lessons = Lock(Lessons())
  /// Whether a compaction runs; no handler of the app is called by it.
  private let isRunning = Lock(false)
  private let hasEnded = Condition()
  private let requestCount = Atomic(0)
  private let mergeEnded = Condition()

  package init(_ pipeline: CommitPipeline, state: EngineState) {
    self.pipeline = pipeline
    self.state = state
  }

  /// Whether so many flushes are there that no compaction has taken in hand, and something can be
  /// done about them.
  ///
  /// - Complexity: O(1) while there are fewer, as after most commits.
  package func hasWaitingFlushes(_ count: Int) -> Bool {
    let version = state.readView.version
    if version.flushCount < count { return false }
    let flushes = version.segments.map(\.descriptor).filter(\.isFlush)
    return lessons.withLock { lessons in
      if lessons.fruitless == flushes.first?.number { return false }
      return count
        <= flushes.count {
          !lessons.merging.contains($0.number) && !lessons.damaged.contains($0.number)
        }
    }
  }

  /// Does the next compaction if one is due.
  ///
  /// Events wait for the caller to deliver them.
  ///
  /// - Parameters:
  ///   - isRequested: Whether everything is due that can be merged.
  ///   - sequence: What is newer as a whole is left alone, so that a request comes to an end while
  ///     others write.
  ///   - isCancelled: Asked now and then; `true` ends the merge.
  /// - Returns: Whether something was done, so that more may be due.
  /// - Throws: What failed; the store is as it was.
  package func step(
    isRequested: Bool, upTo sequence: SequenceNumber = .max,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws(DatabaseError) -> Bool {
    if isRequested { requestCount.add(1, ordering: .sequentiallyConsistent) }
    defer { if isRequested { requestCount.subtract(1, ordering: .sequentiallyConsistent) } }
    guard takeTurn(waits: isRequested) else { return false }
    defer {
      isRunning.withLock { $0 = false }
      hasEnded.signal()
    }
    let kind: CompactionKind = isRequested ? .request(upTo: sequence) : .due
    while true {
      if try compact(kind, isCancelled: isCancelled) { return true }
      guard isRequested, waitForOtherMerges() else { return false }
    }
  }

  /// Whether somebody waits for a request: then a merge that runs by itself ends, since the request
  /// merges the same at once, and the thread that it runs on may have a low priority.
  var isAwaited: Bool { requestCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Waits until no merge runs on another thread: what it has in hand may be due then.
  ///
  /// - Returns: Whether one did.
  private func waitForOtherMerges() -> Bool {
    var hasWaited = false
    lessons.wait(for: mergeEnded) { lessons -> Void? in
      if lessons.merging.isEmpty { return () }
      hasWaited = true
      return nil
    }
    return hasWaited
  }

  /// Merges some flushes beside a compaction that runs.
  ///
  /// A merge of large segments takes seconds, in which commits may fill many logs; so it lets one
  /// of these pass now and then, and so does whoever commits much faster than that.
  ///
  /// - Parameter isCancelled: Asked now and then; `true` ends the merge.
  /// - Throws: As ``step(isRequested:isCancelled:)``.
  package func relieve(
    isCancelled: @escaping @Sendable () -> Bool
  ) throws(DatabaseError) {
    let newest = state.readView.version.segments.first { $0.descriptor.isFlush }
    let hasMerged = try compact(.relief, isCancelled: isCancelled)
    if !hasMerged { lessons.withLock { $0.fruitless = newest?.descriptor.number } }
  }

  private func compact(
    _ kind: CompactionKind, isCancelled isStopped: @escaping @Sendable () -> Bool
  ) throws(DatabaseError) -> Bool {
    let isCancelled: @Sendable () -> Bool = {
      isStopped() || kind == .due && self.isAwaited
    }
    let (damaged, barren, disjoint) = lessons.withLock { ($0.damaged, $0.barren, $0.disjoint) }
    let job = try pipeline.exclusively { writer throws(DatabaseError) in
      try writer.nextCompaction(
        kind, excluding: damaged, barren: barren, disjoint: disjoint, isCancelled: isCancelled)
    }
    guard let job else { return false }
    let inputs = job.inputs.map(\.descriptor.number)
    lessons.withLock { $0.merging.formUnion(inputs) }
    defer {
      lessons.withLock { $0.merging.subtract(inputs) }
      mergeEnded.broadcast()
    }
    try run(job)
    return true
  }

  /// A request waits for a compaction that runs; what happens by itself does not, since its thread
  /// has other things to do.
  private func takeTurn(waits: Bool) -> Bool {
    isRunning.wait(for: hasEnded) { isRunning in
      if isRunning { return waits ? nil : false }
      isRunning = true
      return true
    }
  }

  private func run(_ job: CompactionJob) throws(DatabaseError) {
    var sink = Sink(pipeline: pipeline, session: job.session)
    let output: [SegmentDescriptor]
    do throws(JobFailure) {
      output = try job.run(&sink)
    } catch {
      let numbers = sink.numbers
      try pipeline.exclusively { writer throws(DatabaseError) in
        writer.discardOutput(numbers, of: job)
      }
      return try learn(from: error, of: job)
    }
    try pipeline.exclusively { writer throws(DatabaseError) in
      try writer.publish(output, of: job)
    }
    let before = job.inputs.reduce(0) { $0 + $1.descriptor.tombstoneCount }
    let after = output.reduce(0) { $0 + $1.tombstoneCount }
    let inputs = job.inputs.map(\.descriptor)
    // A snapshot that is older than something in it may be the reason.
    let isFree = inputs.allSatisfy { $0.highestSequence <= job.horizon }
    lessons.withLock { lessons in
      let wasBarren = inputs.allSatisfy { lessons.barren[$0.number] != nil }
      for segment in inputs { lessons.barren[segment.number] = nil }
      if after >= before, job.reason == .tombstones || wasBarren {
        for segment in output {
          lessons.barren[segment.number] = isFree ? Limits.Sequence.maximum : job.horizon
        }
      }
      lessons.disjoint.note(output, of: inputs, beside: job.outside)
    }
  }

  /// A damaged input is none again, and the others may be; everything else is the caller's.
  private func learn(
    from failure: JobFailure, of job: CompactionJob
  ) throws(DatabaseError) {
    switch failure {
    case .output(let cause): throw Writer.notWritten(cause)
    case .input(.damaged(let corruption)):
      guard case .segment(let number)? = FileName(corruption.fileName),
        job.inputs.contains(where: { $0.descriptor.number == number })
      else { throw .damaged(corruption) }
      lessons.withLock { _ = $0.damaged.insert(number) }
    case .input(let cause): throw cause
    }
  }

  private struct Sink: SegmentSink {
    let pipeline: CommitPipeline
    let session: UInt64
    var numbers: [UInt64] = []

    mutating func begin() throws(JobFailure) -> (file: any File, number: UInt64) {
      let session = session
      do throws(DatabaseError) {
        let made = try pipeline.exclusively { writer throws(DatabaseError) in
          try writer.createOutput(in: session)
        }
        numbers.append(made.number)
        return made
      } catch {
        throw .input(error)
      }
    }
  }
}
