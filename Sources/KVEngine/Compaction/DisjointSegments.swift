/// Pairs of segments that hold no key in common though their bounds say that they may.
///
/// Bounds are cut to 64 bytes, so neighbours whose border lies between longer keys seem to overlap.
/// What one merge made is in order, whatever the bounds say; and so it is beside a segment that was
/// apart from everything that went into it. Without that second rule, of three such neighbours each
/// merge of two would make the third one due, for ever.
package struct DisjointSegments: Sendable {
  private struct Pair: Hashable {
    let lower: UInt64
    let upper: UInt64

    init(_ first: SegmentDescriptor, _ second: SegmentDescriptor) {
      lower = min(first.number, second.number)
      upper = max(first.number, second.number)
    }
  }

  private var pairs: Set<Pair> = []

  /// Knows nothing yet.
  package init() {}

  /// Whether no key can be in both segments.
  package func contains(_ first: SegmentDescriptor, _ second: SegmentDescriptor) -> Bool {
    !first.overlaps(second) || pairs.contains(Pair(first, second))
  }

  /// Learns from a merge.
  ///
  /// - Parameters:
  ///   - output: What it made.
  ///   - inputs: What went into it; nothing is known about these any more.
  ///   - others: The segments that were there beside its inputs.
  package mutating func note(
    _ output: [SegmentDescriptor], of inputs: [SegmentDescriptor],
    beside others: [SegmentDescriptor]
  ) {
    let apart = others.filter { other in inputs.allSatisfy { contains($0, other) } }
    let gone = Set(inputs.map(\.number))
    pairs = pairs.filter { !gone.contains($0.lower) && !gone.contains($0.upper) }
    for (place, segment) in output.enumerated() {
      for other in output[..<place] + apart where segment.overlaps(other) {
        pairs.insert(Pair(segment, other))
      }
    }
  }
}
