import Testing

@testable import KVEngine

/// What bounds say of keys that are longer than they are.
@Suite struct DisjointSegmentsTests {
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

  /// Three neighbours that seem to overlap, two of them made by one merge: found by random calls,
  /// with a `compact()` that did not return.
  @Test func aRequestInPartsEndsThoughBoundsWereCut() {
    let policy = CompactionPolicy(segmentByteCount: 1024)
    var live = [segment(1, 0...2), segment(2, 2...4), segment(3, 4...6)]
    var disjoint = DisjointSegments()
    disjoint.note([live[0], live[1]], of: [], beside: [])
    var next: UInt64 = 4
    var jobCount = 0
    while jobCount < 100,
      let plan = policy.plan(live, now: 0, isRequested: true, disjoint: disjoint)
    {
      jobCount += 1
      let inputs = live.filter { plan.inputs.contains($0.number) }
      let others = live.filter { !plan.inputs.contains($0.number) }
      let output = inputs.map { old in
        defer { next += 1 }
        return segment(next, old.spaces[0].lower[1]...old.spaces[0].upper[1])
      }
      disjoint.note(output, of: inputs, beside: others)
      live = others + output
    }
    #expect(jobCount == 1, "what was not known is looked at once")
  }

  /// A merge tells nothing about what only overlapped one of its inputs.
  @Test func whatOverlappedAnInputMayOverlapTheOutput() {
    let (first, second) = (segment(1, 0...4), segment(2, 5...9))
    let (outside, away) = (segment(3, 3...6), segment(4, 8...9))
    var disjoint = DisjointSegments()
    disjoint.note([second, away], of: [], beside: [])
    let output = [segment(5, 0...5), segment(6, 5...9)]
    disjoint.note(output, of: [first, second], beside: [outside, away])
    #expect(disjoint.contains(output[0], output[1]))
    #expect(disjoint.contains(output[1], away))
    #expect(!disjoint.contains(output[0], outside))
    #expect(!disjoint.contains(second, away), "what is gone is forgotten")
  }
}
