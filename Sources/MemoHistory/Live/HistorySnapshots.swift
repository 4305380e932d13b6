internal import KVEngine

/// The snapshots of a query, as a sequence to wait on.
///
/// The first is there as soon as it is read. Whoever is slower than the changes gets fewer
/// snapshots, never an old one: each is read when it is asked for. Ends when its task is cancelled.
public struct HistorySnapshots<Entity: MemoEntity>: AsyncSequence, Sendable {
  /// A snapshot.
  public typealias Element = HistorySnapshot<Entity>
  /// A sequence never fails: what goes wrong stands in a snapshot.
  public typealias Failure = Never

  let store: MemoStore<Entity>
  let query: MemoQuery<Entity>

  /// Begins to observe.
  ///
  /// - Returns: An iterator for one task.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(waiting: WaitingQuery(store, query))
  }

  /// Waits for one snapshot after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let waiting: WaitingQuery<Entity>

    /// The next snapshot.
    ///
    /// - Returns: `nil` when the task was cancelled.
    public mutating func next() async -> HistorySnapshot<Entity>? {
      await waiting.next()
    }

    /// The next snapshot.
    ///
    /// - Parameter actor: Where the caller is; nothing runs there.
    /// - Returns: `nil` when the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> HistorySnapshot<Entity>? {
      await waiting.next()
    }
  }
}

extension MemoStore where Entity: MemoEntity {
  /// The newest memos, now and after each change, as a sequence.
  ///
  /// A task that waits on it for ever holds what it captures for as long; for a screen
  /// ``observe(_:by:_:)`` ends by itself.
  ///
  /// - Parameter query: What is shown. Default: the newest 200.
  /// - Returns: A sequence of snapshots for any number of tasks, each of which gets all.
  public func snapshots(of query: MemoQuery<Entity> = MemoQuery()) -> HistorySnapshots<Entity> {
    HistorySnapshots(store: self, query: query)
  }
}

/// A live query and the one task that may wait for it.
final class WaitingQuery<Entity: MemoEntity>: Sendable {
  private struct State {
    var waiter: CheckedContinuation<Void, Never>?
    /// Whether something is due that nobody has waited for; at first the first snapshot.
    var isDue = true
    var isCancelled = false
  }

  private let state = SharedLock(State())
  private let live: LiveQuery<Entity>
  private let registration: HistoryBoard.Registration

  init(_ store: MemoStore<Entity>, _ query: MemoQuery<Entity>) {
    live = LiveQuery(store, query)
    registration = store.board.add(live)
    live.setTimer { [state] finished in
      Self.wake(state) { $0.isDue = true }
      finished()
    }
  }

  func next() async -> HistorySnapshot<Entity>? {
    await withTaskCancellationHandler {
      await due()
      let isCancelled = state.withLock { state in
        state.isDue = false
        return state.isCancelled
      }
      return isCancelled ? nil : await live.nextRead()
    } onCancel: {
      live.end()
      Self.wake(state) { $0.isCancelled = true }
    }
  }

  /// Waits until there is something to read, or nobody wants it any more.
  private func due() async {
    await withCheckedContinuation { waiter in
      let isOver = state.withLock { state in
        if state.isDue || state.isCancelled { return true }
        state.waiter = waiter
        return false
      }
      if isOver { waiter.resume() }
    }
  }

  private static func wake(_ state: SharedLock<State>, _ change: (inout State) -> Void) {
    let waiter = state.withLock { state in
      change(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }
}
