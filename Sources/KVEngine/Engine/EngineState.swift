/// What readers see at the moment: the one lock around the current view, held for a retain.
package final class EngineState: Sendable {
  private struct Current {
    var view: ReadView
    /// How others' changes are noticed; `nil` while this handle holds the lock, or can see nothing
    /// new for good.
    var following: Following?
  }

  private let current: Lock<Current>
  private let earlier = Lock<EarlierState?>(nil)
  /// Held while a newer state is read, so that of several readers one does it.
  private let refreshing = Lock(())
  package let segments: OpenSegments
  package let snapshots = SnapshotRegistry()
  package let metrics: Metrics
  package let gaps: GapNotes

  package init(
    _ view: ReadView, segments: OpenSegments, metrics: Metrics, gaps: GapNotes,
    following: Following? = nil
  ) {
    self.gaps = gaps
    self.metrics = metrics
    current = Lock(Current(view: view, following: following))
    self.segments = segments
  }

  /// The newest report of a state that was opened in place of a newer one.
  package var earlierState: EarlierState? { earlier.withLock { $0 } }

  /// Notes which state was read, if it is not the newest one.
  package func note(_ found: RecoveredStore) {
    guard let report = found.earlier?.report else { return }
    let isNew = earlier.withLock { earlier in
      defer { earlier = report }
      return earlier != report
    }
    if isNew { metrics.note(.openedEarlierState(report)) }
  }

  /// The view of the handle, as far as it knows.
  package var readView: ReadView { current.withLock { $0.view } }

  /// The oldest sequence that may still be compared with: of a held snapshot, or of now.
  package var oldestSnapshotSequence: SequenceNumber {
    let current = readView.sequence
    return min(snapshots.oldestSequence ?? current, current)
  }

  /// Makes a view the one that later reads get.
  ///
  /// Called by the leader of the commit pipeline only, while it holds the store's lock: from now on
  /// nobody else changes the store.
  package func install(_ newView: ReadView) {
    current.withLock { $0 = Current(view: newView, following: nil) }
  }

  /// Makes what was found under the store's lock the view that later reads get.
  ///
  /// The notes about gaps begin anew with it, in the same moment: a reader that has just read an
  /// older state must not come between the two.
  package func install(_ found: RecoveredStore, table: MemTable) {
    current.withLock { current in
      let view = found.view(tables: [table], segments: segments, gaps: gaps)
      current = Current(view: view, following: nil)
    }
  }

  /// Begins to look for changes of others; called before the store's lock is given up.
  package func follow(_ following: Following) {
    current.withLock { $0.following = following }
  }
}

// MARK: - Following others

extension EngineState {
  /// The newest view: when others may have written, after a look.
  ///
  /// - Returns: The view, and whether its files may be removed by others while it is used.
  /// - Throws: As the opening.
  /// - Complexity: O(1) and, without the lock, two system calls; O(bytes of the log) when something
  ///   has changed.
  package func currentView(
    at location: StoreLocation
  ) throws(DatabaseError) -> (view: ReadView, isFollowing: Bool) {
    while true {
      let current = current.withLock { $0 }
      guard let following = current.following else { return (current.view, false) }
      guard try following.hasChanged(at: location) else { return (current.view, true) }
      if let view = try refresh(from: following, at: location) { return (view, true) }
    }
  }

  /// Reads the state again, unless somebody else has done so meanwhile.
  private func refresh(
    from following: Following, at location: StoreLocation
  ) throws(DatabaseError) -> ReadView? {
    try refreshing.withLock { _ throws(DatabaseError) in
      guard current.withLock({ $0.following }) === following else { return nil }
      let found = try Recovery.find(at: location)
      return current.withLock { current in
        // The writer may have taken the lock meanwhile, and knows more.
        guard current.following === following else { return nil }
        switch found {
        // What was there stays visible to this handle.
        case .missing, .unfinished: current.following = .nothing
        case .store(let store):
          note(store)
          current = Current(
            view: store.view(segments: segments, gaps: gaps), following: store.following)
        }
        return current.view
      }
    }
  }

  /// Runs a read that opens files as it needs them, again with a newer view when one is gone.
  ///
  /// - Throws: What `body` throws; ``DatabaseError/damaged(_:)`` for a missing file only if the
  ///   MANIFEST in force names it; ``DatabaseError/busy`` if files vanish at every attempt.
  package func read<Result>(
    at location: StoreLocation,
    _ body: (ReadView, _ isFollowing: Bool) throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    var current = try currentView(at: location)
    for _ in 0..<10 {
      do throws(DatabaseError) {
        return try body(current.view, current.isFollowing)
      } catch {
        guard case .damaged(let corruption) = error, corruption.isMissingSegment else {
          throw error
        }
        let newer = try currentView(at: location)
        guard newer.view !== current.view else { throw error }
        current = newer
      }
    }
    throw .busy
  }
}
