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
/// Making one does nothing; the store is read when something is asked for first.
@MainActor @Observable
public final class LiveHistory<Entity: MemoEntity> {
  /// An edit that no snapshot is known to hold.
  private struct Edit {
    let number: UInt64
    let apply: (inout [Entity]) -> Void
    /// Of a change to a memo: which one, and how to change it when it was not as it was shown.
    let change: (id: Entity.ID, body: (inout Entity) -> Void)?
    /// The commits of the store when it was written; `nil` before.
    var commitCount: UInt64?
  }

  @ObservationIgnored private let store: MemoStore<Entity>
  @ObservationIgnored private let live: LiveQuery<Entity>
  @ObservationIgnored private var registration: HistoryBoard.Registration?
  @ObservationIgnored private var edits: [Edit] = []
  @ObservationIgnored private var lastNumber: UInt64 = 0
  /// Memos whose changes were refused and are about to be made anew.
  @ObservationIgnored private let outdated = SharedLock<Set<Entity.ID>>([])
  @ObservationIgnored private var read: [Entity] = []
  @ObservationIgnored private var settlers: [CheckedContinuation<Void, Never>] = []
  private var shown: [Entity] = []
  private var readError: MemoError?
  private var editError: MemoError?

  /// Makes a history that is read when something is asked for first.
  ///
  /// - Parameters:
  ///   - store: Whose memos.
  ///   - query: Which of them. Default: the newest 200.
  public init(_ store: MemoStore<Entity>, _ query: MemoQuery = MemoQuery()) {
    self.store = store
    live = LiveQuery(store, query)
  }

  /// The memos, newest first, with every edit that was made through this history.
  public var items: [Entity] {
    start()
    return shown
  }

  /// Why the newest memos could not be read or an edit not be written; `nil` when all is well.
  ///
  /// The items stay as they were. What could not be read is tried again with every change; what
  /// could not be written stands here until the next edit.
  public var error: MemoError? {
    start()
    return readError ?? editError
  }

  /// What is shown; changing the limit is due at once.
  public var query: MemoQuery {
    get { live.query }
    set { live.setQuery(newValue) }
  }

  /// Stops snapshots while the view is not shown; edits are shown all the same.
  public func pause() { live.pause() }

  /// Goes on: one snapshot at once if anything has changed.
  public func resume() { live.resume() }

  /// Reads again now.
  public func refresh() {
    start()
    take(live.next())
  }

  /// Waits until every edit so far is written or refused, and shows the memos as they are then.
  public func settle() async {
    start()
    if !edits.allSatisfy({ $0.commitCount != nil }) {
      await withCheckedContinuation { settlers.append($0) }
    }
    take(live.next())
  }

  private func start() {
    guard registration == nil else { return }
    registration = store.board.add(live)
    live.show { [weak self] snapshot in self?.take(snapshot) }
    take(live.next())
  }

  // MARK: - Verbs

  /// Inserts a memo; it is shown at once and written behind.
  ///
  /// - Parameter memo: A memo with a new id. When it cannot be written it goes, and ``error`` says
  ///   why.
  public func insert(_ memo: Entity) {
    edit({ $0.place(memo) }) { store throws(MemoError) in
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
    update(id, isAnew: false, change)
  }

  private func update(
    _ id: Entity.ID, isAnew: Bool, _ change: @escaping (inout Entity) -> Void
  ) {
    guard let old = items.first(where: { $0.id == id }) else { return }
    var new = old
    change(&new)
    let changed = new
    guard changed.id == id, changed != old else { return }
    edit({ $0.place(changed) }, change: (id, change)) { [outdated] store throws(MemoError) in
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
  }

  /// Deletes memos by their places, as a list's `onDelete` names them; they go at once and are
  /// deleted behind.
  ///
  /// - Parameter offsets: Indexes of ``items``; those outside are left alone.
  public func delete(at offsets: some Sequence<Int>) {
    let items = items
    for offset in offsets where items.indices.contains(offset) { delete(items[offset].id) }
  }

  /// Deletes a memo; it goes at once and is deleted behind.
  ///
  /// - Parameter id: What names the memo; one that is not there is fine.
  public func delete(_ id: Entity.ID) {
    edit({ $0.removeAll { $0.id == id } }) { store throws(MemoError) in
      try store.deleteNow([id])
      return true
    }
  }

  private func edit(
    _ apply: @escaping (inout [Entity]) -> Void,
    change: (id: Entity.ID, body: (inout Entity) -> Void)? = nil,
    _ write: @escaping @Sendable (MemoStore<Entity>) throws(MemoError) -> Bool
  ) {
    start()
    if editError != nil { editError = nil }
    lastNumber += 1
    let number = lastNumber
    edits.append(Edit(number: number, apply: apply, change: change, commitCount: nil))
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
      if let id = edits[index].change?.id { makeAnew(id) }
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
    let isMeant = { (edit: Edit) in edit.commitCount == nil && edit.change?.id == id }
    let changes = edits.filter(isMeant).compactMap(\.change)
    edits.removeAll(where: isMeant)
    take(live.next())
    for (number, change) in changes.enumerated() {
      update(id, isAnew: number == 0, change.body)
    }
  }

  // MARK: - Showing

  private func take(_ snapshot: HistorySnapshot<Entity>) {
    read = snapshot.items
    edits.removeAll { edit in edit.commitCount.map { $0 <= snapshot.commitCount } ?? false }
    if readError != snapshot.error { readError = snapshot.error }
    show()
  }

  private func show() {
    var items = read
    for edit in edits { edit.apply(&items) }
    items.removeLast(max(0, items.count - max(live.query.limit, read.count)))
    if items != shown { shown = items }
  }
}

extension Array where Element: MemoEntity {
  /// Puts a memo where a history shows it: behind those that are newer, before those of its
  /// instant.
  fileprivate mutating func place(_ memo: Element) {
    removeAll { $0.id == memo.id }
    let instant = memo.createdAt.microseconds
    insert(memo, at: firstIndex { $0.createdAt.microseconds <= instant } ?? endIndex)
  }
}
