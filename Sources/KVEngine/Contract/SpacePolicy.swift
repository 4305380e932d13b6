/// What flush and compaction have to know about a space: the one seam through which the layers
/// above reach into them.
package struct SpacePolicy: Sendable, Equatable {
  /// Which part of a key the bloom filter of a segment holds.
  package enum Filter: Sendable, Equatable {
    /// No filter.
    case none
    /// The whole key.
    case wholeKey
    /// The first bytes of each key behind the space byte; shorter keys count whole.
    case prefix(Int)
  }

  package var filter: Filter

  package init(filter: Filter = .none) {
    self.filter = filter
  }

  /// What holds for a space that nobody declared: user spaces look keys up whole.
  package static func standard(code: UInt8) -> SpacePolicy {
    SpacePolicy(filter: code >= Limits.Space.firstUserCode ? .wholeKey : .none)
  }

  /// The part of an internal key (with its space byte) that the filter holds, `nil` without filter
  /// or when `key` is shorter than the filter's prefix and can therefore match many entries.
  package func filterRange(ofKeyByteCount count: Int) -> Range<Int>? {
    switch filter {
    case .none: nil
    case .wholeKey: 0..<count
    case .prefix(let length): 0..<min(count, length + 1)
    }
  }
}
