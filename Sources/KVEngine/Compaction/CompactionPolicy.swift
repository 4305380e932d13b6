// Which segments to merge next: a pure function of what a MANIFEST says and of the time.
//
// Any set of segments may be merged at any time: entries keep their sequences, and a read takes the
// newest entry whatever segment it is in. So the policy is only about cost, and it has two ends in
// view: the number of segments that one read may have to look at (at most 20), and the bytes
// written for it.
//
//   mixed          what a flush makes: all spaces in one segment; 4 of them become one run
//   tier 0 .. 2    runs of one space, by size; as many as fit into the next size become one run
//   tier 3         segments at the cap; memo segments there overlap nothing and rest for ever;
//                  where 5 of them overlap at one key, those become one run
//   by request     everything that can be denser, or fewer, in one merge
//
// Reads: 3 mixed + 3 + 7 + 3 in the small tiers + 4 at the cap = 20.
//
// Source: size-tiered compaction as in Cassandra and RocksDB's universal style; ours judges overlap
// from the bounds, per space, so that what lies apart in time is never merged for order's sake.

/// What to merge, and why.
package struct CompactionPlan: Equatable, Sendable {
  package enum Reason: String, Sendable {
    case mixed, tier, overlap, tombstones, density, requested
  }

  /// Numbers of the segments to merge.
  package let inputs: Set<UInt64>
  package let reason: Reason
}

