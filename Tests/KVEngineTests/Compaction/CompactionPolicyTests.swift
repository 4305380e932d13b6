import KVTestSupport
import Testing

@testable import KVEngine

/// Which segments are merged, and what that costs over time.
@Suite struct CompactionPolicyTests {
  /// 8 KiB, 32 KiB, 256 KiB, 1 MiB.
  private let policy = CompactionPolicy(segmentByteCount: 1 << 20)

  /// A segment that holds keys from `lower` to `upper` of each space.
  private func segment(
    _ number: UInt64, spaces: [UInt8] = [1], _ lower: UInt8 = 0, _ upper: UInt8 = 255,
    tier: Int = 0, byteCount: Int = 4096, sequences: ClosedRange<UInt64>? = nil,
    tombstones: Int = 0, since: Int64 = 0, isDense: Bool = false
  ) -> SegmentDescriptor {
    let sequences = sequences ?? number * 10...number * 10 + 9
    return SegmentDescriptor(
      number: number, identity: StoreIdentity(high: 1, low: number), byteCount: byteCount,
      footerChecksum: 0, tier: tier, isDense: isDense, tombstonesSince: since,
      lowestSequence: sequences.lowerBound, highestSequence: sequences.upperBound,
      spaces: spaces.map {
        SpaceBounds(
          code: $0, lower: [$0, lower], upper: [$0, upper], entryCount: 100,
          tombstoneCount: tombstones, change: 0, byteCount: byteCount / spaces.count)
      })
  }

  @Test func tiersFollowFromTheCap() {
    let standard = CompactionPolicy()
    #expect(standard.tierByteCounts == [256 << 10, 1 << 20, 8 << 20, 32 << 20])
    let sizes = [0, 8192, 8193, 32768, 32769, 262_144, 262_145, 1 << 20, 1 << 30]
    #expect(sizes.map { policy.tier(ofByteCount: $0) } == [0, 0, 1, 1, 2, 2, 3, 3, 3])
  }

  @Test func nothingIsDueInAStoreOfFewSegments() {
    #expect(policy.plan([], now: 0) == nil)
    #expect(policy.plan([], now: 0, isRequested: true) == nil)
    let mixed = (1...3).map { segment($0, spaces: [1, 2]) }
    let runs = (4...6).map { segment($0) } + (7...9).map { segment($0, spaces: [2]) }
    #expect(policy.plan(mixed + runs, now: 0) == nil)
  }

  @Test func fourFlushesBecomeOneRun() {
    let mixed = (1...4).map { segment($0, spaces: [1, 2]) }
    #expect(policy.plan(mixed, now: 0) == CompactionPlan(inputs: [1, 2, 3, 4], reason: .mixed))
    let many = (1...40).map { segment($0, spaces: [1, 2]) }
    #expect(policy.plan(many.reversed(), now: 0)?.inputs == Set(1...16), "the oldest first")
  }

  @Test(arguments: [(0, 4), (1, 8), (2, 4)]) func asManyRunsAsFitIntoTheNextTierBecomeOne(
    tier: Int, count: Int
  ) {
    let runs = (1...UInt64(count)).map { segment($0, tier: tier) }
    #expect(policy.plan(Array(runs.dropLast()), now: 0) == nil)
    let others = (50...52).map { segment($0, spaces: [2], tier: tier) }
    let plan = policy.plan(runs + others, now: 0)
    #expect(plan == CompactionPlan(inputs: Set(1...UInt64(count)), reason: .tier))
  }

  @Test func segmentsAtTheCapThatOverlapNothingRest() {
    let apart = (0..<40).map { segment(UInt64($0) + 1, UInt8($0) * 2, UInt8($0) * 2 + 1, tier: 3) }
    #expect(policy.plan(apart, now: .max / 2) == nil)
    let over = (0..<5).map { segment(100 + UInt64($0), 20, 21 + UInt8($0), tier: 3) }
    #expect(policy.plan(apart + over.dropFirst(2), now: 0) == nil, "four at one key")
    let plan = policy.plan(apart + over.dropFirst(), now: 0)
    #expect(plan?.reason == .overlap)
    #expect(plan?.inputs == [11, 101, 102, 103, 104])
  }

  @Test func tombstonesAreAReasonWhenManyOrOld() {
    let day: Int64 = 24 * 3600 * 1_000_000
    let below = segment(1, 0, 100, tier: 1)
    let apart = segment(2, 200, 220)
    let above = segment(4, 50, 60)
    let few = segment(3, 50, 150, tombstones: 12, since: 1000)
    let all = [below, apart, few, above]
    #expect(policy.plan(all, now: 1000 + day - 1) == nil)
    let plan = CompactionPlan(inputs: [1, 3], reason: .tombstones)
    #expect(policy.plan(all, now: 1000 + day) == plan)
    #expect(policy.plan(all, now: 1000 + day, barren: [3]) == nil)
    let many = segment(3, 50, 150, tombstones: 13, since: 1000)
    #expect(policy.plan([below, apart, many, above], now: 1000) == plan)
  }

  @Test func oneJobMergesABoundedNumber() throws {
    let below = (1...60).map { segment(UInt64($0), UInt8($0) * 4, UInt8($0) * 4 + 3, tier: 3) }
    let wide = segment(99, tombstones: 50, since: 1)
    let plan = try #require(policy.plan(below + [wide], now: 1))
    #expect(plan.inputs.count == policy.inputCount)
    #expect(plan.inputs.isSuperset(of: [1, 2, 3, 99]), "the lowest keys and the tombstones")
  }

