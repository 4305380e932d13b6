import KVTestSupport

/// A list of calls, and the shortest one found that fails like it.
struct ModelHistory {
  /// Where and how a history failed.
  struct Failure: Error, CustomStringConvertible {
    let position: Int
    let reason: String
    let calls: [ModelCall]

    var description: String {
      "call \(position): \(reason)\n"
        + calls.enumerated().map { "  \($0): \($1)" }.joined(separator: "\n")
    }
  }

  var calls: [ModelCall]

  init(_ calls: [ModelCall]) {
    self.calls = calls
  }

  init(seed: UInt64, count: Int) {
    var generator = ModelCallGenerator(seed: seed)
    calls = generator.history(count)
  }

  /// Lives through the calls, then closes, opens and verifies.
  ///
  /// - Returns: The answers.
  func run(_ setting: ModelSetting) throws(Failure) -> [UInt64] {
    var position = 0
    do {
      let run = try ModelRun(setting)
      for call in calls + [.scan(.follower), .reopen(isClosed: true), .verify] {
        try run.perform(call)
        position += 1
      }
      return run.answers
    } catch {
      throw Failure(position: position, reason: "\(error)", calls: calls)
    }
  }

  /// Leaves out calls, at first half of them at a time, in the end single ones, as long as `run`
  /// throws for what is left, at most `budget` times.
  func reduced(
    _ failure: Failure, budget: Int = 200, by run: (ModelHistory) throws(Failure) -> Void
  ) -> Failure {
    var shortest = failure
    var rest = budget
    func attempt(_ calls: [ModelCall]) -> Bool {
      rest -= 1
      do throws(Failure) {
        try run(ModelHistory(calls))
        return false
      } catch {
        shortest = error
        return true
      }
    }
    var known = Array(calls.prefix(failure.position + 1))
    if !attempt(known) { known = calls }
    var size = max(known.count / 2, 1)
    while rest > 0 {
      var start = 0
      var isShorter = false
      while start < known.count, rest > 0 {
        var fewer = known
        fewer.removeSubrange(start..<min(start + size, known.count))
        if attempt(fewer) {
          // What lies behind the failing call is not needed.
          known = Array(fewer.prefix(shortest.position + 1))
          isShorter = true
        } else {
          start += size
        }
      }
      if size == 1, !isShorter { break }
      size = max(size / 2, 1)
    }
    return shortest
  }
}
