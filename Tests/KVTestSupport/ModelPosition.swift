/// A cursor over a sorted list: the oracle of a cursor over a store.
package struct ModelPosition: Sendable {
  private let entries: [VersionedModel.Entry]
  /// -1 before the first entry, `entries.count` behind the last one, `nil` before the first move.
  private var index: Int?

  package init(_ entries: [VersionedModel.Entry]) {
    self.entries = entries
  }

  /// Where the cursor stands.
  package var current: VersionedModel.Entry? {
    guard let index, entries.indices.contains(index) else { return nil }
    return entries[index]
  }

  package mutating func moveForward() {
    index = index.map { min($0 + 1, entries.count) } ?? 0
  }

  package mutating func moveBackward() {
    index = max((index ?? entries.count) - 1, -1)
  }

  package mutating func seek(toFirstKeyAtOrAfter key: [UInt8]) {
    index = entries.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? entries.count
  }

  package mutating func seek(toLastKeyAtOrBefore key: [UInt8]) {
    index = entries.lastIndex { !key.lexicographicallyPrecedes($0.key) } ?? -1
  }
}
