internal import Dispatch
internal import KVEngine
internal import MemoCore

/// A store that is open in this process, once for all who have opened its folder.
///
/// What they share is what keeps their writes in one order and tells each of the others' changes.
final class OpenStore: Sendable {
  /// The memos, or why they could not be read yet.
  ///
  /// Not a `Result`: a launch would look for conformances to make that type known.
  private struct Opened {
    var timeline: MemoTimeline?
    var failure: MemoError?
  }

  private let opened: Lock<Opened>
  /// Opens it; for when that was not possible at once.
  private let opener: Opener?
  private let path: String?
  private let processNumber: Int32
  private let referenceCount = Lock(1)
  private let announcing = Lock<HistoryBoard?>(nil)
  /// What was written last when the store was suspended.
  private let sequenceAtSuspension = Lock<UInt64?>(nil)
  private let queue = DispatchQueue(label: "MemoKV.MemoStore")

  /// What opens the memos.
  typealias Opener = @Sendable () throws(MemoError) -> MemoTimeline

  private init(
    _ opened: Opened, _ opener: Opener? = nil, path: String? = nil
  ) {
    self.opened = Lock(opened)
    self.opener = opener
    self.path = path
    processNumber = PosixFileSystem.shared.processNumber
  }

  /// A store that nobody else can open.
  convenience init(_ timeline: MemoTimeline) {
    self.init(Opened(timeline: timeline))
  }

  /// Opens a store.
  ///
  /// One that the system does not let anybody read yet opens all the same: see ``retry()``.
  convenience init(path: String? = nil, _ opener: @escaping Opener) throws(MemoError) {
    self.init(try Self.open(opener), opener, path: path)
  }

  // MARK: - One for a folder

  private struct Entry {
    weak var store: OpenStore?
  }

  // Of few folders; held while one is opened or closed, so that nobody meets it half open.
  private static let entries = Lock<[Entry]>([])

  /// Opens the store in a folder, or takes the one that is open.
  static func at(_ path: String) throws(MemoError) -> OpenStore {
    try entries.withLock { entries throws(MemoError) in
      let path = Database.normalized(path)
      let processNumber = PosixFileSystem.shared.processNumber
      entries.removeAll { $0.store == nil }
      for case .some(let store) in entries.map(\.store)
      where store.processNumber == processNumber && store.isAt(path) {
        store.referenceCount.withLock { $0 += 1 }
        return store
      }
      let store = try OpenStore(path: path) { () throws(MemoError) in try MemoTimeline(at: path) }
      entries.append(Entry(store: store))
      return store
    }
  }

  private static func open(
    _ opener: Opener
  ) throws(MemoError) -> Opened {
    do throws(MemoError) {
      return Opened(timeline: try opener())
    } catch .database(.notAvailableYet(let failure)) {
      return Opened(failure: .database(.notAvailableYet(failure)))
    }
  }

  /// Whether a path names our folder, by whatever links it goes.
  private func isAt(_ other: String) -> Bool {
    guard let path else { return false }
    if path.hasSameBytes(as: other) { return true }
    let files = PosixFileSystem.shared
    let ours = try? StoreLocation(files: files, folder: path).folderIdentity()
    return ours != nil && ours == (try? StoreLocation(files: files, folder: other).folderIdentity())
  }

  /// Gives up one reference; the last one closes the store.
  ///
  /// - Parameter closing: Whether to wait until it is closed; else it goes with its last handle.
  /// - Throws: ``MemoError/database(_:)`` if it did not close cleanly.
  func release(closing: Bool = true) throws(MemoError) {
    try Self.entries.withLock { entries throws(MemoError) in
      let isLast = referenceCount.withLock { count in
        count -= 1
        return count == 0
      }
      guard isLast else { return }
      entries.removeAll { $0.store == nil || $0.store === self }
      if closing { try opened.withLock { $0.timeline }?.close() }
    }
  }

  // MARK: - Memos

  /// The memos.
  var timeline: MemoTimeline {
    get throws(MemoError) {
      let opened = opened.withLock { $0 }
      guard let timeline = opened.timeline else { throw opened.failure ?? .database(.closed) }
      return timeline
    }
  }

  /// Tries again to read a store that could not be read.
  ///
  /// - Throws: Why it cannot be read now.
  func retry() throws(MemoError) {
    guard let opener else { return }
    let isNew = try opened.withLock { opened throws(MemoError) in
      if opened.timeline != nil { return false }
      opened = try Self.open(opener)
      if let failure = opened.failure { throw failure }
      return true
    }
    if isNew, let board = announcing.withLock({ $0 }) { announce(to: board) }
  }

  /// Gives up what a suspended app must not hold.
  func suspend() throws(MemoError) {
    let timeline = try timeline
    try timeline.suspend()
    let sequence = try timeline.snapshot().sequence
    sequenceAtSuspension.withLock { $0 = sequence }
  }

  /// Ends a suspension, and tells observers when somebody else may have written meanwhile.
  func resume() throws(MemoError) {
    let timeline = try timeline
    try timeline.resume()
    let before = sequenceAtSuspension.withLock { sequence in
      defer { sequence = nil }
      return sequence
    }
    if before != nil, try timeline.snapshot().sequence == before { return }
    noteRefreshed()
    announcing.withLock { $0 }?.collections.noteAll()
  }

  /// Says that memos may read otherwise than before, if anybody listens.
  func noteRefreshed() {
    announcing.withLock { $0 }?.note(.refreshed)
  }

  /// Where commits are announced; nobody is told of any before the first observer comes.
  var board: HistoryBoard {
    announcing.withLock { board in
      if let board { return board }
      let made = HistoryBoard()
      announce(to: made)
      board = made
      return made
    }
  }

  private func announce(to board: HistoryBoard) {
    guard let timeline = opened.withLock({ $0.timeline }) else { return }
    timeline.setObserver { board.note(HistoryCause($0), $1) }
    timeline.setCollectionObserver { board.collections.note($0) }
  }

  /// Does something on the store's queue, behind what was given to it before.
  func enqueue(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  /// Does something on the store's queue and waits for it without holding a thread.
  func onQueue<Value: Sendable>(
    _ work: @escaping @Sendable () throws(MemoError) -> Value
  ) async throws(MemoError) -> Value {
    let outcome = await withCheckedContinuation { continuation in
      enqueue { continuation.resume(returning: Result(catching: work)) }
    }
    return try outcome.get()
  }

  /// Changes what is stored in one commit, on the store's queue, and waits for it without holding
  /// a thread.
  func write<Value: Sendable>(
    _ decide: @escaping @Sendable (MemoEdits) throws(MemoError) -> Value
  ) async throws(MemoError) -> Value {
    try await onQueue { () throws(MemoError) in try self.timeline.write(decide) }
  }
}
