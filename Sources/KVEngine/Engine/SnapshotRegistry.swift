/// The snapshots that somebody holds, so that compaction knows how far back sequences still matter,
/// and the app sees what keeps space.
package final class SnapshotRegistry: Sendable {
  private struct Entry {
    let sequence: SequenceNumber
    /// Nanoseconds of the monotonic clock.
    let takenAt: UInt64
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var nextKey: UInt64 = 0
  }

  private let state = Lock(State())

  package init() {}

  /// A snapshot's place in the registry, given up when nobody holds it any more.
  package final class Token: Sendable {
    private let key: UInt64
    private let registry: SnapshotRegistry

    fileprivate init(_ key: UInt64, _ registry: SnapshotRegistry) {
      self.key = key
      self.registry = registry
    }

    deinit {
      registry.state.withLock { [key] state in _ = state.entries.removeValue(forKey: key) }
    }
  }

  package func enter(_ sequence: SequenceNumber) -> Token {
    let entry = Entry(sequence: sequence, takenAt: MonotonicClock.nanoseconds())
    let key = state.withLock { state in
      defer { state.nextKey += 1 }
      state.entries[state.nextKey] = entry
      return state.nextKey
    }
    return Token(key, self)
  }

  /// The oldest sequence that a held snapshot sees; `nil` when none is held.
  package var oldestSequence: SequenceNumber? {
    state.withLock { $0.entries.values.map(\.sequence).min() }
  }

  /// How many snapshots are held, and the age of the oldest in nanoseconds.
  package var summary: (count: Int, oldestAge: UInt64) {
    let now = MonotonicClock.nanoseconds()
    return state.withLock { state in
      let oldest = state.entries.values.map(\.takenAt).min() ?? now
      return (state.entries.count, now - min(oldest, now))
    }
  }
}
