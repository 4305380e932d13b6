import KVEngine
import MemoHistory
import MemoHistoryTesting
import Testing

/// A clock whose time a test moves, and what runs on it.
@Suite struct ManualClockTests {
  /// What ran, in order.
  private final class Journal: Sendable {
    private let lines = SharedLock<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private func timer(
    _ name: String, on clock: ManualClock, _ journal: Journal
  ) -> any DeadlineTimer {
    clock.makeTimer { finished in
      journal.note("\(name) \(clock.now.offset)")
      finished()
    }
  }

  @Test func timeStandsStillUntilItIsMoved() async {
    let clock = ManualClock()
    #expect(clock.now.offset == .zero)
    await clock.advance(by: .milliseconds(5))
    #expect(clock.now.offset == .milliseconds(5))
    await clock.advance(by: .seconds(-1))
    #expect(clock.now.offset == .milliseconds(5))
    #expect(await !clock.advanceToNext())
    #expect(clock.now.offset == .milliseconds(5))
    #expect(clock.now.duration(to: clock.now.advanced(by: .seconds(1))) == .seconds(1))
  }

  @Test func timersRunInTheOrderOfTheirInstants() async {
    let clock = ManualClock()
    let journal = Journal()
    let timers = ["a", "b", "c", "d"].map { timer($0, on: clock, journal) }
    defer { withExtendedLifetime(timers) {} }
    for (timer, due) in zip(timers, [30, 10, 20, 10]) { timer.set(.milliseconds(due)) }
    await clock.advance(by: .milliseconds(9))
    #expect(journal.all == [])
    await clock.advance(by: .milliseconds(11))
    #expect(journal.all == ["b 0.01 seconds", "d 0.01 seconds", "c 0.02 seconds"])
    await clock.advance(by: .seconds(1))
    await clock.advance(by: .seconds(1))
    #expect(journal.all.dropFirst(3) == ["a 0.03 seconds"])
  }

  @Test func theLastInstantThatWasSetCounts() async {
    let clock = ManualClock()
    let journal = Journal()
    let one = timer("one", on: clock, journal)
    defer { withExtendedLifetime(one) {} }
    one.set(.milliseconds(10))
    one.set(.milliseconds(30))
    await clock.advance(by: .milliseconds(20))
    #expect(journal.all == [])
    one.set(nil)
    await clock.advance(by: .milliseconds(20))
    #expect(journal.all == [])
    // What is due already runs when time is next moved, and not before.
    one.set(.milliseconds(1))
    #expect(journal.all == [])
    await clock.advance(by: .zero)
    #expect(journal.all == ["one 0.04 seconds"])
  }

  @Test func aTimerEndsWithItsOwner() async {
    let clock = ManualClock()
    let journal = Journal()
    var owned: (any DeadlineTimer)? = timer("gone", on: clock, journal)
    owned?.set(.milliseconds(1))
    owned = nil
    await clock.advance(by: .seconds(1))
    #expect(journal.all == [])
  }

  /// A timer whose body owns the timer goes with what it is set to, without a lock held.
  @Test func aBodyMayOwnTheLastReferenceToATimer() async {
    let clock = ManualClock()
    let journal = Journal()
    let inner = SharedLock<(any DeadlineTimer)?>(timer("inner", on: clock, journal))
    defer { withExtendedLifetime(inner) {} }
    inner.withLock { $0?.set(.seconds(1)) }
    var outer: (any DeadlineTimer)? = clock.makeTimer { finished in
      inner.withLock { $0?.set(nil) }
      finished()
    }
    outer?.set(.seconds(2))
    outer = nil
    await clock.advance(by: .seconds(3))
    #expect(journal.all == ["inner 1.0 seconds"])
  }

  @Test func whatIsSetWhileTimePassesRunsInItsPlace() async {
    let clock = ManualClock()
    let journal = Journal()
    let second = timer("second", on: clock, journal)
    defer { withExtendedLifetime(second) {} }
    let first = clock.makeTimer { finished in
      journal.note("first \(clock.elapsed)")
      second.set(clock.elapsed + .milliseconds(10))
      finished()
    }
    defer { withExtendedLifetime(first) {} }
    let third = timer("third", on: clock, journal)
    defer { withExtendedLifetime(third) {} }
    first.set(.milliseconds(10))
    third.set(.milliseconds(15))
    await clock.advance(by: .milliseconds(20))
    #expect(journal.all == ["first 0.01 seconds", "third 0.015 seconds", "second 0.02 seconds"])
  }

  @Test func theNextInstantIsAllThatRuns() async {
    let clock = ManualClock()
    let journal = Journal()
    let timers = ["a", "b", "c"].map { timer($0, on: clock, journal) }
    defer { withExtendedLifetime(timers) {} }
    for (timer, due) in zip(timers, [10, 10, 20]) { timer.set(.milliseconds(due)) }
    #expect(await clock.advanceToNext())
    #expect(journal.all.count == 2 && clock.now.offset == .milliseconds(10))
    #expect(await clock.advanceToNext())
    #expect(journal.all.count == 3 && clock.now.offset == .milliseconds(20))
    #expect(await !clock.advanceToNext())
  }

  @Test @MainActor func aDeliveryOnTheMainActorIsWaitedFor() async {
    let clock = ManualClock()
    let journal = Journal()
    let slow = clock.makeTimer { finished in
      Task { @MainActor in
        for _ in 0..<50 { await Task.yield() }
        journal.note("delivered")
        finished()
      }
    }
    defer { withExtendedLifetime(slow) {} }
    for round in 1...100 {
      slow.set(clock.elapsed + .milliseconds(1))
      await clock.advance(by: .milliseconds(1))
      #expect(journal.all.count == round)
    }
  }

  @Test func callsThatMoveTheTimeTakeTurns() async {
    let clock = ManualClock()
    let journal = Journal()
    let timers = (0..<20).map { number in
      clock.makeTimer { finished in
        journal.note("begin \(number)")
        Task {
          for _ in 0..<10 { await Task.yield() }
          journal.note("end \(number)")
          finished()
        }
      }
    }
    defer { withExtendedLifetime(timers) {} }
    for (index, timer) in timers.enumerated() { timer.set(.milliseconds(index + 1)) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { await clock.advance(by: .milliseconds(1)) } }
    }
    #expect(clock.now.offset == .milliseconds(20))
    #expect(journal.all == (0..<20).flatMap { ["begin \($0)", "end \($0)"] })
  }

  @Test func tasksSleepUntilTheirMoment() async throws {
    let clock = ManualClock()
    let journal = Journal()
    let start = clock.now
    try await clock.sleep(until: start)
    let tasks = [20, 10].map { milliseconds in
      Task {
        try await clock.sleep(until: start.advanced(by: .milliseconds(milliseconds)))
        journal.note("\(milliseconds) \(clock.now.offset)")
      }
    }
    // Both are asleep when both instants can be waited for; the tasks come to it on their own.
    while await !clock.advanceToNext() {}
    for task in tasks.reversed() {
      while clock.now.offset < .milliseconds(20) { await clock.advanceToNext() }
      try await task.value
    }
    #expect(journal.all.count == 2)
    #expect(journal.all.contains("20 0.02 seconds"))
  }

  @Test func aSleepEndsWithItsTask() async {
    let clock = ManualClock()
    for round in 0..<200 {
      let task = Task { try await clock.sleep(for: .seconds(1)) }
      if round % 2 == 0 { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(await !clock.advanceToNext())
  }
}
