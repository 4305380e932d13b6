// One thread for everything that happens by itself: compaction after flushes, syncs of lazy commits
// whose time has come, and giving the lock up after an idle second. It begins with the first write
// and sleeps without a deadline while the lock is not held.

package final class BackgroundWorker: Sendable {
  private struct State {
    /// When there is something to do (monotonic nanoseconds); `nil` while it is being done.
    var deadline: UInt64?
    var isPaused = false
    var isStopped = false
    var isRunning = false
    /// Whether the thread is at work, not asleep.
    var isBusy = false
    /// Threads of callers that merge flushes.
    var relievingCount = 0
    /// The running thread: an event's handler on it may stop or pause it, and must not wait for it.
    var thread: UInt?

    var isCurrentThread: Bool { thread == BackgroundThread.currentNumber }

    /// Nanoseconds until something is due, an hour for nothing.
    var waitingTime: UInt64 {
      guard let deadline, !isPaused else { return 3600 * 1_000_000_000 }
      let now = MonotonicClock.nanoseconds()
      return deadline > now ? deadline - now : 0
    }
  }

  private enum Turn {
    case work
    case end
  }

  private let compactor: Compactor
  private let pipeline: CommitPipeline
  private let metrics: Metrics
  private let state = Lock(State())
  private let changed = Condition()

  package init(_ compactor: Compactor, pipeline: CommitPipeline, metrics: Metrics) {
    self.compactor = compactor
    self.pipeline = pipeline
    self.metrics = metrics
  }

  /// Says when the writer has something to do; `nil` for never.
  ///
  /// Cheap when the thread wakes up before that anyway.
  package func notice(_ deadline: UInt64?) {
    guard let deadline else { return }
    let mustStart = state.withLock { state -> Bool? in
      if state.isStopped || (state.deadline ?? .max) <= deadline { return nil }
      state.deadline = deadline
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard let mustStart else { return }
    guard mustStart else { return changed.broadcast() }
    do throws(SystemError) {
      try BackgroundThread.start { self.loop() }
    } catch {
      report(.io(error.failure))
      state.withLock { state in
        state.isRunning = false
        // The next commit tries again.
        state.deadline = nil
      }
    }
  }

  /// Ends running work at the next block of its merge, waits for that, and begins no other.
  package func pause() {
    state.withLock { $0.isPaused = true }
    changed.broadcast()
    state.wait(for: changed) { state -> Void? in
      state.isBusy && !state.isCurrentThread || state.relievingCount > 0 ? nil : ()
    }
  }

  package func unpause() {
    state.withLock { $0.isPaused = false }
    changed.broadcast()
  }

  /// Ends the thread at the next block of its merge and waits for that.
  package func stop() {
    state.withLock { $0.isStopped = true }
    changed.broadcast()
    state.wait(for: changed) { state -> Void? in
      state.isRunning && !state.isCurrentThread || state.relievingCount > 0 ? nil : ()
    }
  }

  private var isInterrupted: Bool { state.withLock { $0.isStopped || $0.isPaused } }

  private func loop() {
    state.withLock { $0.thread = BackgroundThread.currentNumber }
    while case .work = waitForTurn() {
      var failure = tend()
      // What a compaction fails with, a full disk above all, must not keep the lock or lazy
      // commits.
      do throws(DatabaseError) {
        while !isInterrupted,
          try compactor.step(isRequested: false, isCancelled: { self.isCancelled() })
        {}
      } catch {
        if error != .cancelled { failure = error }
      }
      if let failure {
        report(failure)
      } else {
        metrics.count { $0.backgroundFailure = nil }
      }
      state.withLock { $0.isBusy = false }
      changed.broadcast()
      metrics.deliver()
    }
    state.withLock { state in
      state.isRunning = false
      state.thread = nil
    }
    changed.broadcast()
  }

  /// Does what is due for the writer, which then says when to look again.
  private func tend() -> DatabaseError? {
    do throws(DatabaseError) {
      try pipeline.exclusively { writer throws(DatabaseError) in
        try writer.tend(at: MonotonicClock.nanoseconds())
      }
      return nil
    } catch {
      return error
    }
  }

  /// Asked now and then by a running merge, in which lazy commits become due as at any other time.
  private func isCancelled() -> Bool {
    let isDue = state.withLock { state in
      guard let deadline = state.deadline, !state.isPaused, !state.isStopped,
        deadline <= MonotonicClock.nanoseconds()
      else { return false }
      state.deadline = nil
      return true
    }
    if isDue, let failure = tend() { report(failure) }
    if isInterrupted { return true }
    mergeFlushes(from: CompactionPolicy.crowdedCount)
    return isInterrupted
  }

  /// Merges some of the flushes on the caller's thread, which has just committed or is merging, if
  /// too many wait.
  package func relieve(from count: Int = CompactionPolicy.fullCount) {
    let begins = state.withLock { state in
      if state.isStopped || state.isPaused { return false }
      state.relievingCount += 1
      return true
    }
    guard begins else { return }
    mergeFlushes(from: count)
    state.withLock { $0.relievingCount -= 1 }
    changed.broadcast()
  }

  private func mergeFlushes(from count: Int) {
    guard compactor.hasWaitingFlushes(count) else { return }
    do throws(DatabaseError) {
      try compactor.relieve { self.isInterrupted }
    } catch {
      if error != .cancelled { report(error) }
    }
  }

  /// Sleeps until something is due.
  private func waitForTurn() -> Turn {
    while true {
      let turn = state.wait(for: changed, atMost: { $0.waitingTime }) { state -> Turn? in
        if state.isStopped { return .end }
        guard let deadline = state.deadline, !state.isPaused,
          deadline <= MonotonicClock.nanoseconds()
        else { return nil }
        state.isBusy = true
        state.deadline = nil
        return .work
      }
      if let turn { return turn }
    }
  }

  private func report(_ error: DatabaseError) {
    metrics.count { $0.backgroundFailure = error }
    metrics.note(.backgroundFailure(error))
  }
}
