// An ordered list of entries that one thread fills while others read it without a lock.
//
// A node never moves and never changes but for its links. A node is filled completely before the
// link to it is stored with releasing order, level by level from the bottom; readers load links
// with acquiring order, so they see either the old neighbour or a complete node.
//
//   node: | tag 8 | key bytes 4 | value bytes 4 | link 0 | ... | link h-1 | key | value |
//
// Source: Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees"; LevelDB's memtable has
// the same rule for concurrent readers. Links are addresses, not arena offsets, so that the arena
// can grow without a table that readers would have to share.

import Synchronization

/// The entries of a memtable in internal key order.
///
/// A class, so that readers borrow no property that the writer changes: `arena`, `randomState` and
/// `entryCount` belong to the writer, `head` never changes.
@safe
final class SkipList {
  /// The address of a node; 0 is the end of the list.
  typealias Node = UInt

  private static let maximumHeight = 12
  private static let linkOffset = 16

  private var arena = Arena()
  private let head: Node
  private var randomState: UInt64 = 0x9E37_79B9_7F4A_7C15
  private(set) var entryCount = 0

  var byteCount: Int { arena.byteCount }

  init() {
    let byteCount = Self.linkOffset + 8 * Self.maximumHeight
    let memory = unsafe arena.allocate(byteCount: byteCount)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    head = UInt(bitPattern: memory)
    for level in 0..<Self.maximumHeight {
      unsafe Self.link(head, level).initialize(to: Atomic(0))
    }
  }

  /// Adds an entry; no other entry may have the same key and sequence.
  ///
  /// - Complexity: O(log *n*) key comparisons.
  func insert(key: RawSpan, tag: EntryTag, value: RawSpan) {
    let height = randomHeight()
    let links = 8 * height
    let memory = unsafe arena.allocate(
      byteCount: Self.linkOffset + links + key.byteCount + value.byteCount)
    unsafe memory.storeBytes(of: tag.word, as: UInt64.self)
    unsafe memory.storeBytes(of: UInt32(key.byteCount), toByteOffset: 8, as: UInt32.self)
    unsafe memory.storeBytes(
      of: UInt32(value.byteCount) | UInt32(height) << 28, toByteOffset: 12, as: UInt32.self)
    unsafe Self.copy(key, to: memory + Self.linkOffset + links)
    unsafe Self.copy(value, to: memory + Self.linkOffset + links + key.byteCount)
    let node = UInt(bitPattern: memory)

    var previous = head
    var level = Self.maximumHeight - 1
    // Predecessors of the lower levels, found from the top; the highest level is the array's end.
    unsafe withUnsafeTemporaryAllocation(of: Node.self, capacity: Self.maximumHeight) { path in
      while true {
        let next = Self.load(previous, level)
        if next != 0, compare(next, key, tag.sequence) < 0 {
          previous = next
          continue
        }
        unsafe path[level] = previous
        if level == 0 { break }
        level -= 1
      }
      for level in 0..<height {
        let following = unsafe Self.load(path[level], level)
        unsafe Self.link(node, level).initialize(to: Atomic(following))
        unsafe Self.link(path[level], level).pointee.store(node, ordering: .releasing)
      }
    }
    entryCount += 1
  }

  /// The first node at or behind an internal key, 0 if there is none.
  ///
  /// - Complexity: O(log *n*) key comparisons.
  func lowerBound(_ key: RawSpan, _ sequence: SequenceNumber) -> Node {
    let wanted = isPlanted(.hastySearch) ? max(sequence, sequence &+ 4) : sequence
    return neighbours(of: key, wanted).next
  }

  /// The last node before an internal key, 0 if there is none.
  ///
  /// - Complexity: O(log *n*) key comparisons.
  func predecessor(of key: RawSpan, _ sequence: SequenceNumber) -> Node {
    let previous = neighbours(of: key, sequence).previous
    return previous == head ? 0 : previous
  }

  func next(_ node: Node) -> Node { Self.load(node, 0) }

  func tag(_ node: Node) -> EntryTag {
    EntryTag(storedWord: unsafe Self.memory(node).load(as: UInt64.self))
  }

  /// A node's key, for as long as `owner`, which keeps the list, is borrowed.
  @_lifetime(borrow owner)
  func key<Owner: AnyObject>(_ node: Node, keptBy owner: borrowing Owner) -> RawSpan {
    let memory = unsafe Self.memory(node)
    let count = unsafe Int(memory.load(fromByteOffset: 8, as: UInt32.self))
    let height = unsafe Int(memory.load(fromByteOffset: 12, as: UInt32.self) >> 28)
    let span = unsafe RawSpan(
      _unsafeStart: memory + Self.linkOffset + 8 * height, byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: owner)
  }

  /// A node's value, for as long as `owner`, which keeps the list, is borrowed.
  @_lifetime(borrow owner)
  func value<Owner: AnyObject>(_ node: Node, keptBy owner: borrowing Owner) -> RawSpan {
    let memory = unsafe Self.memory(node)
    let keyCount = unsafe Int(memory.load(fromByteOffset: 8, as: UInt32.self))
    let word = unsafe memory.load(fromByteOffset: 12, as: UInt32.self)
    let start = Self.linkOffset + 8 * Int(word >> 28) + keyCount
    let span = unsafe RawSpan(_unsafeStart: memory + start, byteCount: Int(word & 0x0FFF_FFFF))
    return unsafe _overrideLifetime(span, borrowing: owner)
  }

  /// The last node before an internal key, which may be the head, and the first one not before it.
  ///
  /// The second is the one that was compared. Its predecessor may have another successor by now: a
  /// newer version of the key, which is before the wanted one.
  private func neighbours(
    of key: RawSpan, _ sequence: SequenceNumber
  ) -> (previous: Node, next: Node) {
    var previous = head
    var level = Self.maximumHeight - 1
    while true {
      let next = Self.load(previous, level)
      if next != 0, compare(next, key, sequence) < 0 {
        previous = next
      } else if level == 0 {
        return (previous, next)
      } else {
        level -= 1
      }
    }
  }

  private func compare(_ node: Node, _ key: RawSpan, _ sequence: SequenceNumber) -> Int {
    compareInternal(self.key(node, keptBy: self), tag(node).sequence, key, sequence)
  }

  /// Each level holds a quarter of the nodes of the one below.
  private func randomHeight() -> Int {
    randomState ^= randomState << 13
    randomState ^= randomState >> 7
    randomState ^= randomState << 17
    var height = 1
    var bits = randomState
    while height < Self.maximumHeight, bits & 3 == 0 {
      height += 1
      bits >>= 2
    }
    return height
  }

  private static func memory(_ node: Node) -> UnsafeMutableRawPointer {
    // Nodes are addresses that `allocate` returned; only 0, which callers test, has no memory.
    unsafe UnsafeMutableRawPointer(bitPattern: node).unsafelyUnwrapped
  }

  private static func link(_ node: Node, _ level: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    unsafe (memory(node) + linkOffset + 8 * level).assumingMemoryBound(to: Atomic<UInt>.self)
  }

  private static func load(_ node: Node, _ level: Int) -> Node {
    unsafe link(node, level).pointee.load(ordering: .acquiring)
  }

  private static func copy(_ bytes: RawSpan, to target: UnsafeMutableRawPointer) {
    unsafe bytes.withUnsafeBytes { source in
      guard let base = source.baseAddress else { return }
      unsafe target.copyMemory(from: base, byteCount: source.count)
    }
  }
}
