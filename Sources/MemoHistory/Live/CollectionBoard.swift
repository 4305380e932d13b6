internal import KVEngine

/// Where a store says that values of collections have changed, and to whom.
final class CollectionBoard: Sendable {
  private struct State {
    var watchers: [(number: UInt64, prefix: [UInt8], wake: @Sendable () -> Void)] = []
    var nextNumber: UInt64 = 0
  }

  private let state = Lock(State())

  /// A watcher's place, which it gives up by a call.
  struct Watch: Sendable {
    fileprivate let number: UInt64
    fileprivate let board: CollectionBoard

    func end() {
      let watcher = board.state.withLock { state in
        let place = state.watchers.firstIndex { $0.number == number }
        return place.map { state.watchers.remove(at: $0) }
      }
      // Let go of outside of the lock.
      _ = watcher
    }
  }

  /// Says who hears of each commit that changes a value of one collection.
  ///
  /// - Parameters:
  ///   - prefix: What the keys of the collection begin with.
  ///   - wake: Called on the thread that wrote, when readers see the commit; returns at once.
  /// - Returns: What ends it.
  func watch(prefix: [UInt8], _ wake: @escaping @Sendable () -> Void) -> Watch {
    let number = state.withLock { state in
      defer { state.nextNumber += 1 }
      state.watchers.append((state.nextNumber, prefix, wake))
      return state.nextNumber
    }
    return Watch(number: number, board: self)
  }

  /// Says under which keys a commit has changed values.
  func note(_ keys: [[UInt8]]) {
    wake { prefix in keys.contains { $0.starts(with: prefix) } }
  }

  /// Says that everything may have changed.
  func noteAll() { wake { _ in true } }

  private func wake(where isMeant: ([UInt8]) -> Bool) {
    let watchers = state.withLock { $0.watchers.map { $0 } }
    for watcher in watchers where isMeant(watcher.prefix) { watcher.wake() }
  }
}
