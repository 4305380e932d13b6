internal import Dispatch
internal import MemoCore

extension MemoStore where Entity: MemoEntity {
  /// The newest memos, newest first; of equal times the later arrival first.
  ///
  /// - Parameters:
  ///   - count: At most this many.
  ///   - report: Called for each memo that does not fit the app's type, which is then left out.
  ///     Default: the first such memo makes the call throw.
  /// - Returns: The memos; fewer than `count` when there are no more.
  /// - Throws: ``MemoError/database(_:)`` or ``MemoError/damagedRecord(_:)`` if stored bytes do not
  ///   verify or cannot be read, ``MemoError/unreadable(_:reason:)`` or
  ///   ``MemoError/newerSchema(found:known:)`` for a memo that does not fit the app's type.
  /// - Complexity: O(`count`), independent of the number of memos.
  public func latest(
    _ count: Int, unreadable report: ((MemoError) -> Void)? = nil
  ) throws(MemoError) -> [Entity] {
    try entities(of: try timeline.latest(count), report)
  }

  /// One page of the history and the place where the next begins.
  public struct Page: Sendable {
    /// The memos, newest first.
    public let memos: [Entity]
    /// Where the next page begins; `nil` when there is none.
    public let next: PagePosition?
  }

  /// The memos that follow a page, newest first.
  ///
  /// Memos that come or go between two pages make no other memo show up twice or get lost.
  ///
  /// - Parameters:
  ///   - position: ``Page/next`` of the page before; `nil` begins with the newest memo.
  ///   - count: At most this many.
  ///   - report: As for ``latest(_:unreadable:)``.
  /// - Returns: The memos and where the next page begins.
  /// - Throws: As ``latest(_:unreadable:)``.
  /// - Complexity: O(`count`), independent of the number of memos and of the position.
  public func page(
    after position: PagePosition? = nil, count: Int = 200,
    unreadable report: ((MemoError) -> Void)? = nil
  ) throws(MemoError) -> Page {
    let page = try timeline.page(after: position?.key, count: count)
    return Page(
      memos: try entities(of: page.memos, report), next: page.next.map(PagePosition.init))
  }

  /// The memo with an id, or `nil` if there is none.
  ///
  /// - Throws: As ``latest(_:unreadable:)``; ``MemoError/invalidID(reason:)`` for an id that no
  ///   memo can have.
  public func memo(for id: Entity.ID) throws(MemoError) -> Entity? {
    guard let memo = try timeline.memo(for: try id.memoID) else { return nil }
    return try entity(of: memo)
  }

  /// Number of memos.
  ///
  /// - Throws: ``MemoError/database(_:)`` after ``close()``.
  /// - Complexity: O(1).
  public func count() throws(MemoError) -> Int {
    try timeline.count()
  }

  /// Reads as much as is wanted of one moment, off the caller's actor.
  ///
  /// - Parameter body: Runs on a thread of its own, beside writes and other reads. When the task is
  ///   cancelled before it starts, it does not.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws; ``MemoError/cancelled``; ``MemoError/database(_:)`` after
  ///   ``close()``.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing MemoReader<Entity>) throws -> Value
  ) async throws -> Value {
    let outcome = try await DispatchQueue.scan {
      isWanted throws(MemoError) -> Result<Value, any Error>? in
      guard isWanted() else { return nil }
      return Result {
        try body(MemoReader(store: self, edits: try MemoEdits(reading: try self.timeline)))
      }
    }
    return try outcome.get()
  }

  func entity(of memo: Memo) throws(MemoError) -> Entity {
    var names = NameSource(try timeline)
    return try coder.entity(of: memo, &names)
  }

  func entities(
    of memos: [Memo], _ report: ((MemoError) -> Void)?
  ) throws(MemoError) -> [Entity] {
    var decoded: [MemoID: DecodedMemo<Entity>]?
    return try entities(of: memos, reusing: &decoded, report)
  }

  /// The entities of memos; those that were decoded before and are unchanged are not decoded again.
  ///
  /// - Parameters:
  ///   - memos: What they are made of.
  ///   - decoded: What is known by the ids of memos; then that of exactly these memos. `nil` when
  ///     nobody wants it.
  ///   - report: As for ``latest(_:unreadable:)``.
  /// - Returns: The entities, without those that were reported.
  /// - Throws: As ``latest(_:unreadable:)``.
  func entities(
    of memos: [Memo], reusing decoded: inout [MemoID: DecodedMemo<Entity>]?,
    _ report: ((MemoError) -> Void)?
  ) throws(MemoError) -> [Entity] {
    if let plain = coder.schema.plain { return plain.entities(memos) }
    var names = NameSource(try timeline)
    var entities: [Entity] = []
    entities.reserveCapacity(memos.count)
    var now: [MemoID: DecodedMemo<Entity>]? = decoded.map { _ in [:] }
    for memo in memos {
      do throws(MemoError) {
        let entity: Entity
        if let known = decoded?[memo.id], known.memo == memo {
          entity = known.entity
        } else {
          entity = try coder.entity(of: memo, &names)
        }
        entities.append(entity)
        now?[memo.id] = DecodedMemo(memo: memo, entity: entity)
      } catch {
        guard let report, error.concernsOneMemo else { throw error }
        report(error)
      }
    }
    decoded = now
    return entities
  }
}

/// A memo and what the app makes of it.
struct DecodedMemo<Entity: Sendable> {
  let memo: Memo
  let entity: Entity
}

extension MemoError {
  /// Whether the store and its other memos are fine.
  var concernsOneMemo: Bool {
    switch self {
    case .unreadable, .newerSchema, .damagedRecord: true
    default: false
    }
  }
}

/// A place in the history: right behind one memo.
public struct PagePosition: Sendable, Hashable {
  let key: MemoKey

  init(_ key: MemoKey) {
    self.key = key
  }
}
