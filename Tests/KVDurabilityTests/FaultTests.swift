import Foundation
import KVEngine
import KVTestSupport
import Testing

/// Every call of the file system fails, once and from then on, in every way (promises P3, P4).
@Suite struct FaultTests {
  private static let seed: UInt64 = 4 + Thoroughness.seedBase
  /// The calls that change something.
  private static let changes: Set<SystemError.Operation> = [
    .makeDirectory, .open, .write, .sync, .syncDirectory, .rename, .link, .unlink, .lock,
  ]
  private static let codes = [EIO, ENOSPC, EACCES, EROFS, EMFILE, EINTR, EFBIG]

  /// Plans a fault at call 1, 2, 3 and so on until a run ends without meeting it.
  private func failEverywhere(
    _ name: String, codes: Set<Int32>, fault: (Int) -> Fault,
    check: (FaultRun) throws -> Void = { _ in }
  ) {
    var failureCount = 0
    let step = Thoroughness.step(quick: 29)
    var position = 1
    while true {
      var run = FaultRun(seed: Self.seed, fault: fault(position), codes: codes)
      do {
        try run.run()
        try check(run)
      } catch {
        Issue.record("seed \(Self.seed), \(name) at call \(position): \(error)")
        failureCount += 1
      }
      if failureCount == 5 || !run.wasHit { break }
      position += step
    }
    #expect(position > 30, "\(name)")
    ProofTally.count("T6", "faults", position / step)
  }

  @Test(.bug(id: "B08"), .bug(id: "B43"), .bug(id: "B61"), arguments: codes, [false, true])
  func aCallFailsWithoutAnEffect(code: Int32, isLasting: Bool) {
    failEverywhere("\(code), lasting \(isLasting)", codes: [code]) { position in
      Fault(.error(code), at: position, isLasting: isLasting)
    }
  }

  @Test(arguments: codes, [false, true])
  func aWriteFailsInTheMiddle(code: Int32, isLasting: Bool) {
    failEverywhere("\(code) after a part, lasting \(isLasting)", codes: [code]) { position in
      Fault(.error(code, after: .part), at: position, of: [.write], isLasting: isLasting)
    }
  }

  @Test(arguments: codes, [false, true])
  func aCallIsDoneAndReportedAsFailed(code: Int32, isLasting: Bool) {
    failEverywhere("\(code) after everything, lasting \(isLasting)", codes: [code]) { position in
      Fault(
        .error(code, after: .everything), at: position, of: Self.changes, isLasting: isLasting)
    }
  }

  @Test(arguments: [false, true])
  func aWriteTakesNothing(isLasting: Bool) {
    failEverywhere("zero write, lasting \(isLasting)", codes: [EIO]) { position in
      Fault(.short(0), at: position, of: [.write], isLasting: isLasting)
    }
  }

  @Test(.bug(id: "B64"), arguments: [1, 7, 100], [false, true])
  func shortReadsAndWritesChangeNothing(count: Int, isLasting: Bool) {
    failEverywhere("at most \(count) bytes, lasting \(isLasting)", codes: []) { position in
      Fault(.short(count), at: position, isLasting: isLasting)
    } check: { run in
      if run.errorCount > 0 { throw Problem("\(run.errorCount) errors") }
    }
  }
}
