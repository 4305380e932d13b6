internal import Dispatch
internal import KVEngine

// The one machine behind all fronts of a live history:
//
//   commit --> schedule --> timer --> onDue --(front decides when)--> next() --> snapshot
//
// The front is told that a snapshot is due and takes it when it can show it, so the difference is
// always the one to what it has shown, and what nobody takes is never read.
//
// What is bounded is read by the thread that asks, which may be the main one. What may read the
// whole store is read on a queue with no lock held, and put in its place among the snapshots after.

/// A query that is read again when memos have changed.
final class LiveQuery<Entity: MemoEntity>: HistoryObserver {
  private struct State {
    var query: MemoQuery<Entity>
    var schedule: ReflectionSchedule
    /// What was shown last.
    var shown: HistorySnapshot<Entity>?
    /// Where the list ends.
    var oldEnd: MemoKey?
    var cause = HistoryCause.first
    var origin: String?
    var timer: (any DeadlineTimer)?
    var isEnded = false
    /// Reads are numbered as they begin, so that none is shown after a newer one.
    var lastBegun: UInt64 = 0
    var lastShown: UInt64 = 0
    /// Scans that are under way and still wanted, by their numbers.
    var scans: Set<UInt64> = []
  }

  /// A read of a snapshot, from its beginning on.
  private struct Attempt {
    let number: UInt64
    let query: MemoQuery<Entity>
    /// Where the list ended before.
    let oldEnd: MemoKey?
    /// The commits that were there when it began.
    let commitCount: UInt64
  }

  /// Weak, since the store's board holds the query: who observes does not keep a store open.
  private weak let store: MemoStore<Entity>?
  private let clock: any DeadlineClock
  private let state: Lock<State>
  /// Held while a snapshot is made, so that they come one after the other; never during a scan, so
  /// the main thread may wait for it.
  ///
  /// Has what the memos of the last bounded list were decoded to.
  private let making = Lock<[MemoID: DecodedMemo<Entity>]?>([:])

  init(_ store: MemoStore<Entity>, _ query: MemoQuery<Entity>) {
    self.store = store
    clock = store.clock
    state = Lock(State(query: query, schedule: ReflectionSchedule(store.reflection)))
  }

  /// Shows snapshots on the main actor as they become due, one after the other: what changes while
  /// one waits to be shown is in the next one.
  func show(
    _ body: @escaping @MainActor @Sendable (HistorySnapshot<Entity>) -> Void
  ) {
    let isShowing = SharedLock(false)
    setTimer { [weak self] finished in
      let isFirst = isShowing.withLock { isShowing in
        defer { isShowing = true }
        return !isShowing
      }
      guard isFirst, let self else { return finished() }
      next { [weak self] snapshot in
        let end: @Sendable () -> Void = { [weak self] in
          isShowing.withLock { $0 = false }
          self?.rearm()
          finished()
        }
        guard let snapshot else { return end() }
        DispatchQueue.main.async {
          if let self, !self.isEnded { MainActor.assumeIsolated { body(snapshot) } }
          end()
        }
      }
    }
  }

  /// Says what happens when a snapshot is due.
  ///
  /// - Parameter onDue: Called on any thread with no lock held; calls its argument when what it
  ///   started is done.
  func setTimer(_ onDue: @escaping @Sendable (_ finished: @escaping @Sendable () -> Void) -> Void) {
    let made = clock.makeTimer { [weak self] finished in
      guard let self, self.isDue else { return finished() }
      onDue(finished)
    }
    state.withLock { $0.timer = made }
  }

  func committed(_ cause: HistoryCause, _ origin: String?) {
    change { state, now in
      state.cause = cause
      state.origin = origin
      state.schedule.committed(holdingInsert: cause.holdsInsert, at: now)
    }
  }

  /// Makes a snapshot due now.
  func refresh() {
    change { state, now in
      state.cause = .refreshed
      state.origin = nil
      state.schedule.refresh(at: now)
    }
  }