package struct CompactionPolicy: Sendable {
  /// Bytes up to which a run belongs to each tier; the last is the cap of a segment.
  package var tierByteCounts: [Int]
  /// Segments that may overlap at one key among those at the cap.
  package var overlapCount = 4
  /// A segment with more than one tombstone in so many entries is merged.
  package var tombstoneShare = 8
  /// A segment with tombstones older than this is merged, in microseconds.
  package var tombstoneAge: Int64 = 24 * 3600 * 1_000_000
  /// Segments from this size on are written densely: slow compression with a dictionary.
  package var denseByteCount: Int
  /// Segments that one job may merge; bounds the free space it needs.
  package var inputCount = 16
  /// Bytes that a request may merge at once, of up to four times as many segments.
  package var wholeByteCount: Int

  /// Makes the policy for a cap, from which the smaller tiers follow.
  ///
  /// With 32 MiB they are 256 KiB, 1 MiB and 8 MiB.
  package init(segmentByteCount cap: Int = Limits.Segment.defaultByteCount) {
    tierByteCounts = [cap / 128, cap / 32, cap / 4, cap]
    denseByteCount = cap / 32
    wholeByteCount = inputCount * cap
  }

  /// The cap of one segment, in bytes.
  package var segmentByteCount: Int { tierByteCounts[tierByteCounts.count - 1] }

  /// The tier of a run of that many bytes.
  package func tier(ofByteCount byteCount: Int) -> Int {
    tierByteCounts.firstIndex { byteCount <= $0 } ?? tierByteCounts.count - 1
  }

  /// With so many flushes waiting, a long merge lets one of these pass.
  package static let crowdedCount = 4
  /// With so many flushes waiting, whoever writes more of them merges some first.
  package static let fullCount = 6

  /// Whether a merge takes nothing but what flushes made, so that it is done soon.
  package func isRelief(_ plan: CompactionPlan, of segments: [SegmentDescriptor]) -> Bool {
    segments.allSatisfy { !plan.inputs.contains($0.number) || $0.isFlush }
  }

  /// How many runs of a tier become one of the next.
  private func fanOut(_ tier: Int) -> Int {
    max(2, tierByteCounts[tier + 1] / tierByteCounts[tier])
  }

  /// What to merge next; `nil` when everything is in order.
  ///
  /// A request merges everything that can be, not only what is due. `excluded` are segments that
  /// must not be touched, for example damaged ones; `barren` those not to merge for the sake of
  /// their tombstones, since it was of no use; `disjoint` says which do not overlap though their
  /// bounds say so.
  ///
  /// - Complexity: O(*s*^2) for *s* segments of a space.
  package func plan(
    _ segments: [SegmentDescriptor], now: Int64, isRequested: Bool = false,
    excluding excluded: Set<UInt64> = [], barren: Set<UInt64> = [],
    disjoint: DisjointSegments = DisjointSegments()
  ) -> CompactionPlan? {
    let candidates = segments.filter { !excluded.contains($0.number) }
    if isRequested, let plan = wholePlan(candidates, disjoint) { return plan }
    let mixed = candidates.filter(\.isMixed)
    if mixed.count >= (isRequested ? 1 : fanOut(0)) {
      return plan(mixed, isRequested ? .requested : .mixed)
    }
    var codes: Set<UInt8> = []
    for segment in candidates { codes.formUnion(segment.spaces.map(\.code)) }
    for code in codes.sorted() {
      let own = candidates.filter { !$0.isMixed && $0.spaces[0].code == code }
      if let plan = tierPlan(own, isRequested: isRequested) { return plan }
      if let plan = overlapPlan(own, disjoint, isRequested: isRequested) { return plan }
      if isRequested, let sparse = own.first(where: isSparse) { return plan([sparse], .density) }
    }
    return tombstonePlan(candidates, barren: barren, now: now, isRequested: isRequested)
  }

  /// Oldest first, so that what is merged lies together in time.
  private func plan(
    _ segments: [SegmentDescriptor], _ reason: CompactionPlan.Reason
  ) -> CompactionPlan {
    let oldest = segments.sorted { $0.highestSequence < $1.highestSequence }.prefix(inputCount)
    return CompactionPlan(inputs: Set(oldest.map(\.number)), reason: reason)
  }

  /// Everything that a request has to merge, in one job unless that is too much for one: merged in
  /// parts, the same entries would be compressed several times.
  ///
  /// Of each space that is what is sparse, overlaps, or is small, and all that lies between. Small
  /// segments stay among themselves while all below them is eight times as much.
  private func wholePlan(
    _ segments: [SegmentDescriptor], _ disjoint: DisjointSegments
  ) -> CompactionPlan? {
    var inputs: Set<SegmentDescriptor> = []
    for code in Set(segments.flatMap { $0.spaces.map(\.code) }) {
      let own = segments.filter { $0.bounds(ofSpace: code) != nil }
      let small = own.filter { $0.isMixed || isSmall($0) }
      let large = own.filter { !$0.isMixed && !isSmall($0) }
      var due = large.filter { segment in
        isSparse(segment)
          || large.contains { $0 != segment && !disjoint.contains($0, segment) }
      }
      if small.count > 1 || small.contains(where: { $0.isMixed || isSparse($0) }) {
        inputs.formUnion(small)
        let below = between(small, of: large, inSpace: code)
        if byteCount(small, code) * 8 >= byteCount(below, code) || !due.isEmpty { due += small }
      }
      inputs.formUnion(between(due, of: own, inSpace: code))
    }
    guard !inputs.isEmpty, inputs.count <= 4 * inputCount,
      inputs.reduce(0, { $0 + $1.byteCount }) <= wholeByteCount
    else { return nil }
    return CompactionPlan(inputs: Set(inputs.map(\.number)), reason: .requested)
  }

  private func byteCount(_ segments: [SegmentDescriptor], _ code: UInt8) -> Int {
    segments.reduce(0) { $0 + ($1.bounds(ofSpace: code)?.byteCount ?? 0) }
  }

  /// The segments with a key from the first to the last one of some.
  private func between(
    _ some: [SegmentDescriptor], of segments: [SegmentDescriptor], inSpace code: UInt8
  ) -> [SegmentDescriptor] {
    let bounds = some.compactMap { $0.bounds(ofSpace: code) }
    guard let lower = bounds.map(\.lower).min(by: { compareBytes($0, $1) < 0 }),
      let upper = bounds.map(\.upper).max(by: { compareBytes($0, $1) < 0 })
    else { return [] }
    return segments.filter { $0.overlaps(from: lower, to: upper, inSpace: code) }
  }

  private func isSmall(_ segment: SegmentDescriptor) -> Bool {
    segment.tier < tierByteCounts.count - 1
  }

  private func isSparse(_ segment: SegmentDescriptor) -> Bool {
    !segment.isDense && segment.byteCount >= denseByteCount
  }

  private func tierPlan(
    _ segments: [SegmentDescriptor], isRequested: Bool
  ) -> CompactionPlan? {
    let last = tierByteCounts.count - 1
    for tier in 0..<last {
      let runs = segments.filter { $0.tier == tier }
      if runs.count >= fanOut(tier) { return plan(runs, .tier) }
    }
    guard isRequested else { return nil }
    let small = segments.filter(isSmall)
    return small.count > 1 ? plan(small, .requested) : nil
  }

  /// The segments that cover the key which most of them cover, without those that surely share it
  /// with none of the others.
  private func overlapPlan(
    _ segments: [SegmentDescriptor], _ disjoint: DisjointSegments, isRequested: Bool
  ) -> CompactionPlan? {
    let large = segments.filter { !isSmall($0) }
    var deepest: [SegmentDescriptor] = []
    for segment in large {
      let key = segment.spaces[0].lower
      let covering = large.filter {
        compareBytes($0.spaces[0].lower, key) <= 0 && compareBytes(key, $0.spaces[0].upper) <= 0
      }
      let doubtful = covering.filter { one in
        covering.contains { $0 != one && !disjoint.contains($0, one) }
      }
      if doubtful.count > deepest.count { deepest = doubtful }
    }
    guard deepest.count > (isRequested ? 1 : overlapCount) else { return nil }
    return plan(deepest, isRequested ? .requested : .overlap)
  }

  /// A segment that should lose its tombstones, with what lies below it: if that is too much, with
  /// the lowest keys of it, so that at least the tombstones among these go.
  private func tombstonePlan(
    _ segments: [SegmentDescriptor], barren: Set<UInt64>, now: Int64, isRequested: Bool
  ) -> CompactionPlan? {
    for segment in segments where !barren.contains(segment.number) {
      let tombstones = segment.tombstoneCount
      if tombstones == 0 { continue }
      let isOld = now - segment.tombstonesSince >= tombstoneAge
      guard isRequested || isOld || tombstones * tombstoneShare > segment.entryCount else {
        continue
      }
      let below = segments.filter {
        $0.number != segment.number && $0.lowestSequence < segment.highestSequence
          && $0.overlaps(segment)
      }.sorted { compareBytes($0.spaces[0].upper, $1.spaces[0].upper) < 0 }
      return CompactionPlan(
        inputs: Set([segment.number] + below.prefix(inputCount - 1).map(\.number)),
        reason: .tombstones)
    }
    return nil
  }
}

