/// The live segments of one moment, immutable.
package struct Version: Sendable {
  /// Newest first: descending by the highest sequence.
  package let segments: [SegmentHandle]
  private let changes: SpaceCounts
  /// Segments that no compaction has merged yet.
  package let flushCount: Int

  package init(_ segments: [SegmentHandle]) {
    self.segments = segments.sorted {
      $0.descriptor.highestSequence > $1.descriptor.highestSequence
    }
    var changes = SpaceCounts()
    for space in segments.flatMap(\.descriptor.spaces) {
      changes.add(space.change, toSpace: space.code)
    }
    self.changes = changes
    flushCount = segments.count(where: \.descriptor.isFlush)
  }

  /// Live keys of every space that counts them, with what is not in segments yet.
  package func liveCounts(tables: [MemTable], images: [LogImage]) -> SpaceCounts {
    var counts = changes
    for image in images { counts += image.changes }
    for table in tables { counts += table.changes }
    return counts
  }

  /// The segments that may hold a key of a range, with their bounds of its space, newest first.
  ///
  /// Keys include their space byte, and the range lies in the space of its lower bound. Segments
  /// without an entry newer than `oldest` are left out.
  package func candidates(
    from lower: [UInt8], upTo upper: [UInt8]?, newerThan oldest: SequenceNumber? = nil
  ) -> [(segment: SegmentHandle, bounds: SpaceBounds)] {
    guard let code = lower.first else { return [] }
    var candidates: [(segment: SegmentHandle, bounds: SpaceBounds)] = []
    for segment in segments {
      if let oldest, segment.descriptor.highestSequence <= oldest { break }
      guard let bounds = segment.descriptor.bounds(ofSpace: code),
        compareBytes(bounds.upper, lower) >= 0,
        upper.map({ compareBytes(bounds.lower, $0) < 0 }) ?? true
      else { continue }
      candidates.append((segment, bounds))
    }
    return candidates
  }
}
