internal import KVEngine
public import MemoHistory

/// A clock whose time stands still until a test moves it.
///
/// Give it to a store, write, and say how much time passes:
///
/// ```swift
/// let clock = ManualClock()
/// await clock.advance(by: .milliseconds(199))
/// await clock.advance(by: .milliseconds(1))
/// ```
///
/// What a live history shows is there when ``advance(by:)`` returns: the history leaves a timer
/// with the clock, and the clock calls it and waits for the end of the delivery before its time
/// goes on. Tasks may sleep on the clock as well; they are woken in the order of their instants
/// and get time to run, but when a task that was woken goes on is up to Swift, so a test has to
/// wait for what such a task does.
///
/// Safe to use from any task; calls that move the time take turns.
public final class ManualClock: Clock, Sendable {
  /// A moment of a manual clock.
  public struct Instant: InstantProtocol {
    /// Time since the clock was made.
    public let offset: Duration

    /// The moment that is so much later.
    ///
    /// - Parameter duration: How much; earlier when it is negative.
    /// - Returns: The moment.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration)
    }

    /// The time from this moment to another one.
    ///
    /// - Parameter other: The other moment.
    /// - Returns: The time; negative when the other moment is earlier.
    public func duration(to other: Instant) -> Duration {
      other.offset - offset
    }

    /// Whether a moment comes before another one.
    ///
    /// - Parameters:
    ///   - left: A moment.
    ///   - right: Another one of the same clock.
    /// - Returns: Whether the first is the earlier one.
    public static func < (left: Instant, right: Instant) -> Bool {
      left.offset < right.offset
    }
  }

  private let schedule = SharedLock(ManualSchedule())

  /// Makes a clock at offset zero.
  public init() {}

  /// The time, which only ``advance(by:)`` and ``advanceToNext()`` change.
  public var now: Instant {
    Instant(offset: schedule.withLock { $0.now })
  }

  /// The smallest step of time: none.
  public var minimumResolution: Duration { .zero }

  /// Lets time pass.
  ///
  /// Everything that becomes due runs in the order of its instant, then of its being set, each with
  /// the clock showing that instant, and is waited for; so does what is set meanwhile. What is due
  /// already runs as well, so `.zero` is a way to let that happen.
  ///
  /// - Parameter duration: How much; a negative value counts as zero.
  public func advance(by duration: Duration) async {
    await takeTurn()
    let target = schedule.withLock { $0.now + max(.zero, duration) }
    await run(until: target)
    endTurn()
  }

  /// Lets time pass up to the next instant at which something is due, and runs that.
  ///
  /// - Returns: Whether there was anything to wait for; otherwise no time passes.
  @discardableResult
  public func advanceToNext() async -> Bool {
    await takeTurn()
    let target = schedule.withLock { $0.next }
    if let target { await run(until: target) }
    endTurn()
    return target != nil
  }

  /// Suspends the calling task until the clock has been moved to a moment.
  ///
  /// - Parameters:
  ///   - deadline: The moment; one that has come returns at once.
  ///   - tolerance: Has no effect.
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let key = schedule.withLock { $0.makeKey() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (sleeper: ManualSchedule.Sleeper) in
        let isOver = schedule.withLock { schedule in
          if deadline.offset <= schedule.now { return true }
          _ = schedule.set(key, due: deadline.offset, .sleeper(sleeper))
          return false
        }
        if isOver { sleeper.resume() }
        // The task may have been cancelled when there was nothing to wake yet.
        if Task.isCancelled { cancelSleep(key) }
      }
    } onCancel: {
      cancelSleep(key)
    }
  }

  private func cancelSleep(_ key: UInt64) {
    if case .sleeper(let sleeper) = schedule.withLock({ $0.remove(key) }) {
      sleeper.resume(throwing: CancellationError())
    }
  }
}

extension ManualClock {
  private func run(until target: Duration) async {
    while let action = schedule.withLock({ $0.takeNext(until: target) }) {
      switch action {
      case .timer(let body):
        await withCheckedContinuation { finished in
          body { finished.resume() }
        }
      case .sleeper(let sleeper):
        sleeper.resume()
        await Self.letOthersRun()
      }
    }
  }

  /// Gives tasks that were woken time to run up to where they wait again, as far as one can.
  private static func letOthersRun() async {
    for _ in 0..<20 {
      await Task.detached(priority: .background) { await Task.yield() }.value
    }
  }

  /// Waits until nobody else moves the time.
  private func takeTurn() async {
    await withCheckedContinuation { turn in
      let isFree = schedule.withLock { schedule in
        if schedule.isMoving {
          schedule.waiting.append(turn)
          return false
        }
        schedule.isMoving = true
        return true
      }
      if isFree { turn.resume() }
    }
  }

  private func endTurn() {
    let next = schedule.withLock { schedule in
      if schedule.waiting.isEmpty {
        schedule.isMoving = false
        return nil as CheckedContinuation<Void, Never>?
      }
      return schedule.waiting.removeFirst()
    }
    next?.resume()
  }
}

extension ManualClock: DeadlineClock {
  package var elapsed: Duration { now.offset }

  /// Runs with the clock from the first moment of 2026 on.
  package var wallMicroseconds: Int64 {
    let (seconds, attoseconds) = now.offset.components
    return 1_767_225_600_000_000 + seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  package func makeTimer(
    _ body: @escaping @Sendable (_ finished: @escaping @Sendable () -> Void) -> Void
  ) -> any DeadlineTimer {
    ManualTimer(schedule, body)
  }
}

/// A timer that waits for a test.
private final class ManualTimer: DeadlineTimer {
  private let schedule: SharedLock<ManualSchedule>
  private let key: UInt64
  private let body: ManualSchedule.Body

  init(_ schedule: SharedLock<ManualSchedule>, _ body: @escaping ManualSchedule.Body) {
    self.schedule = schedule
    self.body = body
    key = schedule.withLock { $0.makeKey() }
  }

  deinit {
    _ = schedule.withLock { [key] in $0.remove(key) }
  }

  func set(_ due: Duration?) {
    _ = schedule.withLock { schedule in
      guard let due else { return schedule.remove(key) }
      return schedule.set(key, due: due, .timer(body))
    }
  }
}

extension MemoStore where Entity: MemoEntity {
  /// Opens an empty store that lives in memory and takes the time from a clock of the test.
  ///
  /// - Parameters:
  ///   - clock: Moves the time of live histories and of deletions.
  ///   - reflection: How soon live histories show what was written.
  ///   - trash: For how long deleted memos stay in the trash.
  /// - Returns: A store that goes with its handle.
  public static func inMemory(
    clock: ManualClock, reflection: ReflectionPolicy = ReflectionPolicy(), trash: Duration = .zero
  ) -> MemoStore<Entity> {
    inMemory(deadlines: clock, reflection: reflection, trash: trash)
  }
}
