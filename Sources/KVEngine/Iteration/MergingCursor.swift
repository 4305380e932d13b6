// Merges sorted sources into one, forward and backward.
//
// A binary heap of the sources that have a position; its top is the current entry. In forward
// direction the heap's order is the internal key order, backward its mirror. A provisional top is
// resolved (its segment opened) and sifted again until the top is a real entry.

/// Every version of every key of one space, in internal key order.
package final class MergingCursor {
  private let sources: [MergeSource]
  /// Indices of the sources that have a position; a binary heap.
  private var heap: [Int] = []
  private var isForward = true

  package init(_ sources: [MergeSource]) {
    self.sources = sources
  }

  package var isValid: Bool { !heap.isEmpty }

  /// The entry at the position.
  ///
  /// There must be one.
  package var current: MergeSource { sources[heap[0]] }

  package func seek(
    toFirstAtOrAfter key: [UInt8], sequence: SequenceNumber
  ) throws(DatabaseError) {
    isForward = true
    for source in sources { try source.seek(toFirstAtOrAfter: key, sequence: sequence) }
    try rebuild()
  }

  package func seek(toLastBefore key: [UInt8]) throws(DatabaseError) {
    isForward = false
    for source in sources { try source.seek(toLastBefore: key) }
    try rebuild()
  }

  /// Goes on in the direction of the last seek.
  ///
  /// - Complexity: O(log *s*) comparisons for *s* sources that have a position.
  package func advance() throws(DatabaseError) {
    let top = sources[heap[0]]
    if isForward { try top.next() } else { try top.previous() }
    if top.isValid { siftDown(0) } else { removeTop() }
    try resolveTop()
  }

  private func rebuild() throws(DatabaseError) {
    heap = sources.indices.filter { sources[$0].isValid }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    try resolveTop()
  }

  private func resolveTop() throws(DatabaseError) {
    while let first = heap.first, sources[first].isProvisional {
      try sources[first].resolve()
      if sources[first].isValid { siftDown(0) } else { removeTop() }
    }
  }

  private func removeTop() {
    let last = heap.removeLast()
    if heap.isEmpty { return }
    heap[0] = last
    siftDown(0)
  }

  private func siftDown(_ start: Int) {
    var parent = start
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, precedes(heap[child + 1], heap[child]) { child += 1 }
      guard precedes(heap[child], heap[parent]) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    let left = sources[a]
    let right = sources[b]
    let order = compareBytes(left.key, right.key)
    if order != 0 { return isForward ? order < 0 : order > 0 }
    // A bound comes before any entry of the same key, so that its segment is read in time.
    if left.isProvisional != right.isProvisional { return left.isProvisional }
    if left.isProvisional { return false }
    let leftSequence = left.tag.sequence
    let rightSequence = right.tag.sequence
    return isForward ? leftSequence > rightSequence : leftSequence < rightSequence
  }
}
