internal import Dispatch
internal import KVEngine
internal import MemoCore

/// All memos of one moment, page by page, as a sequence to wait on: for an export.
///
/// The moment is that of the first page; what is written meanwhile neither waits nor is seen, and
/// memory holds one page. As long as an iterator is not at its end, what is deleted or replaced
/// meanwhile stays in the files for it.
public struct MemoPages<Entity: MemoEntity>: AsyncSequence, Sendable {
  /// Neighbouring memos, newest first.
  public typealias Element = [Entity]
  /// What can go wrong.
  public typealias Failure = MemoError

  fileprivate let store: MemoStore<Entity>
  fileprivate let count: Int
  fileprivate let report: (@Sendable (MemoError) -> Void)?

  /// Begins with the newest memos.
  ///
  /// - Returns: An iterator for one task, with a moment of its own.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Reads one page after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let pages: MemoPages
    /// The moment, when there is one, and where in it the next page begins.
    private var snapshot: Snapshot?
    private var position: MemoKey?
    private var isOver = false

    fileprivate init(_ pages: MemoPages) {
      self.pages = pages
    }

    /// The next page.
    ///
    /// - Returns: `nil` behind the last one, and after a failure.
    /// - Throws: ``MemoError/cancelled`` when the task is cancelled, so that what was read so far
    ///   does not look like everything; else as ``MemoStore/latest(_:unreadable:)``.
    public mutating func next() async throws(MemoError) -> [Entity]? {
      try await read()
    }

    /// The next page.
    ///
    /// - Parameter actor: Where the caller is; nothing runs there.
    /// - Returns: `nil` behind the last one, and after a failure.
    /// - Throws: As ``next()``.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(MemoError) -> [Entity]? {
      try await read()
    }

    private mutating func read() async throws(MemoError) -> [Entity]? {
      if isOver { return nil }
      isOver = true
      let (pages, old, position) = (pages, snapshot, position)
      snapshot = nil
      let read = try await DispatchQueue.scan { isWanted throws(MemoError) -> Reading? in
        guard isWanted() else { return nil }
        let snapshot = if let old { old } else { try pages.store.timeline.snapshot() }
        let page = try snapshot.page(after: position, count: pages.count)
        return Reading(
          snapshot: snapshot, next: page.next,
          memos: page.memos.isEmpty ? nil : try pages.store.entities(of: page.memos, pages.report))
      }
      if let next = read.next {
        (snapshot, self.position, isOver) = (read.snapshot, next, false)
      }
      return read.memos
    }

    private struct Reading: Sendable {
      let snapshot: Snapshot
      let next: MemoKey?
      let memos: [Entity]?
    }
  }
}

extension MemoStore where Entity: MemoEntity {
  /// All memos of one moment, newest first, page by page.
  ///
  /// Reads on a queue of its own, never on the caller's thread.
  ///
  /// ```swift
  /// for try await page in store.pages(of: 200) {
  ///   for note in page { file.append(note) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - count: How many memos a page has, at least one; the last one has fewer.
  ///   - report: Called for each memo that does not fit the app's type, which is then left out of
  ///     its page. Default: the first such memo ends the sequence with its error.
  /// - Returns: A sequence for any number of tasks, each of which gets a moment of its own.
  /// - Complexity: O(`count`) for each page.
  public func pages(
    of count: Int, unreadable report: (@Sendable (MemoError) -> Void)? = nil
  ) -> MemoPages<Entity> {
    MemoPages(store: self, count: max(count, 1), report: report)
  }
}
