@testable import KVEngine

/// A store of sizes only: what is flushed and merged is keys and byte counts, by the rules that a
/// real compaction keeps.
struct SimulatedStore {
  /// One entry: a key of a space, 8 bytes wide.
  struct Entry {
    let space: UInt8
    let key: UInt64
    var sequence: UInt64 = 0
    let byteCount: Int
    var isTombstone = false
  }

  private struct Segment {
    let descriptor: SegmentDescriptor
    let entries: [Entry]
  }

  let policy: CompactionPolicy
  private var segments: [Segment] = []
  private var sequence: UInt64 = 0
  private var nextNumber: UInt64 = 1
  private(set) var flushedByteCount = 0
  private(set) var mergedByteCount = 0
  private(set) var reasons: [CompactionPlan.Reason: Int] = [:]

  init(_ policy: CompactionPolicy) {
    self.policy = policy
  }

  var descriptors: [SegmentDescriptor] { segments.map(\.descriptor) }
  var byteCount: Int { descriptors.reduce(0) { $0 + $1.byteCount } }
  var tombstoneCount: Int { descriptors.reduce(0) { $0 + $1.tombstoneCount } }
  var entryCount: Int { descriptors.reduce(0) { $0 + $1.entryCount } }

  /// The largest number of segments that one key may be in.
  var depth: Int {
    var deepest = 0
    for code in Set(descriptors.flatMap { $0.spaces.map(\.code) }) {
      let bounds = descriptors.compactMap { $0.bounds(ofSpace: code) }
      for key in bounds.map(\.lower) {
        let covering = bounds.count { bound in
          compareBytes(bound.lower, key) <= 0 && compareBytes(key, bound.upper) <= 0
        }
        deepest = max(deepest, covering)
      }
    }
    return deepest
  }

  mutating func flush(_ entries: [Entry], now: Int64) {
    add(segment(Self.newest(number(entries)), tier: nil, since: now))
  }

  /// A batch too large for the log: a segment for each space.
  mutating func load(_ entries: [Entry], now: Int64) {
    let numbered = Self.newest(number(entries))
    for code in Set(numbered.map(\.space)).sorted() {
      add(segment(numbered.filter { $0.space == code }, tier: nil, since: now))
    }
  }

  private mutating func number(_ entries: [Entry]) -> [Entry] {
    entries.map { entry in
      sequence += 1
      var numbered = entry
      numbered.sequence = sequence
      return numbered
    }
  }

  private mutating func add(_ made: Segment) {
    segments.append(made)
    flushedByteCount += made.descriptor.byteCount
  }

  /// Compacts until nothing is due.
  ///
  /// - Returns: How many steps that took; `limit` when it does not end.
  mutating func settle(
    now: Int64, isRequested: Bool = false, excluding excluded: Set<UInt64> = [],
    limit: Int = 2000
  ) -> Int {
    var barren: Set<UInt64> = []
    for step in 0..<limit {
      guard
        let plan = policy.plan(
          descriptors, now: now, isRequested: isRequested, excluding: excluded, barren: barren)
      else { return step }
      merge(plan, now: now, barren: &barren)
    }
    return limit
  }

  private mutating func merge(_ plan: CompactionPlan, now: Int64, barren: inout Set<UInt64>) {
    let inputs = segments.filter { plan.inputs.contains($0.descriptor.number) }
    segments.removeAll { plan.inputs.contains($0.descriptor.number) }
    reasons[plan.reason, default: 0] += 1
    let outside = descriptors
    let kept = Self.newest(inputs.flatMap(\.entries)).filter { entry in
      !entry.isTombstone
        || outside.contains { other in
          guard let bounds = other.bounds(ofSpace: entry.space) else { return false }
          let key = Self.bytes(entry)
          return other.lowestSequence <= entry.sequence && compareBytes(key, bounds.lower) >= 0
            && compareBytes(bounds.upper, key) >= 0
        }
    }
    let since = inputs.map(\.descriptor.tombstonesSince).filter { $0 != 0 }.min() ?? now
    var made: [Segment] = []
    for code in Set(kept.map(\.space)) {
      let run = kept.filter { $0.space == code }
      let tier = policy.tier(ofByteCount: run.reduce(0) { $0 + $1.byteCount })
      var part: [Entry] = []
      var size = 0
      for entry in run {
        if size >= policy.segmentByteCount {
          made.append(segment(part, tier: tier, since: since))
          (part, size) = ([], 0)
        }
        part.append(entry)
        size += entry.byteCount
      }
      made.append(segment(part, tier: tier, since: since))
    }
    mergedByteCount += made.reduce(0) { $0 + $1.descriptor.byteCount }
    segments += made
    let before = inputs.reduce(0) { $0 + $1.descriptor.tombstoneCount }
    let after = made.reduce(0) { $0 + $1.descriptor.tombstoneCount }
    if plan.reason == .tombstones, after >= before {
      barren.formUnion(made.map(\.descriptor.number))
    }
  }

  private mutating func segment(_ entries: [Entry], tier: Int?, since: Int64) -> Segment {
    var spaces: [SpaceBounds] = []
    var start = 0
    while start < entries.count {
      let code = entries[start].space
      let end = entries[start...].firstIndex { $0.space != code } ?? entries.count
      let part = entries[start..<end]
      spaces.append(
        SpaceBounds(
          code: code, lower: Self.bytes(entries[start]), upper: Self.bytes(entries[end - 1]),
          entryCount: part.count, tombstoneCount: part.count { $0.isTombstone }, change: 0,
          byteCount: part.reduce(0) { $0 + $1.byteCount }))
      start = end
    }
    let byteCount = spaces.reduce(0) { $0 + $1.byteCount }
    defer { nextNumber += 1 }
    return Segment(
      descriptor: SegmentDescriptor(
        number: nextNumber, identity: StoreIdentity(high: 1, low: nextNumber),
        byteCount: byteCount, footerChecksum: 0, tier: tier ?? policy.tier(ofByteCount: byteCount),
        isDense: tier != nil && byteCount >= policy.denseByteCount,
        tombstonesSince: spaces.contains { $0.tombstoneCount > 0 } ? since : 0,
        lowestSequence: entries.map(\.sequence).min() ?? 0,
        highestSequence: entries.map(\.sequence).max() ?? 0, spaces: spaces),
      entries: entries)
  }

  /// Ascending by space and key, of each key the newest.
  private static func newest(_ entries: [Entry]) -> [Entry] {
    let sorted = entries.sorted {
      ($0.space, $0.key, $1.sequence) < ($1.space, $1.key, $0.sequence)
    }
    var kept: [Entry] = []
    kept.reserveCapacity(sorted.count)
    for entry in sorted {
      if let last = kept.last, last.space == entry.space, last.key == entry.key { continue }
      kept.append(entry)
    }
    return kept
  }

  private static func bytes(_ entry: Entry) -> [UInt8] {
    [entry.space] + (0..<8).map { UInt8(truncatingIfNeeded: entry.key >> (56 - 8 * $0)) }
  }
}
