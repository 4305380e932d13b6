internal import Dispatch
internal import KVEngine

// The one machine behind all fronts of a live history:
//
//   commit --> schedule --> timer --> onDue --(front decides when)--> next() --> snapshot
//
// The front is told that a snapshot is due and takes it when it can show it, so the difference is
// always the one to what it has shown, and what nobody takes is never read.

/// A query that is read again when memos have changed.
final class LiveQuery<Entity: MemoEntity>: HistoryObserver {
  private struct State {
    var query: MemoQuery
    var schedule: ReflectionSchedule
    var items: [Entity] = []
    var ids: [Entity.ID] = []
    /// Where the list ends.
    var oldEnd: MemoKey?
    var generation = 0
    var cause = HistoryCause.first
    var origin: String?
    var timer: (any DeadlineTimer)?
    var isEnded = false
  }

  /// Weak, since the store's board holds the query: who observes does not keep a store open.
  private weak let store: MemoStore<Entity>?
  private let clock: any DeadlineClock
  private let state: Lock<State>
  /// Held while a snapshot is read, so that they come one after the other.
  private let reading = Lock(())

  init(_ store: MemoStore<Entity>, _ query: MemoQuery) {
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
      guard isFirst, let snapshot = self?.next() else { return finished() }
      DispatchQueue.main.async {
        if let self, !self.isEnded { MainActor.assumeIsolated { body(snapshot) } }
        isShowing.withLock { $0 = false }
        self?.rearm()
        finished()
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

  func pause() {
    change { state, _ in state.schedule.pause() }
  }

  func resume() {
    change { state, now in state.schedule.resume(at: now) }
  }

  /// Changes what is shown; due now.
  func setQuery(_ query: MemoQuery) {
    change { state, now in
      guard query != state.query else { return }
      // An anchor alone changes nothing yet: it says what stays at the next change.
      if query.limit != state.query.limit {
        state.cause = .refreshed
        state.origin = nil
        state.schedule.refresh(at: now)
      }
      state.query = query
    }
  }

  var query: MemoQuery { state.withLock { $0.query } }

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

  /// Reads the next snapshot: everything that was committed before the call.
  ///
  /// Never throws: what goes wrong stands in the snapshot.
  func next() -> HistorySnapshot<Entity> {
    reading.withLock { _ in
      let commitCount = store?.board.commitCount ?? 0
      let (query, oldEnd, old, oldIDs) = state.withLock { state in
        state.schedule.delivered()
        return (state.query, state.oldEnd, state.items, state.ids)
      }
      var error: MemoError?
      var read = (items: old, oldEnd: oldEnd)
      do throws(MemoError) {
        read = try self.read(query, oldEnd, unreadable: &error)
      } catch let failure {
        error = failure
      }
      let ids = read.items.map(\.id)
      let difference = HistoryDifference(from: old, ids: oldIDs, to: read.items, ids: ids)
      return state.withLock { state in
        state.items = read.items
        state.ids = ids
        state.oldEnd = read.oldEnd
        state.generation += 1
        return HistorySnapshot(
          items: read.items, ids: ids, difference: difference, generation: state.generation,
          cause: state.generation == 1 ? .first : state.cause,
          origin: state.generation == 1 ? nil : state.origin, error: error,
          commitCount: commitCount)
      }
    }
  }

  private func read(
    _ query: MemoQuery, _ oldEnd: MemoKey?, unreadable first: inout MemoError?
  ) throws(MemoError) -> (items: [Entity], oldEnd: MemoKey?) {
    guard let store else { throw .database(.closed) }
    let limit = max(1, query.limit)
    var keptCount = 0
    if query.anchor == .oldEnd, let oldEnd {
      keptCount = try store.timeline.count(
        to: oldEnd, atMost: limit + HistoryWindow.maximumGrowth + 1)
    }
    let window = HistoryWindow(limit: limit, keptCount: keptCount, anchor: query.anchor)
    let (memos, last) = try store.timeline.newest(window.count)
    var error: MemoError?
    let items = try store.entities(of: memos) { error = error ?? $0 }
    first = error
    return (items, last ?? oldEnd)
  }
}
