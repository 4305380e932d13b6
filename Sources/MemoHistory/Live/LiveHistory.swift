internal import Dispatch
internal import KVEngine
public import Observation

// What is shown is the newest snapshot with the edits of this history on top that it does not hold
// yet. An edit is there at once, is written behind in the order of the calls, goes when a snapshot
// holds it, and is taken back when writing it fails.

/// The newest memos for a SwiftUI view, with verbs for its buttons.
///
/// ```swift
/// @State private var notes: LiveHistory<Note>
/// List(notes.items) { note in Text(note.text) }
/// Button("Add") { notes.insert(Note(text: draft)) }
/// ```
///
/// Making one does nothing; the store is read when something is asked for first. What a filter or a
/// search wants is read outside of the main actor, and ``isReading`` until it is there.
@MainActor @Observable
public final class LiveHistory<Entity: MemoEntity> {
  /// An edit that no snapshot is known to hold.
  private struct Edit {
    let number: UInt64
    let id: Entity.ID
    /// What the memo is from then on; `nil` when it is deleted.
    let memo: Entity?
    /// How to change the memo when it was not as it was shown; `nil` where that does not matter.
    let change: ((inout Entity) -> Void)?
    /// The commits of the store when it was written; `nil` before.
    var commitCount: UInt64?
  }

  /// Items and headers, which change together: whoever looks in between must find no other.
  private struct List: Equatable {
    var items: [Entity] = []
    var sections: HistorySections<HistorySectionKey>?
  }

  @ObservationIgnored private let store: MemoStore<Entity>
  @ObservationIgnored private let live: LiveQuery<Entity>
  @ObservationIgnored private var registration: HistoryBoard.Registration?
  @ObservationIgnored private var edits: [Edit] = []
  @ObservationIgnored private var lastNumber: UInt64 = 0
  /// Memos whose changes were refused and are about to be made anew.
  @ObservationIgnored private let outdated = SharedLock<Set<Entity.ID>>([])
  /// What was read last; `nil` before.
  @ObservationIgnored private var read: HistorySnapshot<Entity>?
  @ObservationIgnored private var settlers: [CheckedContinuation<Void, Never>] = []
  private var shown = List()
  private var isAnswered = false
  private var readError: MemoError?
  private var editError: MemoError?

  /// Makes a history that is read when something is asked for first.
  ///
  /// - Parameters:
  ///   - store: Whose memos.
  ///   - query: Which of them. Default: the newest 200.
  public init(_ store: MemoStore<Entity>, _ query: MemoQuery<Entity> = MemoQuery()) {
    self.store = store
    self.query = query
    live = LiveQuery(store, query)
  }

  /// The memos in the order of ``query``, with every edit that was made through this history.
  public var items: [Entity] {
    start()
    return shown.items
  }

  /// The memos below their headers, consistent with ``items``; empty when the query asks for none.
  ///
  /// ```swift
  /// ForEach(notes.sections) { section in
  ///   Section("\(section.key)") {
  ///     ForEach(section.items) { note in Text(note.text) }
  ///       .onDelete { notes.delete(at: $0, in: section) }
  ///   }
  /// }
  /// ```
  ///
  /// - Complexity: O(sections).
  public var sections: [HistorySection<Entity>] {
    start()
    let list = shown
    return (list.sections?.headers ?? []).map { header in
      HistorySection(id: header.id, items: list.items[header.items])
    }
  }

  /// Whether the items do not answer ``query`` yet: what a filter or a search wants is still read.
  public var isReading: Bool {
    start()
    return !isAnswered
  }

  /// Why the newest memos could not be read or an edit not be written; `nil` when all is well.
  ///
  /// The items stay as they were. What could not be read is tried again with every change; what
  /// could not be written stands here until the next edit.
  public var error: MemoError? {
    start()
    return readError ?? editError
  }

  /// What is shown.
  ///
  /// Another limit or filter and other sections are due at once, another search after a moment, so
  /// that typing does not read for every letter; each ends the search before it. Until the memos
  /// are there the items stay as they are and ``isReading`` is true.
  public var query: MemoQuery<Entity> {
    didSet {
      live.setQuery(query)
      noteAnswer()
    }
  }

