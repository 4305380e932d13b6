import KVEngine
import Testing

@testable import MemoHistory

/// Timers of the system: not too early, not without being asked, and the last instant counts.
@Suite struct DispatchDeadlinesTests {
  private let clock = DispatchDeadlines()

  /// Instants at which a timer ran, as they come.
  private func runs() -> (timer: any DeadlineTimer, instants: AsyncStream<Duration>) {
    let (instants, continuation) = AsyncStream.makeStream(of: Duration.self)
    let timer = clock.makeTimer { [clock] finished in
      continuation.yield(clock.elapsed)
      finished()
    }
    defer { withExtendedLifetime(timer) {} }
    return (timer, instants)
  }

  @Test func aTimerRunsOnceAndNotBeforeItsInstant() async throws {
    let (timer, instants) = runs()
    var runs = instants.makeAsyncIterator()
    for _ in 0..<20 {
      let due = clock.elapsed + .milliseconds(2)
      timer.set(due)
      #expect(try #require(await runs.next()) >= due)
    }
    // An instant that has passed is as soon as possible.
    timer.set(.zero)
    _ = try #require(await runs.next())
    // Nothing that was set before runs a second time: the next run is the one asked for.
    let due = clock.elapsed + .milliseconds(20)
    timer.set(due)
    #expect(try #require(await runs.next()) >= due)
  }

  @Test func theLastInstantThatWasSetCounts() async throws {
    let (timer, instants) = runs()
    var runs = instants.makeAsyncIterator()
    let late = clock.elapsed + .milliseconds(40)
    timer.set(clock.elapsed + .seconds(3600))
    timer.set(clock.elapsed + .milliseconds(5))
    timer.set(late)
    #expect(try #require(await runs.next()) >= late)
    // Switched off and on again.
    let later = clock.elapsed + .milliseconds(40)
    timer.set(clock.elapsed + .milliseconds(5))
    timer.set(nil)
    timer.set(later)
    #expect(try #require(await runs.next()) >= later)
  }

  @Test func anEndlessWaitIsNoTrap() async throws {
    let (timer, instants) = runs()
    var runs = instants.makeAsyncIterator()
    timer.set(.seconds(Int64.max) + .seconds(Int64.max))
    timer.set(.seconds(-5))
    _ = try #require(await runs.next())
  }

  @Test func aTimerThatWasLetGoOfDoesNotRun() async throws {
    let ran = SharedLock(0)
    let (last, instants) = runs()
    for _ in 0..<100 {
      let timer = clock.makeTimer { finished in
        ran.withLock { $0 += 1 }
        finished()
      }
      defer { withExtendedLifetime(timer) {} }
      timer.set(clock.elapsed + .milliseconds(50))
      withExtendedLifetime(timer) {}
    }
    last.set(clock.elapsed + .milliseconds(100))
    var runs = instants.makeAsyncIterator()
    _ = try #require(await runs.next())
    #expect(ran.withLock { $0 } == 0)
  }
}
