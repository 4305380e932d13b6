import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// A crash at every operation of a life of memos: what was deleted, brought back, purged and told
/// to a follower is as some call has left it, and goes on from there (promises P1, P2, P14).
@Suite struct MemoCrashTests {
  @Test(arguments: CrashVariant.allCases)
  func everyImageIsWhatACallHasLeft(variant: CrashVariant) throws {
    let seeds = Thoroughness.seeds(Thoroughness.count(quick: 1, push: 1, nightly: 40))
    for seed in seeds {
      let callCount = Thoroughness.count(quick: 40, push: 80, nightly: 120)
      try check(try MemoWorkload(seed: seed, callCount: callCount), variant)
    }
  }

  private func check(_ workload: MemoWorkload, _ variant: CrashVariant) throws {
    var imageCount = 0
    let count = workload.files.operationCount
    for boundary in Thoroughness.part(of: 0..<count + 1, step: 13, offset: variant.rawValue) {
      let image = workload.files.image(
        after: boundary, variant: variant, seed: workload.seed &+ UInt64(boundary))
      imageCount += 1
      do {
        try check(image, workload, boundary)
      } catch {
        Issue.record("workload \(workload.seed), \(variant), after \(boundary): \(error)")
        return
      }
    }
    ProofTally.count("T1", "images", imageCount)
  }

  private func check(
    _ image: MemoryFileSystem, _ workload: MemoWorkload, _ boundary: Int
  ) throws {
    let timeline = try MemoWorkload.open(image)
    let found = try MemoWorkload.content(of: timeline, since: workload.token)
    guard workload.allowed(after: boundary).contains(found) else {
      throw Problem("\(found.memos.count) memos and \(found.trash.count) deleted ones, of no call")
    }
    let report = try timeline.verify()
    guard report.isSound else { throw Problem("\(report.damage)") }
    // What is in the trash comes back as it was, where no memo has its id.
    for deleted in found.trash where try timeline.memo(for: deleted.memo.id) == nil {
      try timeline.restore(deleted.key)
      guard try timeline.memo(for: deleted.memo.id) == deleted.memo else {
        throw Problem("what came back is another memo")
      }
    }
    try timeline.emptyTrash()
    try timeline.purge()
    guard try timeline.deletedCount() == 0, try timeline.verify().isSound else {
      throw Problem("what was purged is there")
    }
    try timeline.close()
  }
}