  /// Stops snapshots while the view is not shown, a search that is on its way as well; edits are
  /// shown all the same.
  public func pause() { live.pause() }

  /// Goes on: one snapshot at once if anything has changed.
  public func resume() { live.resume() }

  /// Reads again now; with a filter or a search as soon as possible, without waiting for it.
  public func refresh() {
    start()
    readNow()
  }

  /// Waits until every edit so far is written or refused, and shows the memos as they are then.
  public func settle() async {
    start()
    if !edits.allSatisfy({ $0.commitCount != nil }) {
      await withCheckedContinuation { settlers.append($0) }
    }
    if let snapshot = live.next() {
      take(snapshot)
    } else if let snapshot = await live.nextRead() {
      take(snapshot)
    }
  }

  private func start() {
    guard registration == nil else { return }
    registration = store.board.add(live)
    live.show { [weak self] snapshot in self?.take(snapshot) }
    readNow()
  }

  private func readNow() {
    if let snapshot = live.next() { take(snapshot) } else { live.refresh() }
  }

  // MARK: - Verbs

  /// Inserts a memo; it is shown at once and written behind.
  ///
  /// - Parameter memo: A memo with a new id. When it cannot be written it goes, and ``error`` says
  ///   why.
  public func insert(_ memo: Entity) {
    edit(memo.id, to: memo) { store throws(MemoError) in
      try store.writeNow { memos throws(MemoError) in try memos.insert(memo) }
      return true
    }
  }

  /// Changes a memo that is shown; the change is shown at once and written behind.
  ///
  /// When somebody else has changed the memo meanwhile, the closure is called again with the newer
  /// one, so that nothing of either change is lost.
  ///
  /// - Parameters:
  ///   - id: What names the memo; one that is not shown is left alone.
  ///   - change: Changes it; not the id.
  public func update(_ id: Entity.ID, _ change: @escaping (inout Entity) -> Void) {
    guard let old = items.first(where: { $0.id == id }) else { return }
    update(old, isAnew: false, change)
  }

  /// Changes a memo.
  ///
  /// - Returns: The memo as it is then.
  @discardableResult
  private func update(
    _ old: Entity, isAnew: Bool, _ change: @escaping (inout Entity) -> Void
  ) -> Entity {
    let id = old.id
    var new = old
    change(&new)
    let changed = new
    guard changed.id == id, changed != old else { return old }
    edit(id, to: changed, change) { [outdated] store throws(MemoError) in
      // Changes that were made on top of one that was refused are refused with it, up to the first
      // of those that are made anew.
      let isRefused = outdated.withLock { ids in
        if isAnew { ids.remove(id) }
        return ids.contains(id)
      }
      if isRefused { return false }
      let isDone = try store.writeNow { memos throws(MemoError) in
        try memos.replace(old, with: changed)
      }
      if !isDone { outdated.withLock { _ = $0.insert(id) } }
      return isDone
    }
    return changed
  }

  /// Deletes memos by their places, as a list's `onDelete` names them; they go at once and are
  /// deleted behind.
  ///
  /// - Parameter offsets: Indexes of ``items``; those outside are left alone.
  public func delete(at offsets: some Sequence<Int>) {
    let items = items
    for offset in offsets where items.indices.contains(offset) { delete(items[offset].id) }
  }

  /// Deletes memos by their places below a header, as the `onDelete` of a section names them.
  ///
  /// - Parameters:
  ///   - offsets: Places below the header, from 0 on; those outside are left alone.
  ///   - section: One of ``sections``.
  public func delete(at offsets: some Sequence<Int>, in section: HistorySection<Entity>) {
    let items = Array(section.items)
    for offset in offsets where items.indices.contains(offset) { delete(items[offset].id) }
  }

  /// Deletes a memo; it goes at once and is deleted behind.
  ///
  /// - Parameter id: What names the memo; one that is not there is fine.
  public func delete(_ id: Entity.ID) {
    edit(id, to: nil) { store throws(MemoError) in
      try store.deleteNow([id])
      return true
    }
  }

