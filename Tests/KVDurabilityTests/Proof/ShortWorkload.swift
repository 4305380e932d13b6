import KVTestSupport

@testable import KVEngine

/// A few calls on a fresh store, recorded, and what each made of it.
final class ShortWorkload {
  /// The kinds of calls of which all sequences are tried.
  enum Step: CaseIterable, Sendable {
    case put, replace, lazyPut, batch, delete, deleteRange, condition, load
    case flush, compact, checkpoint, suspend, reopen, kill
  }

  let files = RecordingFileSystem()
  /// The content before the first commit and after each one.
  private(set) var states = [StoreContent()]
  /// Operations recorded before each commit and when it returned, and whether it was durable then.
  private(set) var commits: [(start: Int, end: Int, isDurable: Bool)] = []
  /// Operations recorded when all that was committed by then was durable.
  private var barriers: [(end: Int, stateIndex: Int)] = []
  /// Copies that were complete after some operations.
  private(set) var copies: [(end: Int, path: String, stateIndex: Int)] = []
  private var database = Database.inMemory()
  /// Whether the handle has written, so that what it leaves behind is durable: what a killed
  /// process wrote lazily is made durable by the next one that writes, not by one that only looks.
  private var hasWritten = false
  private var killed: [Database] = []
  private var process: Int32 = 1
  private var number: UInt8 = 0

  init(_ steps: [Step]) throws {
    try open()
    for step in steps { try perform(step) }
  }

  private func open() throws {
    database = Database.inMemory()
    hasWritten = false
    database = try TinyStore.open(in: files.process(process))
    guard try database.countedContent() == states.last else { throw Problem("opens wrong") }
  }

  private func addBarrier() {
    barriers.append((files.operationCount, states.count - 1))
  }

  private func commit(
    _ operations: [(key: SpaceKey, value: [UInt8]?)], isDurable: Bool = true,
    preconditions: [ModelPrecondition] = []
  ) throws {
    let batch = ModelBatch(operations: operations, preconditions: preconditions)
    let content = states[states.count - 1]
    let start = files.operationCount
    try database.write(batch.writeBatch(on: content), durability: isDurable ? .full : .lazy)
    hasWritten = true
    states.append(batch.applied(to: content))
    commits.append((start, files.operationCount, isDurable))
  }

  private func key(_ number: UInt8, space: Int = 2) -> SpaceKey {
    SpaceKey(space: space, bytes: [number])
  }

  private func perform(_ step: Step) throws {
    number += 1
    switch step {
    case .put: try commit([(key(number), [number])])
    case .replace: try commit([(key(1), [number, 1])])
    case .lazyPut: try commit([(key(number), [number])], isDurable: false)
    case .batch:
      try commit([(key(1, space: 0), [1]), (key(2, space: 1), [2]), (key(number), nil)])
    case .delete: try commit([(key(1), nil)])
    case .deleteRange: try deleteRange()
    case .condition:
      try commit([(key(number), [])], preconditions: [.absent(key(200))])
    case .load:
      try commit(
        (0..<20).map { (key(100 + $0), [UInt8](repeating: number, count: 900)) })
    case .flush:
      try database.flush()
      addBarrier()
    case .compact:
      try database.compact()
      addBarrier()
    case .checkpoint: try checkpoint()
    case .suspend:
      try database.suspend()
      if hasWritten { addBarrier() }
      try database.resume()
    case .reopen:
      try database.close()
      if hasWritten { addBarrier() }
      try open()
    case .kill:
      killed.append(database)
      files.process(process).base.endProcess()
      process += 1
      try open()
    }
  }

  private func deleteRange() throws {
    let content = states[states.count - 1]
    let keys = content.keys.filter { $0.space == 2 && $0.bytes[0] < 100 }
    let start = files.operationCount
    let count = try database.delete(.upTo([100]))
    guard count == keys.count else { throw Problem("deletes \(count) keys") }
    if keys.isEmpty { return }
    hasWritten = true
    states.append(keys.reduce(into: content) { $0[$1] = nil })
    commits.append((start, files.operationCount, true))
  }

  private func checkpoint() throws {
    // A store that does not exist has no copy.
    let path = "/copy\(number)"
    do {
      try database.checkpoint(to: path)
    } catch {
      guard states.count == 1 else { throw error }
      return
    }
    copies.append((files.operationCount, path, states.count - 1))
  }

  /// The states that a power cut after some operations may leave.
  func allowedStates(after count: Int) -> ClosedRange<Int> {
    let durable = commits.lastIndex { $0.end <= count && $0.isDurable }.map { $0 + 1 } ?? 0
    let barrier = barriers.last { $0.end <= count }?.stateIndex ?? 0
    let begun = commits.lastIndex { $0.start < count }.map { $0 + 1 } ?? 0
    return max(durable, barrier)...max(durable, barrier, begun)
  }
}