  @Test func aRequestMergesWhatIsNotDue() {
    let mixed = [segment(1, spaces: [1, 2])]
    #expect(policy.plan(mixed, now: 0, isRequested: true)?.inputs == [1])
    let small = [segment(1), segment(2, tier: 2)]
    #expect(policy.plan(small, now: 0, isRequested: true)?.inputs == [1, 2])
    let sparse = segment(1, tier: 2, byteCount: policy.denseByteCount)
    #expect(
      policy.plan([sparse], now: 0, isRequested: true)
        == CompactionPlan(inputs: [1], reason: .requested))
    let dense = segment(1, tier: 2, byteCount: policy.denseByteCount, isDense: true)
    #expect(policy.plan([dense], now: 0, isRequested: true) == nil)
    let large = [segment(1, tier: 3), segment(2, tier: 3)]
    #expect(policy.plan(large, now: 0, isRequested: true)?.inputs == [1, 2])
  }

  @Test func aRequestMergesEachEntryOnce() {
    // Apart: 1 and 2 rest. Between the small ones: 3. Overlapping: 4 and 5 of the other space.
    let segments = [
      segment(1, 0, 9, tier: 3, isDense: true), segment(2, 90, 99, tier: 3, isDense: true),
      segment(3, 30, 39, tier: 3, isDense: true), segment(6, 20, 29), segment(7, 40, 49, tier: 2),
      segment(4, spaces: [2], 0, 20, tier: 3), segment(5, spaces: [2], 20, 30, tier: 3),
    ]
    let plan = policy.plan(segments, now: 0, isRequested: true)
    #expect(plan == CompactionPlan(inputs: [3, 4, 5, 6, 7], reason: .requested))
    let mixed = segment(8, spaces: [1, 2], 5, 6)
    #expect(
      policy.plan(segments + [mixed], now: 0, isRequested: true)?.inputs == [1, 3, 4, 5, 6, 7, 8])
  }

  @Test func aRequestLeavesWhatLiesFarBelowFewSmallSegments() {
    let large = segment(1, tier: 3, byteCount: 1 << 20, isDense: true)
    let small = [segment(2, 9, 20), segment(3, 15, 30)]
    let apart = CompactionPlan(inputs: [2, 3], reason: .requested)
    #expect(policy.plan([large] + small, now: 0, isRequested: true) == apart)
    #expect(policy.plan([large, small[0]], now: 0, isRequested: true) == nil)
    let more = segment(4, 0, 9, tier: 2, byteCount: 1 << 17, isDense: true)
    let plan = policy.plan([large, more] + small, now: 0, isRequested: true)
    #expect(plan?.inputs == [1, 2, 3, 4])
  }

  @Test func whatOneJobMadeIsNotMergedForOverlapsOfItsBounds() {
    let made = (1...6).map { segment($0, 0, 255, tier: 3, isDense: true) }
    var disjoint = DisjointSegments()
    disjoint.note(made, of: [], beside: [])
    #expect(policy.plan(made, now: 0, isRequested: true)?.inputs.count == 6)
    #expect(policy.plan(made, now: 0)?.reason == .overlap)
    #expect(policy.plan(made, now: 0, isRequested: true, disjoint: disjoint) == nil)
    #expect(policy.plan(made, now: 0, disjoint: disjoint) == nil)
    let other = segment(7, tier: 3, isDense: true)
    let plan = policy.plan(made + [other], now: 0, isRequested: true, disjoint: disjoint)
    #expect(plan?.inputs == Set(1...7))
  }

  @Test func aRequestMergesInPartsWhatIsTooMuchForOneJob() throws {
    let cap = policy.segmentByteCount
    let large = (1...17).map { segment($0, 0, UInt8($0), tier: 3, byteCount: cap) }
    let whole = try #require(policy.plan(Array(large.dropLast()), now: 0, isRequested: true))
    #expect(whole.inputs.count == 16)
    let part = try #require(policy.plan(large, now: 0, isRequested: true))
    #expect(part == CompactionPlan(inputs: Set(1...16), reason: .requested))
    let small = (1...65).map { segment($0) }
    #expect(policy.plan(small, now: 0, isRequested: true)?.inputs.count == 16)
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func excludedSegmentsAreNeverChosen(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let segments = (1...30 as ClosedRange<UInt64>).map { number -> SegmentDescriptor in
      let lower = UInt8.random(in: 0...200, using: &random)
      return segment(
        number, spaces: random.coin() ? [1] : random.coin() ? [2] : [1, 2], lower,
        UInt8.random(in: lower...255, using: &random), tier: Int.random(in: 0...3, using: &random),
        tombstones: random.coin() ? 30 : 0, since: 1)
    }
    let excluded = Set(segments.map(\.number).filter { _ in random.coin() })
    for isRequested in [false, true] {
      let plan = policy.plan(segments, now: 5, isRequested: isRequested, excluding: excluded)
      #expect(plan?.inputs.isDisjoint(with: excluded) ?? true, "seed \(seed)")
      let bound = isRequested ? 4 * policy.inputCount : policy.inputCount
      #expect((plan?.inputs.count ?? 1) <= bound, "seed \(seed)")
    }
  }
}
