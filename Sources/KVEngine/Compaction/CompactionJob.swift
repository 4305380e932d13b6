// Merges segments into new ones. Holds no lock and changes no state: until its output is published,
// it is files that no MANIFEST names.
//
// Invariants of what goes out:
//  R1  of each key, the newest entry of the inputs; readers of older ones hold the inputs. An older
//      one goes out as well where one entry cannot carry both changes of the count;
//  R2  a tombstone goes only if no segment outside the inputs can hold an older entry of its key,
//      and if the changes it stands for cancel out, so that no count moves, and it hides nothing
//      here, and no snapshot is older: a batch may demand that nothing was written since;
//  R3  a sequence is dropped only if no segment outside the inputs overlaps the output's space and
//      no snapshot is older than it: then nothing is left that it could be compared with;
//  R4  a segment never holds two spaces, and never more than the cap and one entry.

package struct CompactionJob {
  package let inputs: [SegmentHandle]
  package let reason: CompactionPlan.Reason
  /// The writer's ``Writer/session`` in which the inputs were live.
  package let session: UInt64
  /// The live segments that are not merged.
  package let outside: [SegmentDescriptor]
  package let policy: CompactionPolicy
  package let options: DatabaseOptions
  /// Sequences up to this one may be dropped, and tombstones (R2, R3).
  package let horizon: SequenceNumber
  /// Wall clock, microseconds since 1970.
  package let now: Int64
  /// Asked now and then; `true` ends the job.
  package let isCancelled: @Sendable () -> Bool

  package init(
    inputs: [SegmentHandle], reason: CompactionPlan.Reason, session: UInt64,
    outside: [SegmentDescriptor], policy: CompactionPolicy,
    options: DatabaseOptions, horizon: SequenceNumber, now: Int64,
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    self.inputs = inputs
    self.reason = reason
    self.session = session
    self.outside = outside
    self.policy = policy
    self.options = options
    self.horizon = horizon
    self.now = now
    self.isCancelled = isCancelled
  }

  /// Writes the merged segments, durable and read back.
  ///
  /// - Complexity: O(*n* log *s*) for *n* entries of *s* segments.
  package func run(_ sink: inout some SegmentSink) throws(JobFailure) -> [SegmentDescriptor] {
    let byteCount = inputs.reduce(0) { $0 + $1.descriptor.byteCount }
    var output = SegmentOutput(
      .replacement(isDense: byteCount >= policy.denseByteCount),
      segmentByteCount: policy.segmentByteCount, options: options)
    let codes = Set(inputs.flatMap { $0.descriptor.spaces.map(\.code) }).sorted()
    var descriptors: [SegmentDescriptor] = []
    for code in codes {
      let run = try merge(space: code, into: &output, &sink)
      let tier = policy.tier(ofByteCount: run.reduce(0) { $0 + $1.byteCount })
      descriptors += run.map {
        SegmentDescriptor(
          $0, tier: tier, isDense: output.isDense, tombstonesSince: tombstonesSince(of: $0))
      }
    }
    return descriptors
  }

  /// The oldest time that an input gives; its own creation for none.
  private func tombstonesSince(of summary: SegmentSummary) -> Int64 {
    if summary.spaces.allSatisfy({ $0.tombstoneCount == 0 }) { return 0 }
    return inputs.map(\.descriptor.tombstonesSince).filter { $0 != 0 }.min() ?? now
  }

  private func merge(
    space code: UInt8, into output: inout SegmentOutput, _ sink: inout some SegmentSink
  ) throws(JobFailure) -> [SegmentSummary] {
    let sources = inputs.compactMap { segment in
      segment.descriptor.bounds(ofSpace: code).map {
        MergeSource.segment(segment, bounds: $0)
      }
    }
    let others = outside.filter { $0.bounds(ofSpace: code) != nil }
    let isBottom = others.allSatisfy { other in
      inputs.allSatisfy { !$0.descriptor.overlaps(other, inSpace: code) }
    }
    var entries = NewestEntries(MergingCursor(sources), space: code)
    var summaries: [SegmentSummary] = []
    var count = 0
    while var tag = try entries.next() {
      count += 1
      if count % 256 == 0, isCancelled() { throw .input(.cancelled) }
      if !entries.hasOlder {
        if canDrop(tag, key: entries.key, others: others) { continue }
        let isComparable = !isBottom || (tag.sequence > horizon && !isPlanted(.lostSequence))
        if tag.kind.isPut, !isComparable { tag = EntryTag(sequence: 0, kind: tag.kind) }
      }
      if let full = try output.append(entries.key, tag, entries.value, &sink) {
        summaries.append(full)
      }
    }
    if let last = try output.finish() { summaries.append(last) }
    return summaries
  }

  /// Rule R2.
  private func canDrop(
    _ tag: EntryTag, key: RawSpan, others: [SegmentDescriptor]
  ) -> Bool {
    guard tag.kind == .tombstone, tag.sequence <= horizon || isPlanted(.unheldTombstone)
    else { return false }
    if isPlanted(.earlyTombstone) { return true }
    return others.allSatisfy { other in
      guard let bounds = other.bounds(ofSpace: key.byte(at: 0)) else { return true }
      return other.lowestSequence > tag.sequence || compareBytes(key, bounds.lower) < 0
        || compareBytes(key, bounds.upper) > 0
    }
  }
}
