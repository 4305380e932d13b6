// Merges sorted sources into one, forward and backward.
//
// A binary heap of the sources that have a position; its top is the current entry. In forward
// direction the heap's order is the internal key order, backward its mirror. A provisional top is
// resolved (its segment opened) and sifted again until the top is a real entry.

/// Every version of every key of one space, in internal key order.
package struct MergingCursor: ~Copyable {
  private var sources: SourceList
  /// Indices of the sources that have a position; a binary heap.
  private var heap: [Int] = []
  private var isForward = true
  /// The entry at the position; there must be one.
  private(set) var entry = EntryReference.none

  package init(_ sources: [MergeSource]) {
    self.sources = SourceList(sources)
  }

  package var isValid: Bool { !heap.isEmpty }

  package mutating func seek(
    toFirstAtOrAfter key: [UInt8], sequence: SequenceNumber
  ) throws(DatabaseError) {
    isForward = true
    for index in sources.indices {
      try sources[index].seek(toFirstAtOrAfter: key, sequence: sequence)
    }
    try rebuild()
  }

  package mutating func seek(toLastBefore key: [UInt8]) throws(DatabaseError) {
    isForward = false
    for index in sources.indices { try sources[index].seek(toLastBefore: key) }
    try rebuild()
  }

  /// Goes on in the direction of the last seek.
  ///
  /// - Complexity: O(log *s*) comparisons for *s* sources that have a position.
  package mutating func advance() throws(DatabaseError) {
    let top = heap[0]
    if isForward { try sources[top].next() } else { try sources[top].previous() }
    guard sources[top].isValid else {
      removeTop()
      return try resolveTop()
    }
    if heap.count == 1 {
      entry = sources[top].entry
    } else {
      siftDown(0)
      try resolveTop()
    }
  }

  private mutating func rebuild() throws(DatabaseError) {
    heap.removeAll(keepingCapacity: true)
    for index in sources.indices where sources[index].isValid { heap.append(index) }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    try resolveTop()
  }

  private mutating func resolveTop() throws(DatabaseError) {
    while let top = heap.first {
      entry = sources[top].entry
      guard sources[top].isProvisional else { return }
      try sources[top].resolve()
      if sources[top].isValid { siftDown(0) } else { removeTop() }
    }
  }

  private mutating func removeTop() {
    let last = heap.removeLast()
    if heap.isEmpty { return }
    heap[0] = last
    siftDown(0)
  }

  private mutating func siftDown(_ start: Int) {
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
    let left = sources[a].entry
    let right = sources[b].entry
    let order = compareBytes(left.key, right.key)
    if order != 0 { return isForward ? order < 0 : order > 0 }
    // A bound comes before any entry of the same key, so that its segment is read in time.
    let isLeftProvisional = sources[a].isProvisional
    if isLeftProvisional != sources[b].isProvisional { return isLeftProvisional }
    if isLeftProvisional { return false }
    let (leftSequence, rightSequence) = (left.tag.sequence, right.tag.sequence)
    return isForward ? leftSequence > rightSequence : leftSequence < rightSequence
  }
}
