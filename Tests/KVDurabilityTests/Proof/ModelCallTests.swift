import KVTestSupport
import Testing

/// Random calls of the whole interface against an oracle that is too simple to be wrong: T8 of the
/// test plan (promises P1 to P6, P9, P11, P12).
@Suite struct ModelCallTests {
  private static let callCount = 2000
  private static let partCount = 8
  /// Histories of each part.
  private static let historyCount = Thoroughness.count(quick: 1, push: 25, nightly: 125)

  @Test(arguments: 0..<partCount)
  func everyCallAnswersAsTheOracle(part: Int) {
    for number in 0..<Self.historyCount {
      let seed = Thoroughness.seedBase + UInt64(part * Self.historyCount + number)
      let history = ModelHistory(seed: seed, count: Self.callCount)
      do throws(ModelHistory.Failure) {
        _ = try history.run(.tiny)
      } catch {
        Issue.record("seed \(seed), call \(error.position): \(error.reason)")
        let reduced = history.reduced(error) { history throws(ModelHistory.Failure) in
          _ = try history.run(.tiny)
        }
        Issue.record("seed \(seed), shorter: \(reduced)")
        return
      }
    }
    ProofTally.count("T8", "calls", Self.historyCount * Self.callCount)
  }

  /// The reduction keeps what makes a history fail, and nothing else.
  @Test func aFailingHistoryIsMadeShort() throws {
    // As if a flush and a kill behind it were wrong.
    func fail(_ history: ModelHistory) throws(ModelHistory.Failure) {
      var wasFlushed = false
      for (position, call) in history.calls.enumerated() {
        if case .flush = call { wasFlushed = true }
        guard wasFlushed, case .kill = call else { continue }
        throw ModelHistory.Failure(position: position, reason: "as planned", calls: history.calls)
      }
    }
    let history = ModelHistory(seed: 1, count: 2000)
    let failure = try #require(throws: ModelHistory.Failure.self) { try fail(history) }
    let reduced = history.reduced(failure, by: fail)
    guard reduced.calls.count == 2, case .flush = reduced.calls[0], case .kill = reduced.calls[1]
    else {
      Issue.record("\(reduced)")
      return
    }
  }
}
