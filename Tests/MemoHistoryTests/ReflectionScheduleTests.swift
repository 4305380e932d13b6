import KVTestSupport
import Testing

@testable import MemoHistory

/// When a snapshot is due: the rule itself, and every short and many long schedules against it.
@Suite struct ReflectionScheduleTests {
  private enum Event: CaseIterable {
    case insert, other, pause, resume, delivered
  }

  private struct Step {
    var event: Event
    var milliseconds: Int
    var time: Duration { .milliseconds(milliseconds) }
    var isChange: Bool { event == .insert || event == .other }
  }

  /// Says what is due by looking at everything that ever happened.
  private static func due(after steps: [Step], _ policy: ReflectionPolicy) -> Duration? {
    var isPaused = false
    var returns: [Int] = []
    for (index, step) in steps.enumerated() {
      if step.event == .resume && isPaused { returns.append(index) }
      if step.event == .pause { isPaused = true }
      if step.event == .resume { isPaused = false }
    }
    let shown = steps.lastIndex { $0.event == .delivered } ?? -1
    let changes = steps.indices.filter { $0 > shown && steps[$0].isChange }
    guard let first = changes.first, let newest = changes.last, !isPaused else { return nil }
    if let back = returns.last, back > first { return steps[back].time }
    let wait = steps[newest].event == .insert ? policy.afterInsert : policy.afterOther
    return min(steps[newest].time + wait, steps[first].time + policy.maximumDelay)
  }

  private static func apply(_ step: Step, to schedule: inout ReflectionSchedule) {
    switch step.event {
    case .insert: schedule.committed(holdingInsert: true, at: step.time)
    case .other: schedule.committed(holdingInsert: false, at: step.time)
    case .pause: schedule.pause()
    case .resume: schedule.resume(at: step.time)
    case .delivered: schedule.delivered()
    }
  }

  private func check(_ steps: [Step], _ policy: ReflectionPolicy, _ comment: Comment) {
    var schedule = ReflectionSchedule(policy)
    for count in steps.indices {
      Self.apply(steps[count], to: &schedule)
      let expected = Self.due(after: Array(steps[...count]), policy)
      if schedule.due != expected {
        let found = schedule.due
        Issue.record("\(comment): \(steps[...count]) gives \(found as Any), not \(expected as Any)")
        return
      }
    }
  }

  @Test func everyScheduleOfFourEventsIsRight() {
    let gaps = [0, 10, 250]
    let choices = Event.allCases.flatMap { event in gaps.map { (event, $0) } }
    let count = choices.count * choices.count * choices.count * choices.count
    for number in Thoroughness.part(of: 0..<count, step: 11) {
      var rest = number
      var now = 0
      var steps: [Step] = []
      for _ in 0..<4 {
        let (event, gap) = choices[rest % choices.count]
        rest /= choices.count
        now += gap
        steps.append(Step(event: event, milliseconds: now))
      }
      check(steps, ReflectionPolicy(), "schedule \(number)")
    }
  }

  @Test func randomSchedulesAreRight() {
    let count = Thoroughness.count(quick: 500, push: 5000, nightly: 500_000)
    for seed in Thoroughness.seeds(count) {
      var generator = SeededGenerator(seed: seed)
      let policy = ReflectionPolicy(
        afterInsert: .milliseconds(Int.random(in: 0...400, using: &generator)),
        afterOther: .milliseconds(Int.random(in: 0...30, using: &generator)),
        maximumDelay: .milliseconds(Int.random(in: 0...400, using: &generator)))
      var now = 0
      let steps = (0..<30).compactMap { _ in
        now += Int.random(in: 0...60, using: &generator)
        return Event.allCases.randomElement(using: &generator)
          .map { Step(event: $0, milliseconds: now) }
      }
      check(steps, policy, "seed \(seed)")
    }
  }

  /// Instants at which snapshots are taken when each is taken as it is due, in milliseconds.
  private func snapshots(of steps: [Step], until end: Int) -> [Int] {
    var schedule = ReflectionSchedule(ReflectionPolicy())
    var taken: [Int] = []
    var steps = steps[...]
    for now in 0...end {
      while let step = steps.first, step.milliseconds == now {
        Self.apply(step, to: &schedule)
        steps.removeFirst()
      }
      if let due = schedule.due, due <= .milliseconds(now) {
        schedule.delivered()
        taken.append(now)
      }
    }
    return taken
  }

  @Test func anInsertIsShownAfter200Milliseconds() {
    #expect(snapshots(of: [Step(event: .insert, milliseconds: 5)], until: 1000) == [205])
  }

  @Test func anyOtherChangeIsShownAfter16Milliseconds() {
    #expect(snapshots(of: [Step(event: .other, milliseconds: 5)], until: 1000) == [21])
  }

  @Test func theNewestChangeDecides() {
    let edited = [Step(event: .insert, milliseconds: 0), Step(event: .other, milliseconds: 100)]
    #expect(snapshots(of: edited, until: 1000) == [116])
    let added = [Step(event: .other, milliseconds: 0), Step(event: .insert, milliseconds: 10)]
    #expect(snapshots(of: added, until: 1000) == [210])
  }

  @Test func aBurstIsShownEvery300Milliseconds() {
    let burst = (0..<100).map { Step(event: .insert, milliseconds: 10 * $0) }
    #expect(snapshots(of: burst, until: 2000) == [300, 610, 920, 1190])
  }

  @Test func aPauseEndsWithOneSnapshotAtOnce() {
    var steps = [
      Step(event: .insert, milliseconds: 0), Step(event: .pause, milliseconds: 50),
      Step(event: .other, milliseconds: 400), Step(event: .resume, milliseconds: 900),
      Step(event: .insert, milliseconds: 900),
    ]
    #expect(snapshots(of: steps, until: 2000) == [900])
    steps = [Step(event: .pause, milliseconds: 0), Step(event: .resume, milliseconds: 900)]
    #expect(snapshots(of: steps, until: 2000) == [])
    // Resuming what was not paused hurries nothing.
    steps = [Step(event: .insert, milliseconds: 0), Step(event: .resume, milliseconds: 10)]
    #expect(snapshots(of: steps, until: 2000) == [200])
  }

  @Test func negativeWaitsAreNone() {
    var schedule = ReflectionSchedule(
      ReflectionPolicy(afterInsert: .seconds(-1), afterOther: .seconds(-1)))
    schedule.committed(holdingInsert: true, at: .seconds(5))
    #expect(schedule.due == .seconds(5))
    schedule = ReflectionSchedule(ReflectionPolicy(maximumDelay: .seconds(-1)))
    schedule.committed(holdingInsert: true, at: .seconds(5))
    #expect(schedule.due == .seconds(5))
  }

  @Test func endlessWaitsAreNoTrap() {
    let endless = Duration.seconds(Int64.max)
    var schedule = ReflectionSchedule(
      ReflectionPolicy(afterInsert: endless, afterOther: endless, maximumDelay: endless))
    schedule.committed(holdingInsert: true, at: .seconds(5))
    #expect(schedule.due == endless + .seconds(5))
  }
}
