/// What opening does with a store whose newest state is damaged or incomplete.
public enum DamagePolicy: Sendable, Equatable {
  /// Throws ``DatabaseError/damaged(_:)``.
  case report
  /// Opens the newest state that is complete, if there is one, and says so in
  /// ``Database/earlierState``.
  ///
  /// A state is complete when all segments that its MANIFEST names are there in their full length
  /// and its log begins. A log with damage inside counts up to there. Any copy of a store's folder
  /// that was made file by file opens in this way, also one that was made while the store was
  /// written to, unless making it took more than ten minutes.
  case openEarlierState
}

/// What is known of a store that was opened at an earlier state than its newest one.
public struct EarlierState: Sendable, Equatable {
  /// What keeps the newest state from being opened.
  public let corruption: Corruption
  /// The generation that was opened: the number of its MANIFEST, which counts from 1.
  public let generation: UInt64
  /// The highest generation that the folder shows, at least the one that was opened.
  public let newestGeneration: UInt64
  /// Sequences of operations that were written and are not in the state.
  ///
  /// `nil` when no file shows any. There may have been later ones that no file shows.
  public let missingSequences: ClosedRange<UInt64>?

  package init(
    corruption: Corruption, generation: UInt64, newestGeneration: UInt64,
    missingSequences: ClosedRange<UInt64>?
  ) {
    self.corruption = corruption
    self.generation = generation
    self.newestGeneration = newestGeneration
    self.missingSequences = missingSequences
  }
}

extension EarlierState: CustomStringConvertible {
  /// One line: which state was opened, what is missing, and why.
  public var description: String {
    let newest = newestGeneration > generation ? " of \(newestGeneration)" : ""
    let missing = missingSequences.map { " without sequences \($0.lowerBound) to \($0.upperBound)" }
    return "generation \(generation)\(newest)\(missing ?? "") is open, since \(corruption)"
  }
}
