internal import Dispatch
internal import KVEngine
internal import MemoCore
internal import TextSearch

/// A memo that a search found, and where in its text.
public struct MemoSearchHit<Entity: MemoEntity>: Sendable, Hashable {
  /// The memo.
  public let memo: Entity
  /// Where in its text the parts of the search are, in order, none over another: whole characters
  /// of Unicode, as a highlight wants them.
  ///
  /// Of a part that is there more than 10,000 times the first ones; none for an empty search.
  public let ranges: [Range<String.Index>]
  /// Its deletion, when it was found in the trash.
  public let deletion: MemoDeletion?
}

/// What a search finds, as a sequence to wait on: newest first, each memo as soon as it is found.
///
/// All of it is of one moment, that of the first element; what is written meanwhile neither waits
/// nor is seen. Nothing is read while nobody asks for more, and memory holds some memos that were
/// found, and the one that is looked at. As long as an iterator is not at its end, what is deleted
/// or replaced meanwhile stays in the files for it.
public struct MemoSearchResults<Entity: MemoEntity>: AsyncSequence, Sendable {
  /// A memo with the places that a highlight wants.
  public typealias Element = MemoSearchHit<Entity>
  /// What can go wrong.
  public typealias Failure = MemoError

  fileprivate let store: MemoStore<Entity>
  fileprivate let search: Result<MemoSearch, MemoError>
  fileprivate let limit: Int
  fileprivate let report: (@Sendable (MemoError) -> Void)?

  /// Begins with the newest memos.
  ///
  /// - Returns: An iterator for one task, with a moment of its own.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Looks for one memo after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let results: MemoSearchResults
    /// What was found and not asked for yet, the next one last.
    private var found: [Element] = []
    /// How many more are wanted behind those.
    private var rest: Int
    /// The moment, when there is one, and behind which memo it goes on.
    private var snapshot: Snapshot?
    private var position: [UInt8]?
    private var isOver = false

    fileprivate init(_ results: MemoSearchResults) {
      self.results = results
      rest = results.limit
    }

    /// The next memo that the search finds.
    ///
    /// - Returns: `nil` behind the last one, and after a failure.
    /// - Throws: ``MemoError/cancelled`` when the task is cancelled, so that what was found so far
    ///   does not look like everything; ``MemoError/invalidSearch(reason:)`` for a search that is
    ///   too large; else as ``MemoStore/latest(_:unreadable:)``.
    public mutating func next() async throws(MemoError) -> MemoSearchHit<Entity>? {
      try await read()
    }

