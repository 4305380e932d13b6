// The public handle. Thin: it checks who calls, and hands on to the read view or to the pipeline.

import Synchronization

/// An ordered store of byte keys and byte values in one folder.
///
/// Opening is synchronous and cheap: it reads the MANIFEST and the log, takes no lock, creates
/// nothing and starts no thread. The first write takes the store's lock, creating the store if it
/// is missing. One handle writes at a time, across processes; any number reads, and each new read,
/// snapshot or cursor shows what any process has written before it.
///
/// All methods are safe to call from any thread. Reads never wait for writes; writes wait for their
/// turn and for the medium, so call them where blocking is fine, not on Swift's task pool.
public final class Database: Sendable {
  let location: StoreLocation
  let options: DatabaseOptions
  let state: EngineState
  let pipeline: CommitPipeline
  let compactor: Compactor
  let worker: BackgroundWorker?
  private let processNumber: Int32
  let isClosed = Atomic(false)
  let isSuspended = Atomic(false)

  /// Opens the store in a folder.
  ///
  /// - Parameters:
  ///   - path: The store's folder. It need not exist; its parent must, once something is written.
  ///   - options: See ``DatabaseOptions``.
  /// - Throws: ``DatabaseError/damaged(_:)`` if MANIFEST or log do not verify and no earlier state
  ///   was asked for or is complete,
  ///   ``DatabaseError/unsupportedFormat(fileName:found:known:)`` for a store of a newer library,
  ///   ``DatabaseError/alreadyOpen`` if this process has another writable handle on the folder,
  ///   ``DatabaseError/notFound(fileName:)`` if there is no store and it may not be created,
  ///   ``DatabaseError/notAvailableYet(_:)`` or ``DatabaseError/io(_:)`` if a file cannot be read,
  ///   ``DatabaseError/busy`` if a writer replaced the state at every attempt to read it.
  /// - Complexity: O(bytes of the log); independent of the size of the store.
  public convenience init(
    at path: String, options: DatabaseOptions = DatabaseOptions()
  ) throws(DatabaseError) {
    try self.init(at: path, in: PosixFileSystem.shared, options: options)
  }

  /// Opens an empty store that lives in memory and goes with its handle.
  ///
  /// The same code on another file system: the same errors, the same order. Cannot fail.
  public static func inMemory(options: DatabaseOptions = DatabaseOptions()) -> Database {
    let location = StoreLocation(files: MemoryFileSystem(), folder: "/store")
    let segments = OpenSegments(
      files: location.files, folder: location.folder, options: options)
    return Database(
      location, options: options, view: .empty, segments: segments,
      gaps: GapNotes(isEnabled: options.notesGaps), entry: nil)
  }

  /// Opens a store on a file system of the caller's.
  package convenience init(
    at path: String, in files: any FileSystem, options: DatabaseOptions
  ) throws(DatabaseError) {
    let location = StoreLocation(
      files: files, folder: Self.normalized(path), onDamage: options.onDamage)
    let entry = options.isReadOnly ? nil : try Self.enter(location)
    let segments = OpenSegments(files: files, folder: location.folder, options: options)
    let gaps = GapNotes(isEnabled: options.notesGaps)
    let view: ReadView
    var generation: UInt64?
    var following = Following.nothing
    var found: RecoveredStore?
    switch try Recovery.find(at: location) {
    case .store(let store):
      found = store
      view = store.view(segments: segments, gaps: gaps)
      generation = store.manifest.generation
      following = store.following
    case .missing, .unfinished:
      guard options.createIfMissing, !options.isReadOnly else {
        throw .notFound(fileName: path)
      }
      view = .empty
    }
    self.init(
      location, options: options, view: view, segments: segments, gaps: gaps, entry: entry,
      generation: generation, following: following)
    if let found {
      state.note(found)
      state.metrics.deliver()
    }
  }

  /// What is known of the state that was opened, or read later, in place of a newer one that is
  /// damaged; `nil` as long as there was none.
  ///
  /// The first write goes on from this state and keeps what it does not name in a folder
  /// `set-aside-`*generation* inside the store, which a salvage can read. The report stays as long
  /// as the handle. See ``DatabaseOptions/onDamage``.
  public var earlierState: EarlierState? { state.earlierState }

  private init(
    _ location: StoreLocation, options: DatabaseOptions, view: ReadView,
    segments: OpenSegments, gaps: GapNotes, entry: HandleTable.Entry?, generation: UInt64? = nil,
    following: Following? = nil
  ) {
    self.location = location
    self.options = options
    processNumber = location.files.processNumber
    state = EngineState(
      view, segments: segments, metrics: Metrics(handler: options.eventHandler), gaps: gaps,
      following: following)
    // The worker holds the pipeline, so the pipeline's writer must not hold the worker.
    let wakeUp = Lock(WeakWorker())
    pipeline = CommitPipeline(
      Writer(
        location: location, options: options, state: state, entry: entry, generation: generation)
    ) { deadline in
      wakeUp.withLock { $0.worker }?.notice(deadline)
    }
    compactor = Compactor(pipeline, state: state)
    worker =
      options.worksInBackground
      ? BackgroundWorker(compactor, pipeline: pipeline, metrics: state.metrics) : nil
    wakeUp.withLock { [worker] in $0.worker = worker }
  }

  deinit {
    // A thread of the parent does not exist in a child.
    guard location.files.processNumber == processNumber, let worker else { return }
    worker.stop()
    // The thread may hold the pipeline for a moment longer: the lock must not wait for it.
    pipeline.abandon()
  }

  /// Makes lazy commits durable and gives up the lock.
  ///
  /// After an earlier failed write nothing is written. Calling it twice is fine. A handle that is
  /// released without it loses nothing that was acknowledged in mode full.
  ///
  /// - Throws: ``DatabaseError/outcomeUnknown(_:)`` if the last lazy commits could not be made
  ///   durable, ``DatabaseError/usedAfterFork`` in a child of the process that opened the store.
  public func close() throws(DatabaseError) {
    try checkProcess()
    if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
    worker?.stop()
    try exclusively { writer throws(DatabaseError) in try writer.close() }
  }

  /// Runs something that needs the writer for itself, and delivers what there is to say of it when
  /// the turn is over: a handler may call the database.
  func exclusively<Result>(
    _ body: (inout Writer) throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    defer { state.metrics.deliver() }
    return try pipeline.exclusively(body)
  }

  /// Whether work that takes long has to end: asked by it now and then.
  var isInterrupted: Bool {
    isSuspended.load(ordering: .acquiring) || isClosed.load(ordering: .acquiring)
  }

  /// Throws where the handle must not be used.
  func check() throws(DatabaseError) {
    try checkProcess()
    if isClosed.load(ordering: .acquiring) { throw .closed }
  }

  private func checkProcess() throws(DatabaseError) {
    if location.files.processNumber != processNumber { throw .usedAfterFork }
  }

  /// Enters the process's table, if the folder exists already.
  private static func enter(
    _ location: StoreLocation
  ) throws(DatabaseError) -> HandleTable.Entry? {
    let folder: FileIdentity
    do throws(SystemError) {
      folder = try location.folderIdentity()
    } catch {
      if error.isNotFound { return nil }
      throw error.readFailure
    }
    guard
      let entry = HandleTable.enter(process: location.files.processNumber, folder: folder)
    else { throw .alreadyOpen }
    return entry
  }

  /// A path without slashes at its end.
  package static func normalized(_ path: String) -> String {
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return bytes.isEmpty ? "." : String(decoding: bytes, as: UTF8.self)
  }
}

private struct WeakWorker {
  weak var worker: BackgroundWorker?
}
