/// The clock of live history: runs something when its time has come.
///
/// It does not put tasks to sleep, because nothing says when a task that was woken goes on: neither
/// could a test wait for it, nor would it be on time while the task pool is busy. Instants are
/// durations since a start of the clock's own.
package protocol DeadlineClock: Sendable {
  /// Time since the clock's start; never goes back.
  var elapsed: Duration { get }

  /// The wall clock, in microseconds since 1970; may be set by anybody at any time.
  var wallMicroseconds: Int64 { get }

  /// Makes a timer that is not set.
  ///
  /// - Parameter body: What it runs, one call at a time, on any thread and with no lock held. It
  ///   calls the closure it is given exactly once, from anywhere, when everything that it started
  ///   is done; a clock for tests waits for that before its time goes on.
  /// - Returns: The timer, to be held as long as it is wanted.
  func makeTimer(
    _ body: @escaping @Sendable (_ finished: @escaping @Sendable () -> Void) -> Void
  ) -> any DeadlineTimer
}

/// Something that runs once at an instant that can be set anew.
///
/// It lives as long as somebody holds it.
package protocol DeadlineTimer: AnyObject, Sendable {
  /// Sets when the body runs next instead of what was set before; `nil` for not at all.
  ///
  /// Cheap enough for every commit. An instant that has passed means as soon as possible, but never
  /// within the call. The body may just be starting on another thread: what it must not do after a
  /// change it has to find out under a lock of its own.
  func set(_ due: Duration?)
}
