/// What an entry does to its key.
///
/// Never renumber (FORMAT.md 13); two bits in every entry.
///
/// A counted kind carries its change of the number of live keys, so that counts are sums over
/// properties and need no read. Merging adds the changes of the entries it collapses.
package enum RecordKind: UInt8, CaseIterable, Sendable {
  /// The key is deleted.
  case tombstone = 0
  /// The key has a value; the count does not change (a replacement, or a space without count).
  case put = 1
  /// The key has a value and had none: one more.
  case insertion = 2
  /// The key is deleted and had a value: one fewer.
  case removal = 3

  package var isPut: Bool { self == .put || self == .insertion }

  /// How the entry changes the number of live keys: -1, 0 or 1.
  package var change: Int {
    switch self {
    case .tombstone, .put: 0
    case .insertion: 1
    case .removal: -1
    }
  }

  /// The kind of one entry that stands for this newest one and older ones below it, whose changes
  /// have the sum `olderChange`.
  package func merged(withOlderChange olderChange: Int) -> RecordKind {
    let sum = change + olderChange
    if isPut { return sum > 0 ? .insertion : .put }
    return sum < 0 ? .removal : .tombstone
  }
}