    /// The next memo that the search finds.
    ///
    /// - Parameter actor: Where the caller is; nothing runs there.
    /// - Returns: `nil` behind the last one, and after a failure.
    /// - Throws: As ``next()``.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(MemoError) -> MemoSearchHit<Entity>? {
      try await read()
    }

    private mutating func read() async throws(MemoError) -> Element? {
      if Task.isCancelled, !isOver || !found.isEmpty {
        end()
        throw .cancelled
      }
      if let hit = found.popLast() { return hit }
      if isOver || rest == 0 {
        end()
        return nil
      }
      let (results, rest, old, position) = (results, rest, snapshot, position)
      end()
      let portion = try await DispatchQueue.scan { isWanted throws(MemoError) in
        try results.portion(atMost: rest, of: old, after: position, while: isWanted)
      }
      self.rest -= portion.hits.count
      if let next = portion.next, self.rest > 0 {
        (snapshot, self.position, isOver) = (portion.snapshot, next, false)
      }
      found = portion.hits.reversed()
      return found.popLast()
    }

    /// Holds on to nothing any more.
    private mutating func end() {
      (isOver, snapshot, found) = (true, nil, [])
    }
  }

  /// What is read in one go.
  private struct Portion: Sendable {
    let snapshot: Snapshot
    var hits: [Element] = []
    /// The last memo that was looked at; `nil` at the end.
    var next: [UInt8]?
  }

  /// The most memos of a portion.
  private static var portionCount: Int { 64 }
  /// How much is read behind the first memo of a portion, in bytes: a millisecond or so.
  ///
  /// What is found is not kept waiting for the next of a rare word, and what waits to be asked for
  /// is little.
  private static var portionByteCount: Int { 512 << 10 }
  /// What a memo costs beside its bytes, in bytes.
  private static var memoByteCount: Int { 64 }
  /// The most places of one part in a text.
  private static var rangeCount: Int { 10_000 }

  /// Looks at memos until some are found.
  ///
  /// - Returns: What was found, nothing only at the end; `nil` as soon as it is not wanted.
  private func portion(
    atMost count: Int, of snapshot: Snapshot?, after position: [UInt8]?,
    while isWanted: () -> Bool
  ) throws(MemoError) -> Portion? {
    let search = try search.get()
    let timeline = try store.timeline
    let snapshot = if let snapshot { snapshot } else { try timeline.snapshot() }
    var portion = Portion(snapshot: snapshot)
    var cursor = try search.cursor(in: snapshot, after: position)
    var names = NameSource(timeline)
    var folded = FoldedText()
    var byteCount = 0
    let count = Swift.min(count, Self.portionCount)
    while portion.hits.count < count, byteCount < Self.portionByteCount {
      guard isWanted() else { return nil }
      guard try cursor.advance() else {
        portion.next = nil
        break
      }
      portion.next = cursor.position
      do throws(MemoError) {
        if let found = try cursor.found() {
          portion.hits.append(try hit(found, search.query, &names, &folded))
        }
      } catch {
        guard let report, error.concernsOneMemo else { throw error }
        report(error)
      }
      if !portion.hits.isEmpty { byteCount += cursor.byteCount + Self.memoByteCount }
    }
    return portion
  }

  private func hit(
    _ found: FoundMemo, _ query: SearchQuery, _ names: inout NameSource,
    _ folded: inout FoldedText
  ) throws(MemoError) -> Element {
    let entity = try store.coder.entity(of: found.memo, &names)
    var text = entity.text
    text.makeContiguousUTF8()
    let ranges = query.ranges(in: text, folded: &folded, limit: Self.rangeCount).map { range in
      let lower = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
      return lower..<text.utf8.index(lower, offsetBy: range.count)
    }
    return MemoSearchHit(
      memo: entity, ranges: ranges, deletion: found.deleted.map(MemoDeletion.init))
  }
}

extension MemoStore where Entity: MemoEntity {
  /// Looks for memos by what their texts hold, newest first.
  ///
  /// Parts of the search that are separated by white space have to be there all, in any order, as
  /// substrings, in any script and from one character on; a part between quotation marks may have
  /// white space. Reads on a queue of its own, never on the caller's thread.
  ///
  /// ```swift
  /// for try await hit in store.search("milk") { list.append(hit) }
  /// ```
  ///
  /// - Parameters:
  ///   - text: What a user typed, at most 1,024 bytes and 32 parts; an empty one finds everything.
  ///   - limit: At most this many memos. Default: all.
  ///   - since: Finds only memos that are not older. Default: all.
  ///   - before: Finds only memos that are older. Default: all.
  ///   - folding: Which forms of a character are the same. Default: case, width, kana and normal
  ///     form.
  ///   - isInTrash: Whether to look into the trash and nowhere else; the latest deletion comes
  ///     first there. Default: no.
  ///   - report: Called on any thread for each memo that cannot be read, which is then left out.
  ///     Default: the first such memo ends the sequence with its error.
  /// - Returns: A sequence for any number of tasks, each of which gets a moment of its own.
  /// - Complexity: O(bytes of the memos up to the last one that is asked for).
  public func search(
    _ text: String, limit: Int = .max, since: MemoTimestamp? = nil, before: MemoTimestamp? = nil,
    folding: TextFolding = .standard, inTrash isInTrash: Bool = false,
    unreadable report: (@Sendable (MemoError) -> Void)? = nil
  ) -> MemoSearchResults<Entity> {
    let search = Result { () throws(MemoError) in
      var search = MemoSearch(try SearchQuery.typed(text, folding: folding))
      (search.since, search.before, search.isInTrash) = (since, before, isInTrash)
      return search
    }
    return MemoSearchResults(store: self, search: search, limit: max(limit, 0), report: report)
  }
}
