/// What readers see at the moment: the one lock around the current view, held for a retain.
package final class EngineState: Sendable {
  private let view: Lock<ReadView>
  package let segments: OpenSegments
  package let snapshots = SnapshotRegistry()
  package let metrics: Metrics
  package let gaps: GapNotes

  package init(_ view: ReadView, segments: OpenSegments, metrics: Metrics, gaps: GapNotes) {
    self.gaps = gaps
    self.metrics = metrics
    self.view = Lock(view)
    self.segments = segments
  }

  package var readView: ReadView { view.withLock { $0 } }

  /// The oldest sequence that may still be compared with: of a held snapshot, or of now.
  package var oldestSnapshotSequence: SequenceNumber {
    let current = readView.sequence
    return min(snapshots.oldestSequence ?? current, current)
  }

  /// Makes a view the one that later reads get.
  ///
  /// Called by the leader of the commit pipeline only.
  package func install(_ newView: ReadView) {
    view.withLock { $0 = newView }
  }
}
