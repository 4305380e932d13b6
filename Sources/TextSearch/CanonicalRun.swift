/// A letter and what may change together with it, brought into its one form: decomposed, marks in
/// canonical order, composed again.
struct CanonicalRun {
  /// The scalars, each with its combining class and its number above it, so that ordering is
  /// sorting.
  private var keys: [UInt64] = []
  private static let iotaSubscript = UInt32(0x345)
  private static let iota = UInt32(0x3B9)

  /// Begins anew.
  mutating func reset() {
    keys.removeAll(keepingCapacity: true)
  }

  /// Adds what a scalar of the text stands for.
  mutating func append(_ scalar: UInt32, _ entry: FoldingEntry, droppingMarks: Bool) {
    if entry.isSingle {
      return appendParts(of: entry.record.target(of: scalar), droppingMarks)
    }
    let expansion = entry.expansion
    var offset = 0
    while offset < expansion.byteCount {
      let first = UInt32(expansion.byte(at: offset))
      let count = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      var scalar = count == 1 ? first : first & (0x7F >> UInt32(count))
      for next in 1..<count {
        scalar = scalar << 6 | UInt32(expansion.byte(at: offset + next) & 0x3F)
      }
      appendParts(of: scalar, droppingMarks)
      offset += count
    }
  }

  /// Adds a scalar, taken apart, which ends after four steps at most.
  private mutating func appendParts(of scalar: UInt32, _ droppingMarks: Bool) {
    if let (first, second) = CanonicalPair.parts(of: scalar) {
      appendParts(of: first, droppingMarks)
      appendParts(of: second, droppingMarks)
      return
    }
    let record = FoldingEntry(scalar).record
    if droppingMarks && record.isMark { return }
    keys.append(
      UInt64(record.combiningClass) << 56 | UInt64(keys.count) << 24 | UInt64(scalar))
  }

  /// Brings the scalars into their form.
  ///
  /// - Returns: The most bytes that they take as UTF-8.
  /// - Complexity: O(*n* log *n*).
  mutating func compose() -> Int {
    order()
    var count = 0
    var starter: Int?
    /// The class of the last scalar behind the starter; 0 when nothing is.
    var last: UInt64 = 0
    // By index: what is read is written over, never ahead.
    for index in keys.indices {
      let key = keys[index]
      var scalar = UInt32(truncatingIfNeeded: key & 0xFF_FFFF)
      var number = key >> 56
      // Behind all other marks now, as everywhere else it becomes a letter.
      if scalar == Self.iotaSubscript { (scalar, number) = (Self.iota, 0) }
      if let place = starter, count == place + 1 || last != 0 && last < number,
        let whole = CanonicalPair.whole(UInt32(keys[place]), scalar)
      {
        keys[place] = UInt64(whole)
        continue
      }
      if number == 0 { starter = count }
      last = number
      keys[count] = UInt64(scalar)
      count += 1
    }
    keys.removeLast(keys.count - count)
    return 4 * count
  }

  /// Writes the scalars; there is room for what ``compose()`` said.
  ///
  /// - Returns: Where they end.
  func write(to output: inout MutableRawSpan, at offset: Int) -> Int {
    var end = offset
    for key in keys { end += output.encode(UInt32(truncatingIfNeeded: key), at: end) }
    return end
  }

  /// Sorts the marks between letters by their classes; those of one class keep their order.
  private mutating func order() {
    var start = 0
    while start < keys.count {
      var end = start
      var isOrdered = true
      while end < keys.count, keys[end] >> 56 != 0 {
        if end > start, keys[end] < keys[end - 1] { isOrdered = false }
        end += 1
      }
      if !isOrdered {
        let sorted = keys[start..<end].sorted()
        for (offset, key) in sorted.enumerated() { keys[start + offset] = key }
      }
      start = end + 1
    }
  }
}
