@testable import KVEngine

/// A key and the space it lives in.
struct SpaceKey: Hashable, Sendable {
  /// Index into ``StoreContent/spaces``.
  let space: Int
  let bytes: [UInt8]
}

/// What a store holds: the oracle, as plain as it can be.
struct StoreContent: Equatable, Sendable {
  /// Two spaces of the layers above, of which the first counts its keys, and one of the app.
  static let spaces = [Space(code: 1), Space(code: 2), .standard]

  /// Entries of each space, ascending by key.
  private(set) var entries = [[Cursor.Entry]](repeating: [], count: spaces.count)

  init() {}

  /// Takes what a scan found, in the order in which it was found.
  init(scanned entries: [[Cursor.Entry]]) {
    self.entries = entries
  }

  subscript(key: SpaceKey) -> [UInt8]? {
    get {
      let (index, isPresent) = place(of: key)
      return isPresent ? entries[key.space][index].value : nil
    }
    set {
      let (index, isPresent) = place(of: key)
      let range = index..<(isPresent ? index + 1 : index)
      let new = newValue.map { [Cursor.Entry(key: key.bytes, value: $0)] } ?? []
      entries[key.space].replaceSubrange(range, with: new)
    }
  }

  private func place(of key: SpaceKey) -> (index: Int, isPresent: Bool) {
    let list = entries[key.space]
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle].key.lexicographicallyPrecedes(key.bytes) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return (low, low < list.count && list[low].key == key.bytes)
  }

  /// Number of keys in all spaces.
  var count: Int { entries.reduce(0) { $0 + $1.count } }

  /// Keys of all spaces.
  var keys: [SpaceKey] {
    entries.enumerated().flatMap { space, list in
      list.map { SpaceKey(space: space, bytes: $0.key) }
    }
  }
}

/// Something that must never be seen.
struct Problem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

extension Snapshot {
  /// All entries, read forward and backward, which must be mirror images, with the number of keys
  /// of the space that counts them.
  func content() throws -> StoreContent {
    let forward = try StoreContent(scanned: StoreContent.spaces.map { try scan($0) })
    let backward = try StoreContent(
      scanned: StoreContent.spaces.map { try scan($0, isBackward: true) })
    guard forward == backward else {
      throw Problem("forward \(forward.count) entries, backward others (\(backward.count))")
    }
    return forward
  }

  private func scan(_ space: Space, isBackward: Bool = false) throws -> [Cursor.Entry] {
    var cursor = try cursor(space: space)
    var found: [Cursor.Entry] = []
    while let entry = try isBackward ? cursor.previous() : cursor.next() { found.append(entry) }
    return isBackward ? found.reversed() : found
  }
}

extension Database {
  /// All entries as they are now.
  func content() throws -> StoreContent { try snapshot().content() }

  /// All entries, and a look at whether the count of the counted space is right.
  func countedContent() throws -> StoreContent {
    let snapshot = try snapshot()
    let content = try snapshot.content()
    let count = snapshot.count(in: StoreContent.spaces[0])
    guard count == content.entries[0].count else {
      throw Problem("\(content.entries[0].count) keys are counted as \(count)")
    }
    return content
  }
}
