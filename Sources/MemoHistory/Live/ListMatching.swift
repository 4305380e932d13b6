// Which item of an old list is which of a new one. Memos seldom move, so the walk that finds that
// out compares neighbours; only what it passed over is hashed.

/// What a walk through two lists found.
private struct ListWalk {
  /// How far to look for the place where the lists agree again: a few memos deleted side by side.
  private static let reach = 3

  /// For each new index the old one or ``ListAlignment/absent``.
  private(set) var sources: [Int]
  /// Indexes of both lists without a partner so far, ascending.
  private(set) var passedOld: [Int] = []
  private(set) var passedNew: [Int] = []

  /// Finds most pairs by one comparison each.
  ///
  /// Where the lists differ the walk looks whether the next old items are gone, and else takes the
  /// new item for an inserted one. A wrong guess costs time and nothing else.
  init(oldCount: Int, newCount: Int, isSame: (_ old: Int, _ new: Int) -> Bool) {
    sources = [Int](repeating: ListAlignment.absent, count: newCount)
    var next = 0
    for index in 0..<newCount {
      let end = min(next + Self.reach + 1, oldCount)
      var match = next
      while match < end && !isSame(match, index) { match += 1 }
      if match < end {
        if match > next { passedOld.append(contentsOf: next..<match) }
        sources[index] = match
        next = match + 1
      } else {
        passedNew.append(index)
      }
    }
    passedOld.append(contentsOf: next..<oldCount)
  }
}

extension ListAlignment {
  /// For each new index the old index of the same id, or ``absent``; no old index comes twice.
  ///
  /// - Complexity: O(*n*) comparisons, and hashing of the items that a walk passes over.
  static func sources<ID: Hashable>(from old: [ID], to new: [ID]) -> [Int] {
    let walk = withComparison(of: old, new) { isSame in
      ListWalk(oldCount: old.count, newCount: new.count, isSame: isSame)
    }
    guard !walk.passedOld.isEmpty, !walk.passedNew.isEmpty else { return walk.sources }
    var sources = walk.sources
    var positions: [ID: Int] = [:]
    positions.reserveCapacity(walk.passedOld.count)
    for position in walk.passedOld.reversed() { positions[old[position]] = position }
    for index in walk.passedNew {
      if let match = positions.removeValue(forKey: new[index]) { sources[index] = match }
    }
    return sources
  }

  /// Indexes of new items that are not equal to the old ones they come from.
  static func changes<Item: Equatable>(
    from old: [Item], to new: [Item], _ sources: [Int]
  ) -> [Int] {
    withComparison(of: old, new) { isSame in
      sources.indices.filter { sources[$0] != absent && !isSame(sources[$0], $0) }
    }
  }

  /// Gives `body` a comparison of old with new items by their indexes, which must exist.
  ///
  /// It compares items where they lie: to copy one out of its array costs more than to compare it,
  /// and generic code that is called from another module cannot know better.
  private static func withComparison<Item: Equatable, Result>(
    of old: [Item], _ new: [Item], _ body: ((_ old: Int, _ new: Int) -> Bool) -> Result
  ) -> Result {
    unsafe old.withUnsafeBufferPointer { old in
      unsafe new.withUnsafeBufferPointer { new in
        body { oldIndex, newIndex in
          guard let old = old.baseAddress, let new = new.baseAddress else { return false }
          return unsafe old[oldIndex] == new[newIndex]
        }
      }
    }
  }
}
