internal import Dispatch
internal import KVEngine
internal import MemoCore

/// The clock of live history in apps: timers of the system, each with a queue of its own.
///
/// Swift's task pool has as many threads as cores and must not wait for a read; queues may.
struct DispatchDeadlines: DeadlineClock {
  var elapsed: Duration { .nanoseconds(DispatchTime.now().uptimeNanoseconds) }

  var wallMicroseconds: Int64 { MemoTimestamp.now.microseconds }

  func makeTimer(
    _ body: @escaping @Sendable (_ finished: @escaping @Sendable () -> Void) -> Void
  ) -> any DeadlineTimer {
    DispatchTimer(self, body)
  }
}

/// A timer of the system that is set anew only when it would fire too late.
///
/// Commits postpone a snapshot much more often than one is taken, so a later instant is only noted:
/// the timer fires early, sees that, and is set to the rest.
private final class DispatchTimer: DeadlineTimer {
  private struct State {
    let source: any DispatchSourceTimer
    /// When the body has to run.
    var due: Duration?
    /// When the timer fires, not later than `due`.
    var firing: Duration?
  }

  /// Nanoseconds up to here fit into 64 bits.
  private static let endOfTime = Duration.seconds(1 << 33)

  private let state: Lock<State>
  private let clock: DispatchDeadlines
  private let body: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(
    _ clock: DispatchDeadlines, _ body: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.clock = clock
    self.body = body
    let queue = DispatchQueue(label: "MemoKV.DeadlineClock", qos: .userInitiated)
    let source = DispatchSource.makeTimerSource(queue: queue)
    state = Lock(State(source: source))
    source.setEventHandler { [weak self] in self?.fire() }
    source.activate()
  }

  deinit {
    state.withLock { $0.source.cancel() }
  }

  func set(_ due: Duration?) {
    state.withLock { state in
      state.due = due
      if let due, state.firing.map({ due < $0 }) ?? true { arm(due, &state) }
    }
  }

  private func fire() {
    let isDue = state.withLock { state in
      state.firing = nil
      guard let due = state.due else { return false }
      guard due <= clock.elapsed else {
        arm(due, &state)
        return false
      }
      state.due = nil
      return true
    }
    if isDue { body {} }
  }

  private func arm(_ due: Duration, _ state: inout State) {
    state.firing = due
    let (seconds, attoseconds) = min(max(.zero, due), Self.endOfTime).components
    // The division rounds down, and 0 would mean now.
    let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000) + 1
    state.source.schedule(
      deadline: DispatchTime(uptimeNanoseconds: nanoseconds), leeway: .milliseconds(1))
  }
}
