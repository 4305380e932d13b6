internal import KVEngine

/// An owner that is observed for and not kept alive.
@MainActor
private final class WeakOwner<Owner: AnyObject> {
  weak var owner: Owner?

  init(_ owner: Owner) {
    self.owner = owner
  }
}

/// What observes a store for an owner; a way to say that nobody looks.
///
/// Need not be held: the observation lives as long as its owner.
@MainActor
public final class HistoryObservation {
  private let box: any LiveQueryControl
  private let registration: HistoryBoard.Registration

  init(_ box: any LiveQueryControl, _ registration: HistoryBoard.Registration) {
    self.box = box
    self.registration = registration
  }

  /// What is shown; changing the limit is due at once.
  public var query: MemoQuery {
    get { box.query }
    set { box.setQuery(newValue) }
  }

  /// Stops snapshots while the screen is not shown.
  ///
  /// Scrolling is no reason to pause: show the snapshot without animation then.
  public func pause() { box.pause() }

  /// Goes on: one snapshot at once if anything has changed.
  public func resume() { box.resume() }

  /// Reads again at once, whether anything has changed or not.
  public func refresh() { box.refresh() }

  /// Ends the observation before its owner goes.
  public func cancel() {
    box.end()
    registration.end()
  }
}

/// A live query whatever its memos are.
protocol LiveQueryControl: AnyObject, Sendable {
  var query: MemoQuery { get }
  func setQuery(_ query: MemoQuery)
  func pause()
  func resume()
  func refresh()
  func end()
}

extension LiveQuery: LiveQueryControl {}

extension MemoStore where Entity: MemoEntity {
  /// Shows the newest memos to an owner, now and after each change, on the main actor.
  ///
  /// The closure is called once before this call returns, so the first frame has its memos; then
  /// whenever memos have changed, by the store's ``ReflectionPolicy``. The owner is held weakly,
  /// and the observation ends with it: no token to keep, no `[weak self]` to write, as long as the
  /// closure uses the owner that it gets.
  ///
  /// ```swift
  /// store.observe(by: self) { controller, history in
  ///   controller.show(history.items, history.difference)
  /// }
  /// ```
  ///
  /// A read that fails does not end it: the snapshot has the items of before, and says why.
  ///
  /// - Parameters:
  ///   - query: What is shown. Default: the newest 200.
  ///   - owner: Whom it is shown to.
  ///   - show: Gets the owner and what to show.
  /// - Returns: A way to pause, resume, refresh and end; need not be held.
  /// - Complexity: O(limit) for each snapshot, read outside of the main actor but for the first.
  @MainActor @discardableResult
  public func observe<Owner: AnyObject>(
    _ query: MemoQuery = MemoQuery(), by owner: Owner,
    _ show: @escaping @MainActor (Owner, HistorySnapshot<Entity>) -> Void
  ) -> HistoryObservation {
    let live = LiveQuery(self, query)
    let registration = board.add(live)
    let owner = WeakOwner(owner)
    // The board holds the query, and the query its timer, until the owner is gone.
    live.show { snapshot in
      if let owner = owner.owner {
        show(owner, snapshot)
      } else {
        registration.end()
      }
    }
    if let owner = owner.owner { show(owner, live.next()) }
    return HistoryObservation(live, registration)
  }
}
