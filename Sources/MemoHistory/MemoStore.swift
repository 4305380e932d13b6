internal import Dispatch
internal import KVEngine
@_exported public import MemoCore

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

  let timeline: MemoTimeline
  let coder: EntityCoder<Entity>
  /// How soon live histories show what was written.
  let reflection: ReflectionPolicy
  /// For how long deleted memos stay in the trash.
  let trashPeriod: Duration
  /// When the store was opened, by its clock.
  let openedAt: Duration
  /// When to look again for deletions that are over.
  let nextExpiry = Lock(Duration.zero)
  /// `nil` for the clocks of the system.
  private let givenClock: (any DeadlineClock)?
  private let announcing = Lock<HistoryBoard?>(nil)
  private let queue = DispatchQueue(label: "MemoKV.MemoStore")

  private init(
    _ timeline: MemoTimeline, _ coder: EntityCoder<Entity>, _ reflection: ReflectionPolicy,
    _ trashPeriod: Duration, _ clock: (any DeadlineClock)?
  ) {
    self.timeline = timeline
    self.coder = coder
    self.reflection = reflection
    self.trashPeriod = trashPeriod
    givenClock = clock
    openedAt = clock?.elapsed ?? DispatchDeadlines().elapsed
  }

  /// The time of live histories and deletions.
  var clock: any DeadlineClock { givenClock ?? DispatchDeadlines() }

  /// Where commits are announced; nobody is told of any before the first observer comes.
  var board: HistoryBoard {
    announcing.withLock { board in
      if let board { return board }
      let made = HistoryBoard()
      timeline.setObserver { made.note(HistoryCause($0), $1) }
      board = made
      return made
    }
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
    queue.async { [self] in
      do throws(MemoError) {
        completion(.success(try work(self)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Does something on the store's queue and waits for it without holding a thread.
  func onQueue<Value: Sendable>(
    _ work: @escaping @Sendable (MemoStore) throws(MemoError) -> Value
  ) async throws(MemoError) -> Value {
    let outcome = await withCheckedContinuation { continuation in
      enqueue(work) { continuation.resume(returning: $0) }
    }
    return try outcome.get()
  }
}

extension MemoStore where Entity: MemoEntity {
  convenience init(
    _ timeline: MemoTimeline, reflection: ReflectionPolicy = ReflectionPolicy(),
    trash: Duration = .zero, clock: (any DeadlineClock)? = nil
  ) {
    self.init(timeline, EntityCoder(Entity.schema), reflection, trash, clock)
  }

  /// Opens the memos in a folder.
  ///
  /// Nothing is created before the first write. When the newest state is damaged or not complete,
  /// the newest one that is complete is opened, and ``condition`` says so.
  ///
  /// - Parameters:
  ///   - path: The store's folder. It need not exist; its parent must, once a memo is written.
  ///   - reflection: How soon live histories show what was written.
  ///   - trash: For how long deleted memos stay in the trash, where ``restore(_:origin:)`` finds
  ///     them; a month is `.seconds(30 * 86_400)`. Default: only as long as the deletion can be
  ///     undone.
  /// - Throws: ``MemoError/database(_:)`` with what the engine found: a store without any complete
  ///   state, one of a newer library, one that this process has open already, files that cannot be
  ///   read. ``MemoError/newerSchema(found:known:)`` for a store that a newer version of the app
  ///   has written; nothing of it is changed.
  /// - Complexity: O(bytes of the log); independent of the number of memos.
  public convenience init(
    at path: String, reflection: ReflectionPolicy = ReflectionPolicy(), trash: Duration = .zero
  ) throws(MemoError) {
    try self.init(opening: try MemoTimeline(at: path), reflection: reflection, trash: trash)
  }

  /// Takes a store that is open, unless its schema is newer than ours.
  convenience init(
    opening timeline: MemoTimeline, reflection: ReflectionPolicy = ReflectionPolicy(),
    trash: Duration = .zero
  ) throws(MemoError) {
    self.init(timeline, reflection: reflection, trash: trash)
    // Plain memos have no schema, and their launch does without this read.
    guard coder.schema.plain == nil else { return }
    let found = Int(clamping: try timeline.names().schemaVersion)
    guard found <= coder.schema.version else {
      try timeline.close()
      throw .newerSchema(found: found, known: coder.schema.version)
    }
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

  /// Ends the use of the store.
  ///
  /// What was written stays durable without it.
  ///
  /// - Throws: ``MemoError/database(_:)`` if the engine could not end cleanly.
  public func close() async throws(MemoError) {
    try await onQueue { store throws(MemoError) in try store.timeline.close() }
  }
}

extension MemoStore where Entity == Memo {
  /// Opens the ready-made memos in a folder, without a word about their type.
  ///
  /// - Parameter path: The store's folder.
  /// - Throws: What opening the store of any entity throws.
  /// - Complexity: O(bytes of the log); independent of the number of memos.
  public convenience init(at path: String) throws(MemoError) {
    self.init(try MemoTimeline(at: path))
  }

  /// Opens an empty store of ready-made memos that lives in memory and goes with its handle.
  ///
  /// Cannot fail.
  public static func inMemory() -> MemoStore<Memo> {
    MemoStore(MemoTimeline.inMemory())
  }
}
