/// When the next snapshot of a live history is due.
///
/// A value without clock and thread: events go in with their instants, and ``due`` says what to
/// wait for. Instants are durations since any fixed start.
///
/// - Invariant: S1: nothing is due while paused or without a change that no snapshot shows.
/// - Invariant: S2: what is due is never later than `maximumDelay` after the first such change, and
///   never later than the end of a pause that it fell into.
struct ReflectionSchedule: Sendable {
  let policy: ReflectionPolicy
  /// When the next snapshot has to be taken; `nil` when there is nothing to wait for.
  private(set) var due: Duration?
  private(set) var isPaused = false
  /// The latest instant for the changes that no snapshot shows; `nil` when there are none.
  private var limit: Duration?

  /// Makes a schedule with nothing to show.
  init(_ policy: ReflectionPolicy) {
    self.policy = policy
  }

  /// Notes a commit that touches a memo, or what may wait as long; the newest one decides how long.
  mutating func committed(holdingInsert: Bool, at now: Duration) {
    let limit = limit ?? now + max(.zero, policy.maximumDelay)
    self.limit = limit
    guard !isPaused else { return }
    let wait = holdingInsert ? policy.afterInsert : policy.afterOther
    due = min(now + max(.zero, wait), limit)
  }

  /// Notes that somebody asks for a snapshot, who is not to wait unless nobody looks.
  mutating func refresh(at now: Duration) {
    limit = now
    if !isPaused { due = now }
  }

  /// Notes that nobody looks.
  mutating func pause() {
    isPaused = true
    due = nil
  }

  /// Notes that somebody looks again, who is not to wait for what changed meanwhile.
  mutating func resume(at now: Duration) {
    guard isPaused else { return }
    isPaused = false
    if limit != nil {
      limit = now
      due = now
    }
  }

  /// Notes that a snapshot shows everything up to now, whether it was due or not.
  ///
  /// To be called *before* the snapshot is read: a commit that comes while it is read is then a
  /// change of the next one, and never one of none.
  mutating func delivered() {
    limit = nil
    due = nil
  }
}
