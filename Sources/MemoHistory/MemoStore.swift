internal import Dispatch
internal import KVEngine
@_exported public import MemoCore
@_exported public import TextSearch

/// The memos of an app, newest first, in one folder.
///
/// Opening and the bounded reads are synchronous: the newest memos are there before the first
/// frame. Writes are awaited and durable when they return; they encode and wait for the medium on
/// the store's own queue, never on the caller's thread or on Swift's task pool. Safe to use from
/// any task.
///
/// What a memo is says a ``MemoEntity`` of the app; ``Memo`` is the ready-made one.
public final class MemoStore<Entity: Sendable>: Sendable {
  // The class itself asks nothing of its entity, as everything that it offers does: else the
  // runtime would look for the conformance among all of a program's when it first meets the type,
  // which takes a twentieth of a launch. The schema and the coder likewise.

  /// Shared with others who have opened the same folder.
  let open: OpenStore
  let coder: EntityCoder<Entity>
  /// How soon live histories show what was written.
  let reflection: ReflectionPolicy
  /// For how long deleted memos stay in the trash.
  let trashPeriod: Duration
  /// Since when the store has been open without a pause, by its clock.
  private let openedAt: Lock<Duration>
  /// When to look again for deletions that are over.
  let nextExpiry = Lock(Duration.zero)
  /// `nil` for the clocks of the system.
  private let givenClock: (any DeadlineClock)?
  private let isReleased = Lock(false)
  /// Whether the next part of an index is under way.
  let isBuildingIndexes = Lock(false)

  private init(
    _ open: OpenStore, _ coder: EntityCoder<Entity>, _ reflection: ReflectionPolicy,
    _ trashPeriod: Duration, _ clock: (any DeadlineClock)?
  ) {
    self.open = open
    self.coder = coder
    self.reflection = reflection
    self.trashPeriod = trashPeriod
    givenClock = clock
    openedAt = Lock(clock?.elapsed ?? DispatchDeadlines().elapsed)
  }

  deinit {
    // Nobody is left to be told; nothing that was acknowledged is lost without it.
    try? release(closing: false)
  }

  /// The memos; throws when they cannot be read yet.
  var timeline: MemoTimeline {
    get throws(MemoError) { try open.timeline }
  }

  /// Where commits are announced.
  var board: HistoryBoard { open.board }

  /// The time of live histories and deletions.
  var clock: any DeadlineClock { givenClock ?? DispatchDeadlines() }

  /// How long the store has been open without a pause, in microseconds.
  var openFor: UInt64 { (clock.elapsed - openedAt.withLock { $0 }).clampedMicroseconds }

  /// Begins the time again for which the store is open.
  private func restartOpenTime() {
    let now = clock.elapsed
    openedAt.withLock { $0 = now }
  }

  private func release(closing: Bool) throws(MemoError) {
    let wasReleased = isReleased.withLock { isReleased in
      defer { isReleased = true }
      return isReleased
    }
    if !wasReleased { try open.release(closing: closing) }
  }

  /// Does something on the store's queue, behind what was given to it before.
  ///
  /// - Parameters:
  ///   - work: What to do there.
  ///   - completion: Called there with what came of it.
  func enqueue<Value: Sendable>(
    _ work: @escaping @Sendable (MemoStore) throws(MemoError) -> Value,
    _ completion: @escaping @Sendable (Result<Value, MemoError>) -> Void
  ) {
    open.enqueue { completion(Result { () throws(MemoError) in try work(self) }) }
  }

  /// Does something on the store's queue and waits for it without holding a thread.
  func onQueue<Value: Sendable>(
    _ work: @escaping @Sendable (MemoStore) throws(MemoError) -> Value
  ) async throws(MemoError) -> Value {
    try await open.onQueue { () throws(MemoError) in try work(self) }
  }
}

extension MemoStore where Entity: MemoEntity {
  convenience init(
    _ timeline: MemoTimeline, reflection: ReflectionPolicy = ReflectionPolicy(),
    trash: Duration = .zero, clock: (any DeadlineClock)? = nil
  ) {
    self.init(OpenStore(timeline), EntityCoder(Entity.schema), reflection, trash, clock)
    if let indexer = EntityIndexer(coder) { timeline.setIndexer(indexer) }
  }

  /// Opens the memos in a folder.
  ///
  /// Nothing is created before the first write. When the newest state is damaged or not complete,
  /// the newest one that is complete is opened, and ``condition`` says so. Before a locked device
  /// is unlocked for the first time the files cannot be read: the store is open all the same, every
  /// read throws `notAvailableYet`, and ``resume()`` tries again.
  ///
  /// A folder that is open in this process already is not opened again: both references are to the
  /// same store, and the last one to be closed closes it.
  ///
  /// - Parameters:
  ///   - path: The store's folder. It need not exist; its parent must, once a memo is written.
  ///   - reflection: How soon live histories show what was written.
  ///   - trash: For how long deleted memos stay in the trash, where ``restore(_:origin:)`` finds
  ///     them; a month is `.seconds(30 * 86_400)`. Default: only as long as the deletion can be
  ///     undone.
  /// - Throws: ``MemoError/database(_:)`` with what the engine found: a store without any complete
  ///   state, one of a newer library, files that cannot be read.
  ///   ``MemoError/newerSchema(found:known:)`` for a store that a newer version of the app has
  ///   written; nothing of it is changed.
  /// - Complexity: O(bytes of the log); independent of the number of memos.
  public convenience init(
    at path: String, reflection: ReflectionPolicy = ReflectionPolicy(), trash: Duration = .zero
  ) throws(MemoError) {
    try self.init(opening: try OpenStore.at(path), reflection: reflection, trash: trash)
  }

