/// Where in a text each piece of its folded form comes from.
///
/// Most of a text keeps its lengths, so only where that is not so there is an entry.
struct OffsetMap {
  private struct Entry {
    let folded: Int
    let original: Int
    /// Whether the bytes up to the next entry belong together; else each stands for itself.
    let isPiece: Bool
  }

  private var entries: [Entry] = []

  /// Begins anew.
  mutating func reset() {
    entries.removeAll(keepingCapacity: true)
  }

  /// Notes that bytes of the text were folded to some others, or to none.
  mutating func addPiece(folded: Range<Int>, original: Range<Int>) {
    if let last = entries.last, last.folded == folded.lowerBound, !last.isPiece {
      entries.removeLast()
    }
    entries.append(
      Entry(folded: folded.lowerBound, original: original.lowerBound, isPiece: true))
    entries.append(
      Entry(folded: folded.upperBound, original: original.upperBound, isPiece: false))
  }

  /// Forgets what was folded behind an offset, at which a piece is added next.
  ///
  /// One that began there stays, and is hidden by the next.
  mutating func remove(behind folded: Int) {
    while let last = entries.last, last.folded > folded { entries.removeLast() }
  }

  /// The bytes of the text that some of its folded form come from: whole scalars.
  ///
  /// - Complexity: O(log pieces).
  func original(of folded: Range<Int>) -> Range<Int> {
    let lower = entry(at: folded.lowerBound).map { entry in
      entry.isPiece ? entry.original : entry.original + folded.lowerBound - entry.folded
    }
    guard !folded.isEmpty else {
      let place = lower ?? folded.lowerBound
      return place..<place
    }
    let index = index(at: folded.upperBound - 1)
    var upper = folded.upperBound
    if let index {
      let entry = entries[index]
      // Behind each piece is an entry.
      upper =
        entry.isPiece
        ? entries[index + 1].original : entry.original + folded.upperBound - entry.folded
    }
    return (lower ?? folded.lowerBound)..<upper
  }

  private func entry(at folded: Int) -> Entry? { index(at: folded).map { entries[$0] } }

  /// The last entry that is not behind an offset; `nil` where offsets are those of the text.
  private func index(at folded: Int) -> Int? {
    var range = 0..<entries.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if entries[middle].folded <= folded {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return range.lowerBound == 0 ? nil : range.lowerBound - 1
  }
}
