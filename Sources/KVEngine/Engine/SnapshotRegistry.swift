/// The snapshots that somebody holds, so that compaction knows how far back sequences still matter,
/// and the app sees what keeps space.
package final class SnapshotRegistry: Sendable {
  private struct Entry {
    let key: UInt64
    let sequence: SequenceNumber
    /// Nanoseconds of the monotonic clock.
    let takenAt: UInt64
  }

  private struct State {
    /// In the order of their keys.
    var entries: [Entry] = []
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
      registry.state.withLock { [key] state in state.entries.removeAll { $0.key == key } }
    }
  }

  package func enter(_ sequence: SequenceNumber) -> Token {
    let key = state.withLock { state in
      defer { state.nextKey += 1 }
      let now = MonotonicClock.nanoseconds()
      state.entries.append(Entry(key: state.nextKey, sequence: sequence, takenAt: now))
      return state.nextKey
    }
    return Token(key, self)
  }

  /// The oldest sequence that a held snapshot sees; `nil` when none is held.
  package var oldestSequence: SequenceNumber? {
    state.withLock { $0.entries.map(\.sequence).min() }
  }

  /// How many snapshots are held, and the age of the oldest in nanoseconds.
  package var summary: (count: Int, oldestAge: UInt64) {
    let now = MonotonicClock.nanoseconds()
    return state.withLock { state in
      let oldest = state.entries.first?.takenAt ?? now
      return (state.entries.count, now - min(oldest, now))
    }
  }
}
