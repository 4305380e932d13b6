import KVEngine
import KVTestSupport
import Testing

/// A crash at every operation of a workload leaves a prefix of its commits with everything that was
/// acknowledged as durable (promises P1, P2, P3, P9).
@Suite struct CrashPointTests {
  private static let seed: UInt64 = 1

  @Test func theWorkloadMeetsEveryKindOfOperation() throws {
    let workload = try DatabaseWorkload(seed: Self.seed)
    let operations = workload.files.operations
    #expect(operations.count >= 300)
    #expect(workload.commits.count >= 90)
    #expect(workload.refusalCount >= 5)
    #expect(workload.loadCount >= 4)
    #expect(workload.commits.count { $0.durability == .lazy } >= 20)
    let kinds = Set(operations.map { $0.description.split(separator: " ")[1] })
    #expect(kinds.isSuperset(of: ["create", "make", "write", "sync", "rename", "link", "unlink"]))
    let published = operations.count {
      if case .rename = $0.change { $0.path.hasSuffix("/MANIFEST") } else { false }
    }
    #expect(published >= 9, "8 flushes and the creation")
    let removed = operations.filter {
      if case .unlink = $0.change { $0.path.hasSuffix(".log") } else { false }
    }
    #expect(removed.count >= 3, "logs that were dropped go in the end")
  }

  @Test(
    .bug(id: "B01"), .bug(id: "B04"), .bug(id: "B40"), .bug(id: "B41"), .bug(id: "B44"),
    .bug(id: "B47"), arguments: CrashVariant.allCases)
  func everyImageHoldsAPrefix(variant: CrashVariant) throws {
    let seeds = Thoroughness.seeds(Thoroughness.count(quick: 1, push: 1, nightly: 20))
    for seed in seeds { try check(try DatabaseWorkload(seed: Self.seed + seed), variant) }
  }

  private func check(_ workload: DatabaseWorkload, _ variant: CrashVariant) throws {
    let count = workload.files.operationCount
    var (imageCount, failureCount) = (0, 0)
    for boundary in Thoroughness.part(of: 0..<count + 1, step: 11, offset: variant.rawValue) {
      let allowed = workload.allowedStates(after: boundary, isPowerCut: variant != .everything)
      for seed in workload.seeds(of: variant, after: boundary) {
        let image = workload.files.image(after: boundary, variant: variant, seed: seed)
        imageCount += 1
        do {
          try StoreCheck(files: image, seed: seed).holds(oneOf: allowed, of: workload.states)
        } catch {
          failureCount += 1
          let last = boundary == 0 ? "start" : workload.files.operations[boundary - 1].description
          Issue.record(
            "workload \(workload.seed), \(variant), seed \(seed), after \(last): \(error)")
          if failureCount == 5 { return }
        }
      }
    }
    ProofTally.count("T1", "images", imageCount)
  }
}
