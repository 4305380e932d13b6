/// What a store must answer, as plain as it can be: every version of every key in one sorted list.
package struct VersionedModel: Sendable {
  /// A key of one of several spaces.
  package struct Key: Hashable, Sendable {
    /// Index of the space.
    package let space: Int
    package let bytes: [UInt8]

    package init(space: Int, bytes: [UInt8]) {
      self.space = space
      self.bytes = bytes
    }

    func precedes(_ other: Key) -> Bool {
      space == other.space
        ? bytes.lexicographicallyPrecedes(other.bytes) : space < other.space
    }
  }

  /// One write of a key; deleted without a value.
  private struct Version: Sendable {
    let key: Key
    let sequence: UInt64
    let value: [UInt8]?
  }

  package typealias Entry = (key: [UInt8], value: [UInt8])

  /// Ascending by key, of one key the newest first.
  private var versions: [Version] = []
  /// The sequence of the last operation of each batch.
  package private(set) var commits: [UInt64] = [0]

  package init() {}

  /// The newest sequence.
  package var sequence: UInt64 { commits[commits.count - 1] }

  /// Commits a batch.
  package mutating func apply(_ operations: [(key: Key, value: [UInt8]?)]) {
    var sequence = sequence
    for (key, value) in operations {
      sequence += 1
      versions.insert(
        Version(key: key, sequence: sequence, value: value), at: firstIndex(atOrAfter: key))
    }
    if sequence > self.sequence { commits.append(sequence) }
  }

  /// Forgets everything behind a commit.
  package mutating func cut(to sequence: UInt64) {
    commits.removeAll { $0 > sequence }
    versions.removeAll { $0.sequence > sequence }
  }

  private func firstIndex(atOrAfter key: Key) -> Int {
    var (low, high) = (0, versions.count)
    while low < high {
      let middle = (low + high) / 2
      if versions[middle].key.precedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func newest(_ key: Key, at sequence: UInt64) -> Version? {
    versions[firstIndex(atOrAfter: key)...]
      .prefix { $0.key == key }
      .first { $0.sequence <= sequence }
  }

  /// The value of a key at a sequence.
  package func value(_ key: Key, at sequence: UInt64) -> [UInt8]? {
    newest(key, at: sequence)?.value
  }

  /// Whether a key was written since a sequence.
  package func isChanged(_ key: Key, since sequence: UInt64) -> Bool {
    (newest(key, at: .max)?.sequence ?? 0) > sequence
  }

  /// Whether any key with a prefix was written since a sequence.
  package func isChanged(prefix: Key, since sequence: UInt64) -> Bool {
    versions.contains {
      $0.key.space == prefix.space && $0.key.bytes.starts(with: prefix.bytes)
        && $0.sequence > sequence
    }
  }

  /// The live entries of a space inside bounds, ascending.
  package func entries(
    space: Int, from lower: [UInt8] = [], upTo upper: [UInt8]? = nil, at sequence: UInt64
  ) -> [Entry] {
    var found: [Entry] = []
    var last: [UInt8]?
    for version in versions where version.key.space == space && version.sequence <= sequence {
      let key = version.key.bytes
      if key == last || key.lexicographicallyPrecedes(lower) { continue }
      if let upper, !key.lexicographicallyPrecedes(upper) { break }
      last = key
      if let value = version.value { found.append((key, value)) }
    }
    return found
  }
}
