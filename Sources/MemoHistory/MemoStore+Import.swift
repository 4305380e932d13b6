internal import MemoCore

/// What became of the memos of an import.
public struct MemoImportReport: Sendable, Equatable {
  /// A memo that was not taken.
  public struct Refusal: Sendable, Equatable {
    /// Its place in what was imported, from 0 on.
    public let row: Int
    /// Why it was not taken.
    public let error: MemoError
  }

  /// How many refusals are listed at most.
  public static let maximumRefusalCount = 100

  /// Memos whose id was not there.
  public internal(set) var insertedCount = 0
  /// Memos that took the place of another version.
  public internal(set) var replacedCount = 0
  /// Memos that were there already.
  public internal(set) var unchangedCount = 0
  /// Memos of which a version is there that stays.
  public internal(set) var outdatedCount = 0
  /// Memos that were not taken.
  public internal(set) var refusedCount = 0
  /// The first 100 of those.
  public internal(set) var refusals: [Refusal] = []

  /// All memos that were looked at.
  public var rowCount: Int {
    insertedCount + replacedCount + unchangedCount + outdatedCount + refusedCount
  }

  mutating func add(_ counts: ImportCounts) {
    insertedCount += counts.inserted
    replacedCount += counts.replaced
    unchangedCount += counts.unchanged
    outdatedCount += counts.outdated
  }

  mutating func refuse(_ row: Int, _ error: MemoError) {
    refusedCount += 1
    if refusals.count < Self.maximumRefusalCount {
      refusals.append(Refusal(row: row, error: error))
    }
  }
}

extension MemoStore where Entity: MemoEntity {
  /// Takes memos that come from elsewhere and may be there already: the same ones twice change
  /// nothing.
  ///
  /// Memos are found by their id. Of two versions of one memo the later `createdAt` stays, then the
  /// one that was changed later in this store, then the same one whatever the order in which they
  /// come: so a memo that the user has changed since is not overwritten by the file that it came
  /// from. An imported version counts as never changed, but for the ready-made ``Memo``, which
  /// brings its own `changedAt`. Fields that the app's type does not know are kept.
  ///
  /// Memos are taken from the sequence as they are written, 500 or 4 MiB of text at a time, each in
  /// a commit of its own; the sequence is read on Swift's task pool, never on the caller's actor.
  /// What is committed is durable. When the task is cancelled, the import ends between two commits.
  ///
  /// - Parameters:
  ///   - memos: What is to be taken, in the order of its arrival.
  ///   - atomically: Whether all are stored in one commit or none: then they are all held in
  ///     memory, and the first one that is refused makes the call throw why. Default: a memo that
  ///     is refused is left out and reported.
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  ///   - progress: Called after each commit with the number of memos looked at, on any thread.
  /// - Returns: What became of them.
  /// - Throws: ``MemoError/cancelled``, with what is committed by then staying;
  ///   ``MemoError/database(_:)`` if memos could not be read or written.
  /// - Complexity: O(*k* log *n*) for *k* memos.
  @concurrent @discardableResult
  public func importMemos(
    _ memos: some Sequence<Entity> & Sendable, atomically: Bool = false, origin: String? = nil,
    progress: (@Sendable (Int) -> Void)? = nil
  ) async throws(MemoError) -> MemoImportReport {
    var running = MemoImport(self, atomically, origin, progress)
    for memo in memos { try await running.add(memo) }
    return try await running.finish()
  }

  /// Takes memos that come from elsewhere one after the other, as lines of a file do.
  ///
  /// Otherwise like the import of a sequence. What the sequence throws ends the import; memos that
  /// are not committed by then are not stored.
  ///
  /// - Parameters:
  ///   - memos: What is to be taken; the next one is asked for when the ones before are stored.
  ///   - atomically: Whether all are stored in one commit or none.
  ///   - origin: Who writes: see ``HistorySnapshot/origin``.
  ///   - progress: Called after each commit with the number of memos looked at, on any thread.
  /// - Returns: What became of them.
  /// - Throws: What the sequence throws; else a ``MemoError`` as the import of a sequence.
  /// - Complexity: O(*k* log *n*) for *k* memos.
  @discardableResult
  public func importMemos<Source: AsyncSequence>(
    _ memos: Source, atomically: Bool = false, origin: String? = nil,
    progress: (@Sendable (Int) -> Void)? = nil
  ) async throws -> MemoImportReport where Source.Element == Entity {
    var running = MemoImport(self, atomically, origin, progress)
    for try await memo in memos { try await running.add(memo) }
    return try await running.finish()
  }
}

/// An import on its way.
private struct MemoImport<Entity: MemoEntity> {
  private static var batchRowCount: Int { 500 }
  private static var batchByteCount: Int { 4 << 20 }

  private let store: MemoStore<Entity>
  private let isAtomic: Bool
  private let origin: String?
  private let progress: (@Sendable (Int) -> Void)?
  private var report = MemoImportReport()
  /// Memos that are not written yet, and the bytes of their texts.
  private var rows: [Entity] = []
  private var byteCount = 0

  init(
    _ store: MemoStore<Entity>, _ isAtomic: Bool, _ origin: String?,
    _ progress: (@Sendable (Int) -> Void)?
  ) {
    self.store = store
    self.isAtomic = isAtomic
    self.origin = origin
    self.progress = progress
  }

  mutating func add(_ row: Entity) async throws(MemoError) {
    rows.append(row)
    byteCount += row.text.utf8.count
    let isFull = rows.count >= Self.batchRowCount || byteCount >= Self.batchByteCount
    if isFull, !isAtomic { try await write() }
  }

  mutating func finish() async throws(MemoError) -> MemoImportReport {
    try await write()
    return report
  }

  private mutating func write() async throws(MemoError) {
    // A sequence that ends because its task was cancelled is not complete.
    if Task.isCancelled { throw .cancelled }
    if rows.isEmpty { return }
    let (rows, before, isAtomic) = (rows, report, isAtomic)
    report = try await store.write(origin) { memos throws(MemoError) in
      var report = before
      for (place, row) in rows.enumerated() {
        do throws(MemoError) {
          report.add(try memos.take(row))
        } catch {
          guard !isAtomic, error.concernsOneRow else { throw error }
          report.refuse(before.rowCount + place, error)
        }
      }
      return report
    }
    self.rows = []
    byteCount = 0
    progress?(report.rowCount)
  }
}

extension MemoTransaction {
  /// Takes a memo that comes from elsewhere: see `MemoEdits.take`.
  fileprivate func take(_ entity: Entity) throws(MemoError) -> ImportCounts {
    let stored = try edits.memo(for: try entity.id.memoID)
    var memo = try store.coder.memo(for: entity, over: stored, &edits.names)
    // The coder dates what differs to now, as it does for changes; by that date the file that a
    // memo came from would win over every change that the user has made since.
    if store.coder.schema.plain == nil, memo != stored { memo.changedAt = nil }
    guard MemoTimeline.canStore(memo) else { throw .unencodable(reason: "it is too large") }
    return try edits.take(memo)
  }
}

extension MemoError {
  /// Whether other memos can be imported.
  fileprivate var concernsOneRow: Bool {
    switch self {
    case .invalidID, .unencodable: true
    default: concernsOneMemo
    }
  }
}