extension SegmentDescriptor {
  /// Whether it holds several spaces, as a flush writes them.
  package var isMixed: Bool { spaces.count > 1 }

  /// Whether no compaction has merged it yet, as far as can be told.
  package var isFlush: Bool { isMixed || tier == 0 }
  package var entryCount: Int { spaces.reduce(0) { $0 + $1.entryCount } }
  package var tombstoneCount: Int { spaces.reduce(0) { $0 + $1.tombstoneCount } }

  /// Whether some key may be in both.
  package func overlaps(_ other: SegmentDescriptor) -> Bool {
    spaces.contains { overlaps(other, inSpace: $0.code) }
  }

  /// Whether some key of a space may be in both.
  func overlaps(_ other: SegmentDescriptor, inSpace code: UInt8) -> Bool {
    guard let theirs = other.bounds(ofSpace: code) else { return false }
    return overlaps(from: theirs.lower, to: theirs.upper, inSpace: code)
  }

  /// Whether some key of a space may be from `lower` to `upper`.
  func overlaps(from lower: [UInt8], to upper: [UInt8], inSpace code: UInt8) -> Bool {
    guard let mine = bounds(ofSpace: code) else { return false }
    return compareBytes(mine.lower, upper) <= 0 && compareBytes(lower, mine.upper) <= 0
  }
}
