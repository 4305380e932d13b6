internal import Dispatch
internal import KVEngine
internal import MemoCore
internal import TextSearch

/// What reading a query gave.
struct HistoryReading<Entity: MemoEntity> {
  var items: [Entity]
  /// Where the list ends; `nil` when nothing was ever in it.
  var oldEnd: MemoKey?
}

/// Reads a query that may have to look at every memo.
///
/// Everything is read at one moment by a cursor, so memory holds what is found and a few blocks,
/// and what is written meanwhile neither waits nor is seen.
struct HistoryScan<Entity: MemoEntity>: Sendable {
  private let timeline: Result<MemoTimeline, MemoError>
  private let coder: EntityCoder<Entity>

  /// Takes what a scan needs of a store, without the store: a scan does not keep it open.
  init(_ store: MemoStore<Entity>) {
    timeline = Result { () throws(MemoError) in try store.timeline }
    coder = store.coder
  }

  /// Looks at one memo after the other, from the newest on, until enough are found.
  ///
  /// - Parameters:
  ///   - query: What is wanted.
  ///   - oldEnd: Where the list ended before; see ``HistoryWindow``.
  ///   - isWanted: Asked before each memo.
  ///   - report: Called for each memo that cannot be read, which is then left out.
  /// - Returns: What was found; `nil` as soon as it is not wanted any more.
  /// - Throws: What keeps the store from being read, and what `report` throws.
  func read(
    _ query: MemoQuery<Entity>, keeping oldEnd: MemoKey? = nil, while isWanted: () -> Bool,
    unreadable report: (MemoError) throws(MemoError) -> Void
  ) throws(MemoError) -> HistoryReading<Entity>? {
    if let range = query.order.range {
      return try read(query, range, while: isWanted, unreadable: report)
    }
    let selection = try query.selection
    let limit = query.usedLimit
    let keptEnd = query.anchor == .oldEnd ? oldEnd : nil
    var items: [Entity] = []
    var keys: [MemoKey] = []
    var keptCount = 0
    let timeline = try timeline.get()
    var cursor = try MemoSearch(selection.text).cursor(in: try timeline.snapshot())
    var names = NameSource(timeline)
    scan: while true {
      guard isWanted() else { return nil }
      do throws(MemoError) {
        let isFull = items.count >= limit
        guard !isFull || keptEnd != nil, keptCount - limit <= HistoryWindow.maximumGrowth,
          try cursor.advance()
        else { break scan }
        let key = try cursor.memoKey()
        let isKept = keptEnd.map { !key.isOlder(than: $0) } ?? false
        if isFull, !isKept { break scan }
        // The memo's text is the entity's: most memos need not be decoded.
        guard let memo = try cursor.found()?.memo else { continue }
        let entity = try coder.entity(of: memo, &names)
        guard selection.filter?(entity) ?? true else { continue }
        items.append(entity)
        keys.append(key)
        if isKept { keptCount += 1 }
      } catch {
        guard error.concernsOneMemo else { throw error }
        try report(error)
      }
    }
    let window = HistoryWindow(limit: limit, keptCount: keptCount, anchor: query.anchor)
    items.removeLast(max(0, items.count - window.count))
    return HistoryReading(items: items, oldEnd: items.isEmpty ? oldEnd : keys[items.count - 1])
  }
}

extension HistoryScan {
  /// The same in the order of an index.
  private func read(
    _ query: MemoQuery<Entity>, _ range: MemoOrder<Entity>.IndexRange, while isWanted: () -> Bool,
    unreadable report: (MemoError) throws(MemoError) -> Void
  ) throws(MemoError) -> HistoryReading<Entity>? {
    let selection = try query.selection
    let edits = try MemoEdits(reading: try timeline.get())
    var items: [Entity] = []
    var folded = FoldedText()
    var wasWanted = true
    try edits.forEachStoredMemo(
      in: range.index.declaration, from: range.lower, through: range.upper,
      descending: range.descending
    ) { memo throws(MemoError) in
      wasWanted = isWanted()
      guard wasWanted else { return false }
      do throws(MemoError) {
        guard selection.text.finds(memo.body, folded: &folded) else { return true }
        let entity = try coder.entity(of: memo, &edits.names)
        if selection.filter?(entity) ?? true { items.append(entity) }
      } catch {
        guard error.concernsOneMemo else { throw error }
        try report(error)
      }
      return items.count < query.usedLimit
    }
    return wasWanted ? HistoryReading(items: items, oldEnd: nil) : nil
  }
}

extension MemoKey {
  /// Whether a memo stands below another one.
  fileprivate func isOlder(than other: MemoKey) -> Bool {
    (microseconds, arrival) < (other.microseconds, other.arrival)
  }
}

extension DispatchQueue {
  /// Where reads run that nobody's thread may wait for, each on a thread of its own: Swift's task
  /// pool has as many threads as cores.
  static let scans = DispatchQueue(
    label: "MemoKV.HistoryScan", qos: .userInitiated, attributes: .concurrent)

  /// Reads on that queue, and waits for it without holding a thread.
  ///
  /// - Parameter body: Asks before each step whether it is still wanted, and returns `nil` as soon
  ///   as it is not.
  /// - Returns: What it returned.
  /// - Throws: What it throws; ``MemoError/cancelled`` when the task was cancelled before.
  static func scan<Value: Sendable>(
    _ body: @escaping @Sendable (_ isWanted: () -> Bool) throws(MemoError) -> Value?
  ) async throws(MemoError) -> Value {
    let isCancelled = SharedLock(false)
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        scans.async {
          continuation.resume(
            returning: Result { () throws(MemoError) in
              try body { !isCancelled.withLock { $0 } }
            })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
    guard let value = try outcome.get() else { throw .cancelled }
    return value
  }
}
