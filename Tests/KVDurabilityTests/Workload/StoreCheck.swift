import KVTestSupport

@testable import KVEngine

/// What is asked of every store after a crash or a fault.
struct StoreCheck {
  let files: MemoryFileSystem
  let seed: UInt64

  /// Opens the store, which must hold one of some states.
  ///
  /// If it `isUsed`, it must take and keep further commits and verify after them. For every fourth
  /// seed it is opened twice.
  func holds(
    oneOf range: ClosedRange<Int>, of states: [StoreContent], isUsed: Bool = true
  ) throws {
    let database = try TinyStore.open(in: files.process(1))
    let content = try database.countedContent()
    guard range.contains(where: { states[$0] == content }) else {
      let known = states.lastIndex(of: content)
      throw Problem("holds state \(known.map { "\($0)" } ?? "of no commit") instead of \(range)")
    }
    if seed % 4 == 0 {
      let second = try TinyStore.open(in: files.process(2))
      guard try second.countedContent() == content else {
        throw Problem("the second open shows something else")
      }
      try second.close()
    }
    if isUsed { try takesCommits(3, to: database, from: content) }
  }

  /// Commits in mode full, closes, and opens again: everything must be there.
  func takesCommits(_ count: Int, to database: Database, from content: StoreContent) throws {
    var batches = BatchGenerator(seed: seed, stream: 77)
    var content = content
    for _ in 0..<count {
      let batch = batches.batch()
      try database.write(batch.writeBatch(on: content))
      content = batch.applied(to: content)
    }
    try database.close()
    let reopened = try TinyStore.open(in: files.process(2))
    guard try reopened.countedContent() == content else {
      throw Problem("lost a later commit")
    }
    let report = try reopened.verify()
    guard report.isSound else { throw Problem("is damaged: \(report.damage)") }
  }
}
