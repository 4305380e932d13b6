internal import Dispatch
internal import KVEngine

extension MemoCollection {
  /// Shows the values to an owner, now and after each change, on the main actor.
  ///
  /// The owner is held weakly, and the observation ends with it: no token to keep, no `[weak self]`
  /// to write. Values are read on a queue of its own; what changes while they are read or wait to
  /// be shown is shown once, after that.
  ///
  /// ```swift
  /// drafts.observe(by: self) { controller, drafts in
  ///   controller.show(drafts)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - owner: Whom they are shown to.
  ///   - report: Called on any thread for each value that cannot be read, which is left out, and
  ///     for what keeps all of them from being read: then nothing is shown until the next change.
  ///     Default: it is passed over.
  ///   - show: Gets the owner and all values, in an order that stays the same and means nothing.
  /// - Complexity: O(values) for each list.
  @MainActor
  public func observe<Owner: AnyObject>(
    by owner: Owner, unreadable report: (@Sendable (MemoError) -> Void)? = nil,
    _ show: @escaping @MainActor (Owner, [Value]) -> Void
  ) {
    let observation = CollectionObservation<Value>(self, report ?? { _ in }) {
      [weak owner] values in
      owner.map { show($0, values) } != nil
    }
    observation.begin()
  }
}

/// Values of a collection for somebody who wants each list of them.
private final class CollectionObservation<Value: Codable & Sendable & Identifiable>: Sendable
where Value.ID: MemoIdentifier {
  private struct State {
    var watch: CollectionBoard.Watch?
    /// Whether values are being read, or wait to be shown.
    var isBusy = false
    /// Whether they have changed since that began.
    var isOutdated = false
  }

  private let name: String
  /// Weak, since the store's board holds the observation: who observes does not keep a store open.
  private weak let open: OpenStore?
  private weak let store: (any AnyObject & Sendable)?
  private let report: @Sendable (MemoError) -> Void
  /// Returns whether there is somebody to show the next ones to.
  private let show: @MainActor ([Value]) -> Bool
  private let state = Lock(State())

  init(
    _ collection: MemoCollection<Value>, _ report: @escaping @Sendable (MemoError) -> Void,
    _ show: @escaping @MainActor ([Value]) -> Bool
  ) {
    name = collection.name
    open = collection.open
    store = collection.store
    self.report = report
    self.show = show
  }

  /// Shows what there is, and everything that comes.
  func begin() {
    // The board holds the observation until nobody is left to show anything to.
    let watch = collection?.watch { self.wake() }
    state.withLock { $0.watch = watch }
    wake()
  }

  /// The collection, as long as somebody has its store open.
  private var collection: MemoCollection<Value>? {
    guard let open, let store else { return nil }
    return MemoCollection(name, open, store)
  }

  private func wake() {
    let begins = state.withLock { state in
      if state.isBusy { state.isOutdated = true }
      defer { state.isBusy = true }
      return !state.isBusy
    }
    if begins { read() }
  }

  private func read() {
    DispatchQueue.scans.async { [self] in
      var values: [Value]?
      do throws(MemoError) {
        values = try collection?.read(report) { true }
      } catch {
        report(error)
      }
      DispatchQueue.main.async { [self, values] in
        MainActor.assumeIsolated { end(values) }
      }
    }
  }

  @MainActor
  private func end(_ values: [Value]?) {
    if let values, !show(values) {
      return state.withLock { $0.watch }?.end() ?? ()
    }
    let goesOn = state.withLock { state in
      defer { state.isOutdated = false }
      state.isBusy = state.isOutdated
      return state.isOutdated
    }
    if goesOn { read() }
  }
}
