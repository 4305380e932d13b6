/// The steps from one list to another, found from where each new item was before.
struct ListAlignment {
  /// The source of an item that was not there before.
  static let absent = -1

  /// Indexes of the old list, ascending.
  private(set) var removals: [Int] = []
  /// Indexes of the new list, ascending.
  private(set) var insertions: [Int] = []
  /// By ascending target, as few as possible.
  private(set) var moves: [HistoryMove] = []

  /// Finds the steps.
  ///
  /// - Parameters:
  ///   - sources: For each new index the old one or ``absent``; no old index twice.
  ///   - oldCount: How many items the old list has.
  /// - Complexity: O(*n*) when nothing moved, else O(*n* log *n*).
  init(sources: [Int], oldCount: Int) {
    let kept = sources.indices.filter { sources[$0] != Self.absent }
    if kept.count < sources.count {
      insertions = sources.indices.filter { sources[$0] == Self.absent }
    }
    var next = 0
    for index in kept where sources[index] >= next {
      if sources[index] > next { removals.append(contentsOf: next..<sources[index]) }
      next = sources[index] + 1
    }
    removals.append(contentsOf: next..<oldCount)
    // What was skipped and still is there has moved; the rest was skipped because it is gone.
    guard removals.count + kept.count != oldCount else { return }

    var isKept = [Bool](repeating: false, count: oldCount)
    for index in kept { isKept[sources[index]] = true }
    removals = isKept.indices.filter { !isKept[$0] }
    let stays = Self.longestAscent(of: kept.map { sources[$0] })
    var staying = stays[...]
    for (position, index) in kept.enumerated() {
      if staying.first == position {
        staying.removeFirst()
      } else {
        moves.append(HistoryMove(source: sources[index], target: index))
      }
    }
  }

  /// Positions of a longest ascending part of distinct numbers, ascending: whoever is not in it has
  /// to move.
  ///
  /// - Complexity: O(*n* log *n*).
  /// - Source: M. L. Fredman, "On computing the length of longest increasing subsequences" (1975).
  private static func longestAscent(of numbers: [Int]) -> [Int] {
    // `ends[k]` is where the best ascent of k + 1 numbers ends: the one with the smallest end.
    var ends: [Int] = []
    var predecessors = [Int](repeating: absent, count: numbers.count)
    for (position, number) in numbers.enumerated() {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { predecessors[position] = ends[low - 1] }
      if low == ends.count { ends.append(position) } else { ends[low] = position }
    }
    var ascent: [Int] = []
    var position = ends.last ?? absent
    while position != absent {
      ascent.append(position)
      position = predecessors[position]
    }
    return ascent.reversed()
  }
}