  private func edit(
    _ id: Entity.ID, to memo: Entity?, _ change: ((inout Entity) -> Void)? = nil,
    _ write: @escaping @Sendable (MemoStore<Entity>) throws(MemoError) -> Bool
  ) {
    start()
    if editError != nil { editError = nil }
    lastNumber += 1
    let number = lastNumber
    edits.append(Edit(number: number, id: id, memo: memo, change: change, commitCount: nil))
    show()
    store.enqueue(write) { [weak self, board = store.board] result in
      let commitCount = board.commitCount
      DispatchQueue.main.async {
        MainActor.assumeIsolated { self?.end(number, result, commitCount) }
      }
    }
  }

  private func end(_ number: UInt64, _ result: Result<Bool, MemoError>, _ commitCount: UInt64) {
    guard let index = edits.firstIndex(where: { $0.number == number }) else { return }
    switch result {
    case .success(true):
      edits[index].commitCount = commitCount
    case .success(false):
      makeAnew(edits[index].id)
    case .failure(let failure):
      edits.remove(at: index)
      editError = failure
      show()
    }
    if edits.allSatisfy({ $0.commitCount != nil }) {
      settlers.forEach { $0.resume() }
      settlers.removeAll()
    }
  }

  /// Makes the changes to a memo that are not written yet again, on what is stored.
  ///
  /// All of them, since each was made on top of the one before. The writes that are under way find
  /// that they are refused, and nobody waits for them.
  private func makeAnew(_ id: Entity.ID) {
    let isMeant = { (edit: Edit) in
      edit.commitCount == nil && edit.id == id && edit.change != nil
    }
    let changes = edits.filter(isMeant).compactMap(\.change)
    edits.removeAll(where: isMeant)
    do throws(MemoError) {
      // What others have made of it need not be among the memos that are shown.
      if var memo = try store.memo(for: id) {
        for (number, change) in changes.enumerated() {
          memo = update(memo, isAnew: number == 0, change)
        }
      }
    } catch {
      editError = error
    }
    show()
  }

  // MARK: - Showing

  private func take(_ snapshot: HistorySnapshot<Entity>) {
    // One that was on its way here when a newer one was read.
    if let read, snapshot.generation < read.generation { return }
    read = snapshot
    edits.removeAll { edit in edit.commitCount.map { $0 <= snapshot.commitCount } ?? false }
    if readError != snapshot.error { readError = snapshot.error }
    noteAnswer()
    show()
  }

  /// Notes whether what was read answers the query.
  private func noteAnswer() {
    let isAnswered = read.map { query.isAnswered(by: $0.query) } ?? false
    if isAnswered != self.isAnswered { self.isAnswered = isAnswered }
  }

  private func show() {
    var list = List(items: read?.items ?? [], sections: read?.sections)
    let count = list.items.count
    if !edits.isEmpty {
      // The list still is that of the query that was read.
      let listed = read?.query ?? query
      // One whose search is refused has no memos of its own, but may still show those of another.
      let selection = try? listed.selection
      for edit in edits {
        if let memo = edit.memo, selection?.includes(memo) ?? false {
          list.items.place(memo, in: listed.order)
        } else {
          list.items.removeAll { $0.id == edit.id }
        }
      }
      list.items.removeLast(max(0, list.items.count - max(query.limit, count)))
      list.sections = listed.sections?.sections(of: list.items)
    }
    if list != shown { shown = list }
  }
}

extension Array where Element: MemoEntity {
  /// Puts a memo where a list shows it, unless it stands there already.
  fileprivate mutating func place(_ memo: Element, in order: MemoOrder<Element>) {
    if let index = firstIndex(where: { $0.id == memo.id }) {
      if order.keepsPlace(self[index], memo) { return self[index] = memo }
      remove(at: index)
    }
    insert(memo, at: firstIndex { order.places(memo, before: $0) } ?? endIndex)
  }
}
