import KVTestSupport
import Testing

@testable import KVEngine

/// Every short sequence of calls on a fresh store, with a power cut at every operation: T2 of the
/// test plan (promises P1 to P3).
///
/// Most crash bugs need few calls, but all combinations of them: CrashMonkey and ACE, OSDI 2018.
@Suite struct ShortWorkloadTests {
  private static let length = Thoroughness.count(quick: 2, push: 2, nightly: 3)

  /// Sequences that begin with a step, of all lengths up to ``length``.
  private func sequences(from first: ShortWorkload.Step) -> [[ShortWorkload.Step]] {
    var all = [[first]]
    var last = all
    for _ in 1..<Self.length {
      last = last.flatMap { steps in ShortWorkload.Step.allCases.map { steps + [$0] } }
      all += last
    }
    return Thoroughness.part(of: 0..<all.count, step: 5).map { all[$0] }
  }

  /// What is there before the sequence: nothing, or a store with a segment and a log.
  private static let beginnings: [[ShortWorkload.Step]] = [[], [.batch, .put, .flush, .put]]

  @Test(arguments: ShortWorkload.Step.allCases)
  func everyShortWorkloadSurvivesAPowerCut(first: ShortWorkload.Step) throws {
    var (imageCount, failureCount) = (0, 0)
    for steps in sequences(from: first) {
      for beginning in Self.beginnings {
        let workload = try ShortWorkload(beginning + steps)
        for count in 0...workload.files.operationCount {
          imageCount += 1
          do {
            try check(workload, after: count)
          } catch {
            let last = count == 0 ? "start" : "\(workload.files.operations[count - 1])"
            Issue.record("\(beginning + steps), after \(last): \(error)")
            failureCount += 1
            if failureCount == 5 { return }
          }
        }
      }
    }
    ProofTally.count("T2", "images", imageCount)
  }

  private func check(_ workload: ShortWorkload, after count: Int) throws {
    let image = workload.files.image(after: count, variant: .strict)
    let allowed = workload.allowedStates(after: count)
    try StoreCheck(files: image, seed: UInt64(count))
      .holds(oneOf: allowed, of: workload.states, isUsed: count % 3 == 0)
    for copy in workload.copies where copy.end <= count {
      var options = TinyStore.options
      options.createIfMissing = false
      let database = try Database(at: copy.path, in: image, options: options)
      guard try database.countedContent() == workload.states[copy.stateIndex] else {
        throw Problem("the copy \(copy.path) holds something else")
      }
    }
  }
}
