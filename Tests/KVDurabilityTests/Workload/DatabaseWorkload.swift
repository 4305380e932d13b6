import KVTestSupport

@testable import KVEngine

/// Some hundred file-system operations of a store's life, fixed by a seed, and what every commit
/// made of its content.
///
/// Several processes take turns on one volume: they create the store, write batches in both modes,
/// with and without preconditions, flush when asked and when the log is full, close, are killed, or
/// let go of their handle. One handle is opened at the start and writes late.
final class DatabaseWorkload {
  /// A commit that was acknowledged.
  struct Commit {
    let durability: Durability
    /// Operations recorded before the call and when it returned.
    let start: Int
    let end: Int
  }

  private enum Ending {
    case close, kill, release
  }

  let seed: UInt64
  let files = RecordingFileSystem()
  /// The content before the first commit and after each one: `states[n]` is that of the first n.
  private(set) var states = [StoreContent()]
  private(set) var commits: [Commit] = []
  /// Commits that went into segments at once.
  private(set) var loadCount = 0
  /// Preconditions that did not hold.
  private(set) var refusalCount = 0
  /// Calls that made everything before them durable, beside the full commits.
  private var barriers: [(end: Int, stateIndex: Int)] = []

  private var batches: BatchGenerator
  /// The newest write of each key.
  private var writes: [SpaceKey: UInt64] = [:]
  private var sequence: UInt64 = 0
  /// The newest write when the process whose turn it is took the lock: what came before that it
  /// does not judge, since others may have dropped sequences.
  private var turnSequence: UInt64 = 0
  /// Handles of killed processes: a kill runs no code of theirs.
  private var killed: [Database] = []

  /// Whether it merges segments as well, all of them or what is due.
  let compacts: Bool
  /// How many operations are ten minutes; `nil` for so few that replaced files go at once.
  private let graceOperationCount: Int?

  init(seed: UInt64, compacts: Bool = false, graceOperationCount: Int? = nil) throws {
    self.graceOperationCount = graceOperationCount
    self.seed = seed
    self.compacts = compacts
    batches = BatchGenerator(seed: seed)
    try run()
  }

  private var options: DatabaseOptions {
    var options = TinyStore.options
    if let graceOperationCount {
      options.wallClock = { [files] in
        1_700_000_000_000_000 + Int64(files.operationCount * 600_000_000 / graceOperationCount)
      }
    }
    return options
  }

  private func run() throws {
    let late = try TinyStore.open(in: files.process(9), options: options)
    try turn(of: 1, commitCount: 24, ending: .close)
    try turn(of: 2, commitCount: 14, ending: .kill)
    try turn(of: 3, commitCount: 12, ending: .release)
    try turn(of: 3, commitCount: 8, ending: .close)
    try use(late, process: 9, commitCount: 16, ending: .close)
    try turn(of: 4, commitCount: 3, ending: .kill)
    try turn(of: 5, commitCount: 3, ending: .kill)
    try turn(of: 6, commitCount: 20, ending: .close)
  }

  private func turn(of process: Int32, commitCount: Int, ending: Ending) throws {
    let database = try TinyStore.open(in: files.process(process), options: options)
    guard try database.countedContent() == states.last else {
      throw Problem("process \(process) opens another state than \(states.count - 1)")
    }
    try use(database, process: process, commitCount: commitCount, ending: ending)
  }

  private func use(
    _ database: Database, process: Int32, commitCount: Int, ending: Ending
  ) throws {
    turnSequence = sequence
    for number in 1...commitCount {
      try commit(to: database)
      if number % 11 == 0 {
        try database.flush()
        addBarrier()
      }
      if compacts { try compact(database, after: number) }
    }
    guard try database.countedContent() == states.last else {
      throw Problem("process \(process) shows another state than \(states.count - 1)")
    }
    switch ending {
    case .close:
      try database.close()
      addBarrier()
    case .kill:
      killed.append(database)
      files.process(process).base.endProcess()
    case .release:
      break
    }
  }

  private func compact(_ database: Database, after number: Int) throws {
    if number % 3 == 0 { try database.flush() }
    if number % 10 == 0 { try database.compact() }
    while try database.compactor.step(isRequested: false, isCancelled: { false }) {}
    if number % 3 == 0 || number % 10 == 0 { addBarrier() }
  }

  private func addBarrier() {
    barriers.append((files.operationCount, states.count - 1))
  }

  private func commit(to database: Database) throws {
    let content = states[states.count - 1]
    let isLoad = states.count % 17 == 8
    var batch = isLoad ? batches.load() : batches.batch()
    // Compaction drops sequences that no held snapshot compares with; these hold none.
    if !compacts, batches.number(below: 5) == 0 {
      batch.preconditions.append(batches.precondition(at: sequence))
    }
    let durability = batches.durability()
    let holds = batch.preconditions.allSatisfy { $0.holds(in: content, writes: writes) }
    let start = files.operationCount
    do {
      sequence = try database.write(batch.writeBatch(on: content), durability: durability)
    } catch {
      let isOld = batch.preconditions.contains { $0.isOlder(than: turnSequence) }
      guard !holds || isOld, error == .preconditionFailed(index: 0) else { throw error }
      refusalCount += 1
      return
    }
    guard holds else { throw Problem("\(batch.preconditions) was taken to hold") }
    if isLoad { loadCount += 1 }
    let first = sequence - UInt64(batch.operations.count - 1)
    for (index, operation) in batch.operations.enumerated() {
      writes[operation.key] = first + UInt64(index)
    }
    states.append(batch.applied(to: content))
    commits.append(Commit(durability: durability, start: start, end: files.operationCount))
  }

  // MARK: The oracle

  /// The states that may be found after the first `count` operations.
  ///
  /// A power cut keeps what was acknowledged in mode full and what came before it; a kill keeps
  /// everything acknowledged. Nothing shows a commit that had not begun.
  func allowedStates(after count: Int, isPowerCut: Bool) -> ClosedRange<Int> {
    let durable = commits.lastIndex { commit in
      commit.end <= count && (!isPowerCut || commit.durability == .full)
    }
    let barrier = barriers.last { $0.end <= count }
    let begun = commits.lastIndex { $0.start < count }
    let lower = max(durable.map { $0 + 1 } ?? 0, barrier?.stateIndex ?? 0)
    return lower...max(lower, begun.map { $0 + 1 } ?? 0)
  }

  /// The seeds with which the image after some operations is looked at.
  func seeds(of variant: CrashVariant, after count: Int) -> [UInt64] {
    var generator = SeededGenerator(seed: seed, stream: UInt64(count * 16 + variant.rawValue))
    guard variant == .names else { return [generator.next()] }
    let all = files.nameSeeds(after: count)
    if all.count <= 8 { return Array(all) }
    return (0..<8).map { _ in UInt64.random(in: all, using: &generator) }
  }
}
