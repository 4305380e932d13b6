internal import Dispatch
internal import KVEngine
@_exported public import MemoCore

/// The memos of an app, newest first, in one folder.
///
/// Opening and the bounded reads are synchronous: the newest memos are there before the first
/// frame. Writes are awaited and durable when they return; they wait for the medium on the store's
/// own queue, never on the caller's thread or on Swift's task pool. Safe to use from any task.
///
/// ``Memo`` is the only entity so far.
public final class MemoStore<Entity: Sendable>: Sendable {
  let timeline: MemoTimeline
  private let queue = DispatchQueue(label: "MemoKV.MemoStore")

  init(_ timeline: MemoTimeline) {
    self.timeline = timeline
  }

  /// Runs a write on the store's queue and waits for it without holding a thread.
  func perform<Result: Sendable>(
    _ work: @escaping @Sendable (MemoTimeline) throws(MemoError) -> Result
  ) async throws(MemoError) -> Result {
    let timeline = timeline
    let outcome = await withCheckedContinuation { continuation in
      queue.async {
        do throws(MemoError) {
          continuation.resume(
            returning: Swift.Result<Result, MemoError>.success(try work(timeline)))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try outcome.get()
  }
}

extension MemoStore where Entity == Memo {
  /// Opens the memos in a folder.
  ///
  /// Nothing is created before the first write. When the newest state is damaged or not complete,
  /// the newest one that is complete is opened, and ``condition`` says so.
  ///
  /// - Parameter path: The store's folder. It need not exist; its parent must, once a memo is
  ///   written.
  /// - Throws: ``MemoError/database(_:)`` with what the engine found: a store without any complete
  ///   state, one of a newer library, one that this process has open already, files that cannot be
  ///   read.
  /// - Complexity: O(bytes of the log); independent of the number of memos.
  public convenience init(at path: String) throws(MemoError) {
    self.init(try MemoTimeline(at: path))
  }

  /// Opens an empty store that lives in memory and goes with its handle.
  ///
  /// Cannot fail.
  public static func inMemory() -> MemoStore<Memo> {
    MemoStore(MemoTimeline.inMemory())
  }

  /// The newest memos, newest first; of equal times the later arrival first.
  ///
  /// - Parameter count: At most this many.
  /// - Returns: The memos; fewer than `count` when there are no more.
  /// - Throws: ``MemoError/database(_:)`` or ``MemoError/damagedRecord(_:)`` if stored bytes do not
  ///   verify or cannot be read.
  /// - Complexity: O(`count`), independent of the number of memos.
  public func latest(_ count: Int) throws(MemoError) -> [Memo] {
    try timeline.latest(count)
  }

  /// One page of the history and the place where the next begins.
  public struct Page: Sendable {
    /// The memos, newest first.
    public let memos: [Memo]
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
  /// - Returns: The memos and where the next page begins.
  /// - Throws: As ``latest(_:)``.
  /// - Complexity: O(`count`), independent of the number of memos and of the position.
  public func page(
    after position: PagePosition? = nil, count: Int = 200
  ) throws(MemoError) -> Page {
    let page = try timeline.page(after: position?.key, count: count)
    return Page(memos: page.memos, next: page.next.map(PagePosition.init))
  }

  /// The memo with an id, or `nil` if there is none.
  ///
  /// - Throws: As ``latest(_:)``.
  public func memo(for id: MemoID) throws(MemoError) -> Memo? {
    try timeline.memo(for: id)
  }

  /// Number of memos.
  ///
  /// - Throws: ``MemoError/database(_:)`` after ``close()``.
  /// - Complexity: O(1).
  public func count() throws(MemoError) -> Int {
    try timeline.count()
  }

  /// Stores a new memo; it is durable when the call returns.
  ///
  /// - Throws: ``MemoError/duplicateID`` if there is a memo with the id; ``MemoError/database(_:)``
  ///   if it could not be written.
  public func insert(_ memo: Memo) async throws(MemoError) {
    try await perform { timeline throws(MemoError) in try timeline.insert(memo) }
  }

  /// Stores a memo, in place of the one with its id if there is one; durable when it returns.
  ///
  /// - Returns: The memo that was replaced.
  /// - Throws: ``MemoError/database(_:)`` if it could not be written.
  @discardableResult
  public func upsert(_ memo: Memo) async throws(MemoError) -> Memo? {
    try await perform { timeline throws(MemoError) in try timeline.upsert(memo) }
  }

  /// Deletes the memo with an id; durable when it returns.
  ///
  /// - Returns: The memo; `nil` if there was none.
  /// - Throws: ``MemoError/database(_:)`` if it could not be written.
  @discardableResult
  public func delete(_ id: MemoID) async throws(MemoError) -> Memo? {
    try await perform { timeline throws(MemoError) in try timeline.delete(id) }
  }

  /// Ends the use of the store.
  ///
  /// What was written stays durable without it.
  ///
  /// - Throws: ``MemoError/database(_:)`` if the engine could not end cleanly.
  public func close() async throws(MemoError) {
    try await perform { timeline throws(MemoError) in try timeline.close() }
  }
}

/// A place in the history: right behind one memo.
public struct PagePosition: Sendable, Hashable {
  let key: MemoKey

  init(_ key: MemoKey) {
    self.key = key
  }
}