  /// Makes nothing due until ``resume()``; a scan that is under way is given up until then.
  func pause() {
    change { state, now in
      if !state.scans.isEmpty {
        state.scans.removeAll()
        state.schedule.refresh(at: now)
      }
      state.schedule.pause()
    }
  }

  func resume() {
    change { state, now in state.schedule.resume(at: now) }
  }

  /// Changes what is shown.
  ///
  /// Due now, but for another search: typing waits as a change of a memo does. What is being
  /// scanned for is not wanted any more.
  func setQuery(_ query: MemoQuery<Entity>) {
    change { state, now in
      let old = state.query
      state.query = query
      // An anchor alone changes nothing yet: it says what stays at the next change.
      guard !query.isAnswered(by: old) else { return }
      state.scans.removeAll()
      state.cause = .refreshed
      state.origin = nil
      if !query.hasSelection(of: old) { state.oldEnd = nil }
      var retyped = old
      retyped.search = query.search
      if query.isAnswered(by: retyped) {
        state.schedule.committed(holdingInsert: false, at: now)
      } else {
        state.schedule.refresh(at: now)
      }
    }
  }

  var query: MemoQuery<Entity> { state.withLock { $0.query } }

  /// Whether no snapshot answers the query yet.
  var isReading: Bool {
    state.withLock { state in !((state.shown?.query).map(state.query.isAnswered) ?? false) }
  }

  /// Changes the state and sets the timer to what is due then.
  private func change(_ body: (inout State, Duration) -> Void) {
    let now = clock.elapsed
    state.withLock { state in
      let before = state.schedule.due
      body(&state, now)
      let due = state.schedule.due
      // Within the lock, or an older instant could be set last; a timer never fires in the call.
      if due != before { state.timer?.set(due) }
    }
  }

  /// Shows nothing any more, not even what is on its way.
  func end() {
    let timer = state.withLock { state in
      state.isEnded = true
      defer { state.timer = nil }
      return state.timer
    }
    timer?.set(nil)
  }

  private var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Makes the timer fire for what is due and was not taken.
  func rearm() {
    state.withLock { state in
      if let due = state.schedule.due { state.timer?.set(due) }
    }
  }

  /// Whether the time has come, or the timer was set for something that was shown since.
  private var isDue: Bool {
    let now = clock.elapsed
    return state.withLock { $0.schedule.due.map { $0 <= now } ?? false }
  }
}

// MARK: - Reading

extension LiveQuery {
  /// Reads the next snapshot, if the query is bounded: everything that was committed before the
  /// call.
  ///
  /// Never throws: what goes wrong stands in the snapshot.
  ///
  /// - Returns: `nil` for a query that may have to read the whole store, for which nothing is done.
  func next() -> HistorySnapshot<Entity>? {
    making.withLock { decoded in
      guard let attempt = begin(asScan: false) else { return nil }
      var error: MemoError?
      do throws(MemoError) {
        let reading = try self.read(attempt, reusing: &decoded, unreadable: &error)
        return snapshot(attempt, reading, error)
      } catch let failure {
        return snapshot(attempt, nil, failure)
      }
    }
  }

  /// Reads the next snapshot, whatever the query is: a bounded one at once, others on a queue.
  ///
  /// - Parameter completion: Called exactly once, on any thread and with no lock held. Gets `nil`
  ///   when nobody wants the snapshot any more, because of another query, a pause, the end, or a
  ///   newer snapshot.
  func next(_ completion: @escaping @Sendable (HistorySnapshot<Entity>?) -> Void) {
    if let snapshot = next() { return completion(snapshot) }
    // Bounded by now, or not: a scan can do both.
    guard let attempt = begin(asScan: true) else { return completion(nil) }
    guard let store else { return completion(end(attempt, nil, .database(.closed))) }
    // Neither the query nor the store lives longer because of a scan.
    DispatchQueue.scans.async { [weak self, weak store, scan = HistoryScan(store)] in
      var error: MemoError?
      var reading: HistoryReading<Entity>?
      do throws(MemoError) {
        reading = try scan.read(
          attempt.query, keeping: attempt.oldEnd,
          while: { store != nil && self?.isWanted(attempt) == true },
          unreadable: { error = error ?? $0 })
        // Not wanted any more, which `end` finds out as well, or the store has gone.
        if reading == nil { error = .database(.closed) }
      } catch let failure {
        error = failure
      }
      completion(self?.end(attempt, reading, error))
    }
  }

