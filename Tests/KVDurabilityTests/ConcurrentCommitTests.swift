import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// Commits of several threads beside flushes: whatever the order was, crashes leave a prefix of it.
@Suite struct ConcurrentCommitTests {
  private struct Commit {
    let thread: UInt8
    let number: UInt8
    let sequence: UInt64
    let durability: Durability
    /// Operations recorded when the call had returned.
    let end: Int
  }

  private static let threadCount = 4
  private static let commitCount: UInt8 = 40

  /// Each thread counts up under two keys of its own, in one batch.
  private func run(_ files: RecordingFileSystem) throws -> [Commit] {
    let database = try TinyStore.open(in: files)
    let commits = Lock<[Commit]>([])
    let problem = Lock<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: Self.threadCount) { thread in
      var batches = BatchGenerator(seed: UInt64(thread))
      do {
        for number in 1...Self.commitCount {
          let key = UInt8(thread)
          let durability = batches.durability()
          let sequence = try database.write(durability: durability) { batch in
            batch.put([number], forKey: [key])
            batch.put([UInt8](repeating: number, count: 50), forKey: [key, key])
          }
          let commit = Commit(
            thread: key, number: number, sequence: sequence, durability: durability,
            end: files.operationCount)
          commits.withLock { $0.append(commit) }
          if number % 16 == 7 { try database.flush() }
        }
      } catch {
        problem.withLock { $0 = error }
      }
    }
    if let problem = problem.withLock({ $0 }) { throw problem }
    try database.close()
    return commits.withLock { $0 }
  }

  @Test(.bug(id: "B16"))
  func aCrashLeavesAPrefixOfTheCommonOrder() throws {
    let files = RecordingFileSystem()
    let commits = try run(files)
    #expect(Set(commits.map(\.sequence)).count == commits.count)
    var generator = SeededGenerator(seed: 1)
    let count = files.operationCount
    for boundary in Thoroughness.part(of: 0..<count + 1, step: 13) {
      for variant in [CrashVariant.strict, .everything, .mixedWrites] {
        let seed = generator.next()
        let image = files.image(after: boundary, variant: variant, seed: seed)
        do {
          try check(image, commits, after: boundary, isPowerCut: variant != .everything)
        } catch {
          Issue.record("\(variant), seed \(seed), after \(boundary): \(error)")
          return
        }
      }
    }
  }

  private func check(
    _ image: MemoryFileSystem, _ commits: [Commit], after count: Int, isPowerCut: Bool
  ) throws {
    let snapshot = try TinyStore.open(in: image).snapshot()
    let required = commits.filter {
      $0.end <= count && (!isPowerCut || $0.durability == .full)
    }
    guard required.allSatisfy({ $0.sequence <= snapshot.sequence }) else {
      throw Problem("an acknowledged commit is missing")
    }
    for thread in 0..<UInt8(Self.threadCount) {
      let seen = commits.filter { $0.thread == thread && $0.sequence <= snapshot.sequence }
      let number = seen.map(\.number).max()
      guard try snapshot.value(forKey: [thread]) == number.map({ [$0] }),
        try snapshot.value(forKey: [thread, thread])
          == number.map({ [UInt8](repeating: $0, count: 50) })
      else { throw Problem("thread \(thread) is not at commit \(number ?? 0)") }
    }
  }
}
