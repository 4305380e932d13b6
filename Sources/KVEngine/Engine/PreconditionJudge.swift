/// Judges preconditions of a group's batches in order, each against a state that includes the
/// batches before it although none of them is published yet.
///
/// Entries whose sequence a compaction dropped count as old: their sequence is 0. That holds for
/// compactions of this process, which spare what its snapshots can be compared with; those of
/// another process do not know of them. So nothing from before a state that another process left is
/// judged: the caller has to read again.
struct PreconditionJudge {
  private let view: ReadView
  /// Whether something changed since an older moment cannot be told.
  private let oldestSequence: SequenceNumber
  /// The admitted batches of the group; a group of one needs none.
  private var pending: MemTable?
  private var pendingSequence: SequenceNumber

  init(view: ReadView, oldestSequence: SequenceNumber) {
    self.oldestSequence = oldestSequence
    self.view = view
    pendingSequence = view.sequence
  }

  /// Throws the first precondition that does not hold.
  func check(_ batch: WriteBatch) throws(DatabaseError) {
    if batch.preconditions.isEmpty { return }
    var state = view
    if let pending {
      state = ReadView(
        tables: [pending] + view.tables, images: view.images, version: view.version,
        sequence: pendingSequence, counts: SpaceCounts(), spaces: [], gaps: nil)
    }
    for (index, precondition) in batch.preconditions.enumerated() {
      guard try holds(precondition, in: state) else { throw .preconditionFailed(index: index) }
    }
  }

  /// Makes a batch part of what later ones are judged against.
  ///
  /// - Complexity: O(*n* log *n*) for *n* operations: they are held twice while the group commits.
  mutating func admit(
    _ bytes: [UInt8], count: Int, firstSequence: SequenceNumber
  ) throws(FormatError) {
    let table = pending ?? MemTable()
    try table.apply(bytes.rawBytes, count: count, firstSequence: firstSequence)
    pending = table
    pendingSequence = firstSequence + UInt64(count) - 1
  }

  private func holds(
    _ precondition: Precondition, in state: ReadView
  ) throws(DatabaseError) -> Bool {
    switch precondition {
    case .absent(let key):
      let newest = try state.newestEntry(of: key)
      return newest.map { !$0.tag.kind.isPut } ?? true
    case .unchanged(_, let sequence) where sequence < oldestSequence,
      .unchangedPrefix(_, let sequence) where sequence < oldestSequence:
      return false
    case .unchanged(let key, let sequence):
      let newest = try state.newestEntry(of: key, newerThan: sequence)
      return newest.map { $0.tag.sequence <= sequence } ?? true
    case .unchangedPrefix(let prefix, let sequence):
      return try !state.hasEntry(withPrefix: prefix, newerThan: sequence)
    }
  }
}
