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
public final class HistoryObservation<Entity: MemoEntity> {
  private let live: LiveQuery<Entity>
  private let registration: HistoryBoard.Registration

  init(_ live: LiveQuery<Entity>, _ registration: HistoryBoard.Registration) {
    self.live = live
    self.registration = registration
  }

  /// What is shown.
  ///
  /// Another limit or filter and other sections are due at once, another search after a moment, so
  /// that typing does not read for every letter; each ends the search before it.
  public var query: MemoQuery<Entity> {
    get { live.query }
    set { live.setQuery(newValue) }
  }

  /// Whether the list that was shown last does not answer ``query`` yet: a search is on its way.
  public var isReading: Bool { live.isReading }

  /// Stops snapshots while the screen is not shown; a search that is on its way as well.
  ///
  /// Scrolling is no reason to pause: show the snapshot without animation then.
  public func pause() { live.pause() }

  /// Goes on: one snapshot at once if anything has changed.
  public func resume() { live.resume() }

  /// Reads again at once, whether anything has changed or not.
  public func refresh() { live.refresh() }

  /// Ends the observation before its owner goes.
  public func cancel() {
    live.end()
    registration.end()
  }
}

extension MemoStore where Entity: MemoEntity {
  /// Shows the newest memos to an owner, now and after each change, on the main actor.
  ///
  /// The closure is called once before this call returns, so the first frame has its memos; with a
  /// filter or a search, which may have to read every memo, as soon as that is done. Then it is
  /// called whenever memos have changed, by the store's ``ReflectionPolicy``. The owner is held
  /// weakly, and the observation ends with it: no token to keep, no `[weak self]` to write, as long
  /// as the closure uses the owner that it gets.
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
  /// - Complexity: O(limit) for each snapshot, with a filter or a search O(memos up to the last one
  ///   that is found); read outside of the main actor but for the first without either.
  @MainActor @discardableResult
  public func observe<Owner: AnyObject>(
    _ query: MemoQuery<Entity> = MemoQuery(), by owner: Owner,
    _ show: @escaping @MainActor (Owner, HistorySnapshot<Entity>) -> Void
  ) -> HistoryObservation<Entity> {
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
    if let first = live.next() {
      if let owner = owner.owner { show(owner, first) }
    } else {
      live.refresh()
    }
    return HistoryObservation(live, registration)
  }
}
