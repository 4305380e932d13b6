internal import KVEngine

/// Somebody who wants to know of commits.
protocol HistoryObserver: AnyObject, Sendable {
  /// Called after each commit that touches a memo, on the thread that wrote; returns at once.
  func committed(_ cause: HistoryCause, _ origin: String?)
}

/// Where a store says that memos have changed, and to whom.
///
/// A commit costs one call for each observer, whatever the number of memos.
final class HistoryBoard: Sendable {
  private struct State {
    var observers: [(key: UInt64, observer: any HistoryObserver)] = []
    var nextKey: UInt64 = 0
    var commitCount: UInt64 = 0
  }

  private let state = Lock(State())
  /// The same for values of collections.
  let collections = CollectionBoard()

  /// An observer's place, given up when nobody holds it any more.
  final class Registration: Sendable {
    private let key: UInt64
    private let board: HistoryBoard

    fileprivate init(_ key: UInt64, _ board: HistoryBoard) {
      self.key = key
      self.board = board
    }

    /// Ends the observation.
    func end() {
      let observer = board.state.withLock { [key] state in
        let index = state.observers.firstIndex { $0.key == key }
        return index.map { state.observers.remove(at: $0).observer }
      }
      // Let go of outside of the lock: it may own what comes back here.
      _ = observer
    }

    deinit { end() }
  }

  /// Commits so far that touched a memo.
  var commitCount: UInt64 { state.withLock { $0.commitCount } }

  func add(_ observer: any HistoryObserver) -> Registration {
    let key = state.withLock { state in
      defer { state.nextKey += 1 }
      state.observers.append((state.nextKey, observer))
      return state.nextKey
    }
    return Registration(key, self)
  }

  /// Says that a commit has touched a memo; called when readers see it.
  func note(_ cause: HistoryCause, _ origin: String? = nil) {
    let observers = state.withLock { state in
      state.commitCount += 1
      return state.observers.map(\.observer)
    }
    for observer in observers { observer.committed(cause, origin) }
  }
}
