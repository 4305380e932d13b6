/// Decoded blocks of segments, up to a number of bytes; the one not used for longest goes first.
///
/// Filled by point reads only: a scan would push out what point reads need, and reads its blocks
/// once anyway. Blocks of segments that are gone leave by themselves, as file numbers are never
/// used again.
package final class BlockCache: Sendable {
  private let bound: Int
  private let contents = Lock(Contents())

  /// Makes a cache of at most `byteCount` bytes; 0 keeps nothing.
  package init(byteCount: Int) {
    bound = max(0, byteCount)
  }

  /// Bytes that the cache uses now.
  package var byteCount: Int { contents.withLock { $0.byteCount } }

  /// The block at an offset of a segment, `nil` if it is not here.
  ///
  /// - Complexity: O(1).
  package func block(segment: UInt64, offset: Int) -> ByteBuffer? {
    guard bound > 0 else { return nil }
    return contents.withLock { $0.use(Key(segment: segment, offset: offset)) }
  }

  /// Keeps a block unless it would take more than a quarter of the cache.
  ///
  /// - Complexity: O(1) amortised.
  package func insert(_ buffer: ByteBuffer, segment: UInt64, offset: Int) {
    let slot = Slot(key: Key(segment: segment, offset: offset), buffer: buffer)
    guard slot.byteCount <= bound / 4 else { return }
    contents.withLock { $0.insert(slot, bound: bound) }
  }

  /// Forgets every block.
  package func removeAll() {
    contents.withLock { $0 = Contents() }
  }
}

private struct Key: Hashable {
  let segment: UInt64
  let offset: Int

  /// Half the work of hashing both: blocks are at least 16 bytes apart, and segments are few.
  func hash(into hasher: inout Hasher) {
    hasher.combine(UInt64(offset) &+ segment << 40)
  }
}

/// A kept block and its neighbours in the order of use; free without a buffer.
private struct Slot {
  /// What an entry costs beside its block: slot, table and allocation.
  static let overheadByteCount = 96

  let key: Key
  var buffer: ByteBuffer?
  /// Slot used next after this one.
  var newer: Int?
  /// Slot used last before this one.
  var older: Int?

  var byteCount: Int { (buffer?.byteCount ?? 0) + Self.overheadByteCount }
}

/// Slots in an array, found by a table and linked by use: no object per entry.
private struct Contents {
  private var slots: [Slot] = []
  private var free: [Int] = []
  private var places: [Key: Int] = [:]
  private var newest: Int?
  private var oldest: Int?
  private(set) var byteCount = 0

  mutating func use(_ key: Key) -> ByteBuffer? {
    guard let place = places[key] else { return nil }
    if newest != place {
      unlink(place)
      linkAsNewest(place)
    }
    return slots[place].buffer
  }

  mutating func insert(_ slot: Slot, bound: Int) {
    // Two readers may have decoded the same block at the same time.
    if places[slot.key] != nil { return }
    byteCount += slot.byteCount
    while byteCount > bound, let oldest { remove(oldest) }
    let place = free.popLast() ?? slots.count
    if place < slots.count { slots[place] = slot } else { slots.append(slot) }
    places[slot.key] = place
    linkAsNewest(place)
  }

  private mutating func remove(_ place: Int) {
    unlink(place)
    byteCount -= slots[place].byteCount
    slots[place].buffer = nil
    places[slots[place].key] = nil
    free.append(place)
  }

  private mutating func linkAsNewest(_ place: Int) {
    slots[place].newer = nil
    slots[place].older = newest
    if let newest { slots[newest].newer = place } else { oldest = place }
    newest = place
  }

  private mutating func unlink(_ place: Int) {
    let (newer, older) = (slots[place].newer, slots[place].older)
    if let newer { slots[newer].older = older } else { newest = older }
    if let older { slots[older].newer = newer } else { oldest = newer }
  }
}