  /// Opens a store of any file system that takes the time from a clock.
  package convenience init(
    deadlines clock: (any DeadlineClock)?, reflection: ReflectionPolicy, trash: Duration,
    _ opener: @escaping @Sendable () throws(MemoError) -> MemoTimeline
  ) throws(MemoError) {
    try self.init(
      opening: try OpenStore(opener), reflection: reflection, trash: trash, clock: clock)
  }

  /// Takes a store that is open, unless its schema is newer than ours.
  convenience init(
    opening open: OpenStore, reflection: ReflectionPolicy = ReflectionPolicy(),
    trash: Duration = .zero, clock: (any DeadlineClock)? = nil
  ) throws(MemoError) {
    self.init(open, EntityCoder(Entity.schema), reflection, trash, clock)
    do throws(MemoError) {
      try checkSchema()
    } catch .database(.notAvailableYet) {
      // Checked when it is.
    } catch {
      try release(closing: true)
      throw error
    }
  }

  private func checkSchema() throws(MemoError) {
    // Plain memos have no schema, and their launch does without this read.
    guard coder.schema.plain == nil else { return }
    let found = Int(clamping: try timeline.names().schemaVersion)
    guard found <= coder.schema.version else {
      throw .newerSchema(found: found, known: coder.schema.version)
    }
    guard let indexer = EntityIndexer(coder) else { return }
    try timeline.setIndexer(indexer)
    buildIndexes()
  }

  /// Opens an empty store that lives in memory and goes with its handle.
  ///
  /// Cannot fail.
  ///
  /// - Parameters:
  ///   - reflection: How soon live histories show what was written.
  ///   - trash: As for ``init(at:reflection:trash:)``.
  /// - Returns: A store that goes with its handle.
  public static func inMemory(
    reflection: ReflectionPolicy = ReflectionPolicy(), trash: Duration = .zero
  ) -> MemoStore<Entity> {
    MemoStore(MemoTimeline.inMemory(), reflection: reflection, trash: trash)
  }

  /// Opens an empty store that lives in memory and takes the time from a clock.
  package static func inMemory(
    deadlines clock: any DeadlineClock, reflection: ReflectionPolicy = ReflectionPolicy(),
    trash: Duration = .zero
  ) -> MemoStore<Entity> {
    MemoStore(MemoTimeline.inMemory(), reflection: reflection, trash: trash, clock: clock)
  }

  /// Ends this use of the store; the last one closes it.
  ///
  /// What was written stays durable without it. Calling it twice is fine.
  ///
  /// - Throws: ``MemoError/database(_:)`` if the engine could not end cleanly.
  public func close() async throws(MemoError) {
    try await onQueue { store throws(MemoError) in try store.release(closing: true) }
  }

  /// Gives up everything that a suspended app must not hold.
  ///
  /// Going to the background needs no call; this makes it immediate. Reads go on, writes throw
  /// `suspended` until ``resume()``. Concerns all references to the store.
  ///
  /// - Throws: ``MemoError/database(_:)`` if lazy commits could not be made durable, or after
  ///   ``close()``.
  public func suspend() async throws(MemoError) {
    try await onQueue { store throws(MemoError) in try store.open.suspend() }
  }

  /// Ends a suspension, and tries again to open a store that was not available yet.
  ///
  /// Call it when the app becomes active, whether it called ``suspend()`` or not: what another
  /// process has written meanwhile, an extension for example, is read by the next read, but lists
  /// that are on the screen are told by this.
  ///
  /// - Throws: ``MemoError/database(_:)`` with `notAvailableYet` if it still is not, or after
  ///   ``close()``; ``MemoError/newerSchema(found:known:)`` as at opening.
  public func resume() async throws(MemoError) {
    try await onQueue { store throws(MemoError) in
      try store.open.retry()
      try store.checkSchema()
      store.restartOpenTime()
      try store.open.resume()
    }
  }

  /// Gives back memory that can be read again: for a warning of the system.
  ///
  /// - Throws: ``MemoError/database(_:)`` after ``close()``.
  public func releaseMemory() throws(MemoError) {
    try timeline.releaseMemory()
  }
}

extension MemoStore where Entity == Memo {
  /// Opens the ready-made memos in a folder, without a word about their type.
  ///
  /// - Parameter path: The store's folder.
  /// - Throws: What opening the store of any entity throws.
  /// - Complexity: O(bytes of the log); independent of the number of memos.
  public convenience init(at path: String) throws(MemoError) {
    try self.init(opening: try OpenStore.at(path))
  }

  /// Opens an empty store of ready-made memos that lives in memory and goes with its handle.
  ///
  /// Cannot fail.
  public static func inMemory() -> MemoStore<Memo> {
    MemoStore(MemoTimeline.inMemory())
  }
}