  /// Reads the next snapshot and waits for it without holding a thread.
  func nextRead() async -> HistorySnapshot<Entity>? {
    await withCheckedContinuation { continuation in
      next { continuation.resume(returning: $0) }
    }
  }

  /// Begins to read: what is committed from now on is a change that the next snapshot shows.
  ///
  /// - Returns: `nil` when only a scan can do it and this is none.
  private func begin(asScan isScan: Bool) -> Attempt? {
    let commitCount = store?.board.commitCount ?? 0
    return state.withLock { state in
      guard isScan || state.query.isBounded else { return nil }
      state.schedule.delivered()
      state.lastBegun += 1
      if isScan { state.scans.insert(state.lastBegun) }
      return Attempt(
        number: state.lastBegun, query: state.query, oldEnd: state.oldEnd, commitCount: commitCount)
    }
  }

  private func isWanted(_ attempt: Attempt) -> Bool {
    state.withLock { !$0.isEnded && $0.scans.contains(attempt.number) }
  }

  /// Makes the snapshot of a scan, unless it has come too late.
  private func end(
    _ attempt: Attempt, _ reading: HistoryReading<Entity>?, _ error: MemoError?
  ) -> HistorySnapshot<Entity>? {
    making.withLock { _ in
      let isWanted = state.withLock { state in
        state.scans.remove(attempt.number) != nil && !state.isEnded
          && state.lastShown < attempt.number
      }
      return isWanted ? snapshot(attempt, reading, error) : nil
    }
  }

  /// Makes the snapshot that follows the one before; without a reading its items stay.
  private func snapshot(
    _ attempt: Attempt, _ reading: HistoryReading<Entity>?, _ error: MemoError?
  ) -> HistorySnapshot<Entity> {
    // Nobody else changes what was shown: snapshots are made one after the other.
    let (old, cause, origin) = state.withLock { ($0.shown, $0.cause, $0.origin) }
    let snapshot = HistorySnapshot(
      reading?.items ?? old?.items ?? [], after: old, query: attempt.query,
      cause: old == nil ? .first : cause, origin: old == nil ? nil : origin, error: error,
      commitCount: attempt.commitCount)
    state.withLock { state in
      state.shown = snapshot
      // The end of another list is none of the list that comes.
      if let reading, attempt.query.hasSelection(of: state.query) { state.oldEnd = reading.oldEnd }
      state.lastShown = attempt.number
    }
    return snapshot
  }

  /// Reads a bounded query.
  private func read(
    _ attempt: Attempt, reusing decoded: inout [MemoID: DecodedMemo<Entity>]?,
    unreadable first: inout MemoError?
  ) throws(MemoError) -> HistoryReading<Entity> {
    guard let store else { throw .database(.closed) }
    let limit = attempt.query.usedLimit
    let anchor = attempt.query.anchor
    let (memos, oldEnd): ([Memo], MemoKey?)
    if let range = attempt.query.order.range {
      oldEnd = nil
      memos = try store.indexed { memos throws(MemoError) in
        try memos.edits.storedMemos(
          in: range.index.declaration, from: range.lower, through: range.upper, count: limit,
          descending: range.descending)
      }
    } else {
      var keptCount = 0
      if anchor == .oldEnd, let oldEnd = attempt.oldEnd {
        keptCount = try store.timeline.count(
          to: oldEnd, atMost: limit + HistoryWindow.maximumGrowth + 1)
      }
      let window = HistoryWindow(limit: limit, keptCount: keptCount, anchor: anchor)
      let newest = try store.timeline.newest(window.count)
      (memos, oldEnd) = (newest.memos, newest.last ?? attempt.oldEnd)
    }
    var error: MemoError?
    let items = try store.entities(of: memos, reusing: &decoded) { error = error ?? $0 }
    first = error
    return HistoryReading(items: items, oldEnd: oldEnd)
  }
}
