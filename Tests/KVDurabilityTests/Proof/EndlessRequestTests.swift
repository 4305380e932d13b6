import Testing

@testable import KVEngine

/// A request to merge everything has to come to an end.
@Suite struct EndlessRequestTests {
  /// A segment of one space at the cap, so large that a request has to merge in parts.
  private func segment(_ number: UInt64, _ bounds: ClosedRange<UInt8>) -> SegmentDescriptor {
    SegmentDescriptor(
      number: number, identity: .random(), byteCount: 20 << 10, footerChecksum: 0, tier: 3,
      isDense: true, lowestSequence: 1, highestSequence: number,
      spaces: [
        SpaceBounds(
          code: 64, lower: [64, bounds.lowerBound], upper: [64, bounds.upperBound], entryCount: 9,
          tombstoneCount: 0, change: 0, byteCount: 20 << 10)
      ])
  }

  /// Bounds of long keys are cut in the MANIFEST, so neighbours seem to overlap.
  ///
  /// Only what one job made is known not to. Of three in a row each merge of two, which changes
  /// nothing, makes the third one due.
  /// Found by the model, with `Database.compact()` that did not return.
  @Test func aRequestInPartsEndsThoughBoundsWereCut() {
    let policy = CompactionPolicy(segmentByteCount: 1024)
    var live = [segment(1, 0...2), segment(2, 2...4), segment(3, 4...6)]
    var jobs: [UInt64: UInt64] = [1: 1, 2: 1, 3: 3]
    var next: UInt64 = 4
    var jobCount = 0
    while jobCount < 100,
      let plan = policy.plan(live, now: 0, isRequested: true, jobs: jobs)
    {
      jobCount += 1
      let name = next
      live = live.map { old in
        guard plan.inputs.contains(old.number), let bounds = old.spaces.first else { return old }
        jobs[old.number] = nil
        jobs[next] = name
        defer { next += 1 }
        return segment(next, bounds.lower[1]...bounds.upper[1])
      }
    }
    withKnownIssue("two jobs take turns") { #expect(jobCount < 100) }
  }
}
