import Foundation
import KVTestSupport

@testable import KVEngine

/// A store's life on a file system that fails as planned, and the oracle of it.
///
/// Three sessions of one process commit in both modes, flush when asked and when the log is full,
/// and end by closing or by letting go. Where the handle refuses further writes, the next session
/// begins. There is no power cut on the way: whatever was acknowledged must stay.
struct FaultRun {
  let recording = RecordingFileSystem()
  let files: FaultFileSystem
  /// Error numbers that may be met.
  private let codes: Set<Int32>
  /// What the disk may hold: several states once a commit has an unknown outcome.
  private(set) var candidates = [StoreContent()]
  /// What the open handle shows, once it could be read.
  private var shown: StoreContent?
  private var database: Database?
  private var isFailed = false
  private var batches: BatchGenerator
  private var wasHitBeforeRecovery = false
  /// Errors that were thrown, for tests of what must not throw at all.
  private(set) var errorCount = 0

  init(seed: UInt64, fault: Fault, codes: Set<Int32>) {
    files = FaultFileSystem(recording, fault)
    self.codes = codes
    batches = BatchGenerator(seed: seed)
  }

  /// Lives through the faults, then, without them, closes, opens, commits, and crashes.
  mutating func run() throws {
    try session(commitCount: 5, flushAfter: 4, isClosed: true)
    try session(commitCount: 10, flushAfter: nil, isClosed: false)
    try session(commitCount: 3, flushAfter: 2, isClosed: true)
    wasHitBeforeRecovery = files.wasHit
    files.plan()
    try database?.close()
    database = nil
    try recover()
  }

  private mutating func session(commitCount: Int, flushAfter: Int?, isClosed: Bool) throws {
    try open()
    for number in 1...commitCount {
      try commit(isLoad: number == 6)
      if number == flushAfter { try attempt(.flush) { try $0.flush() } }
      if isFailed {
        try close()
        try open()
      }
    }
    try read()
    if isClosed { try close() }
    (database, shown, isFailed) = (nil, nil, false)
  }

  /// Whether the fault was met.
  var wasHit: Bool { wasHitBeforeRecovery || files.wasHit }

  // MARK: Calls

  private enum Call {
    case open, read, commit, flush, close
  }

  private mutating func open() throws {
    (shown, isFailed) = (nil, false)
    do {
      database = try TinyStore.open(in: files)
    } catch {
      try judge(error, of: .open)
      return
    }
    try read()
  }

  /// Reads everything: a fresh handle shows one of the states, later it shows the same as before.
  private mutating func read() throws {
    guard let database else { return }
    let content: StoreContent
    do {
      content = try database.content()
    } catch {
      try judge(error, of: .read)
      return
    }
    if let shown {
      guard content == shown else { throw Problem("the handle shows what it must not show") }
    } else {
      guard candidates.contains(content) else { throw Problem("opens a state of no commit") }
      candidates = [content]
      shown = content
    }
  }

  private mutating func commit(isLoad: Bool = false) throws {
    var batch = isLoad ? batches.load() : batches.batch()
    batch.operations.append((batches.key(), [UInt8](repeating: 7, count: 300)))
    let durability = batches.durability()
    let wasFailed = isFailed
    let applied = candidates.map { batch.applied(to: $0) }
    try attempt(.commit) { database in
      try database.write(batch.writeBatch(on: nil), durability: durability)
    } onSuccess: { run in
      if wasFailed { throw Problem("a failed handle takes a commit") }
      run.candidates = applied
      run.shown = run.shown.map { batch.applied(to: $0) }
    } onUnknown: { run in
      run.candidates += applied
    }
  }

  private mutating func close() throws {
    try attempt(.close) { try $0.close() }
    database = nil
  }

  private mutating func attempt(
    _ call: Call, _ body: (Database) throws -> Void,
    onSuccess: (inout FaultRun) throws -> Void = { _ in },
    onUnknown: (inout FaultRun) -> Void = { _ in }
  ) throws {
    guard let database else { return }
    do {
      try body(database)
    } catch {
      try judge(error, of: call)
      if case DatabaseError.outcomeUnknown = error { onUnknown(&self) }
      if call != .close { try read() }
      return
    }
    try onSuccess(&self)
  }

  // MARK: Errors

  /// Throws when an error is not one that the call may throw for what happened.
  private mutating func judge(_ error: any Error, of call: Call) throws {
    guard let error = error as? DatabaseError else { throw error }
    errorCount += 1
    let isFitting: Bool
    switch (call, error) {
    case (.open, .io), (.read, .io), (.commit, .io), (.flush, .io):
      isFitting = true
    case (.commit, .diskFull(let failure)), (.flush, .diskFull(let failure)):
      isFitting = Self.isSpace(failure.code)
    case (.commit, .notWritten(let failure)), (.flush, .notWritten(let failure)):
      isFitting = !Self.isSpace(failure.code)
    case (.commit, .readOnlyLocation(let failure)), (.flush, .readOnlyLocation(let failure)):
      isFitting = failure.code == EROFS || failure.code == EACCES
    case (.commit, .outcomeUnknown):
      isFitting = !isFailed
      isFailed = true
    case (.commit, .failed), (.flush, .failed):
      isFitting = true
      isFailed = true
    case (.close, .outcomeUnknown):
      isFitting = true
    default:
      isFitting = false
    }
    guard isFitting, error.failure.map({ codes.contains($0.code) }) ?? true else {
      throw Problem("\(call) throws \(error)")
    }
  }

  private static func isSpace(_ code: Int32) -> Bool { code == ENOSPC || code == EFBIG }

  // MARK: After the faults

  /// Opens without faults: one of the states, further commits, all of it there after a power cut.
  private mutating func recover() throws {
    let database = try TinyStore.open(in: recording)
    var content = try database.content()
    guard candidates.contains(content) else { throw Problem("reopens as a state of no commit") }
    for _ in 0..<5 {
      let batch = batches.batch()
      try database.write(batch.writeBatch(on: nil))
      content = batch.applied(to: content)
    }
    let image = recording.image(after: recording.operationCount, variant: .strict)
    let recovered = try TinyStore.open(in: image)
    guard try recovered.content() == content else {
      throw Problem("the strict image lacks what was acknowledged")
    }
    guard try recovered.verify().isSound else { throw Problem("the strict image is damaged") }
  }
}

extension DatabaseError {
  /// The failed call of the operating system, if there was one.
  var failure: IOFailure? {
    switch self {
    case .notWritten(let failure), .outcomeUnknown(let failure), .diskFull(let failure),
      .readOnlyLocation(let failure), .notAvailableYet(let failure), .io(let failure):
      failure
    default: nil
    }
  }
}
