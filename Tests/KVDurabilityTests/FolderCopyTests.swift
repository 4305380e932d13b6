import KVTestSupport
import Testing

@testable import KVEngine

/// Copies of a store's folder made file by file, in any order, at any moment of its life.
///
/// What holds for each: it opens as one state; that state has everything that was acknowledged when
/// the folder was listed, lazy commits too, and nothing that had not begun when the last piece was
/// read; whether it is the newest one is said; and it goes on from there. Copies listed before the
/// first commit was acknowledged are left out: nothing is in the store, and its files come one by
/// one.
@Suite struct FolderCopyTests {
  private static let partCount = 4
  /// Of each part; the push tier is to have at least 1,000 in all.
  private static let copyCount = 350
  /// Operations for which a replaced file stays: what takes longer is no copy.
  private static let graceOperationCount = 300

  private enum Outcome: Hashable {
    case newest, earlier, torn, slow
  }

  @Test(arguments: 0..<partCount) func everyCopyIsOneRecentState(part: Int) throws {
    let workload = try DatabaseWorkload(
      seed: [1, 4, 41, 43][part], compacts: part > 0,
      graceOperationCount: Self.graceOperationCount)
    let removedCount = workload.files.operations.count {
      if case .unlink = $0.change { true } else { false }
    }
    #expect(removedCount > 5)
    let first = try #require(workload.commits.first)
    let count = workload.files.operationCount
    var outcomes: [Outcome: Int] = [:]
    var failureCount = 0
    for number in Thoroughness.part(of: 0..<Self.copyCount, step: 10, offset: part) {
      let seed = UInt64(part * 100_000 + number)
      let start = first.end + (count - first.end) * number / Self.copyCount
      let pause = [0, 3, 6][number % 3]
      do {
        let copy = try FolderCopy(
          of: workload.files, TinyStore.path, listedAfter: start, pause: pause, seed: seed)
        let outcome = try check(copy, of: workload, seed: seed)
        outcomes[outcome, default: 0] += 1
        if pause == 0, outcome != .newest { throw Problem("an idle store has an older copy") }
      } catch {
        Issue.record("workload \(workload.seed), copy \(seed) listed after \(start): \(error)")
        failureCount += 1
        if failureCount == 5 { return }
      }
    }
    guard Thoroughness.isFull else { return }
    #expect(outcomes[.newest, default: 0] > 100, "\(outcomes)")
    #expect(outcomes[.earlier, default: 0] > 20, "\(outcomes)")
    #expect(outcomes[.slow, default: 0] < 70, "\(outcomes)")
  }

  /// Opens a copy in both ways, and uses it.
  private func check(
    _ copy: FolderCopy, of workload: DatabaseWorkload, seed: UInt64
  ) throws -> Outcome {
    if copy.end - copy.start > Self.graceOperationCount { return .slow }
    let least = workload.allowedStates(after: copy.start, isPowerCut: false).lowerBound
    let most = workload.allowedStates(after: copy.end, isPowerCut: false).upperBound
    let strict = try content(MemoryFileSystem(copy.tree), .report)
    if let (content, report) = strict {
      guard report == nil, workload.states[least...most].contains(content) else {
        throw Problem("opens as a wrong state")
      }
    }
    let files = MemoryFileSystem(copy.tree)
    let database = try open(files.process(1), .openEarlierState)
    let content = try database.countedContent()
    guard workload.states[least...most].contains(content) else {
      let known = workload.states.lastIndex(of: content)
      throw Problem("is state \(known.map { "\($0)" } ?? "of no commit"), not \(least)...\(most)")
    }
    let report = database.earlierState
    guard (report == nil) == (strict != nil) else {
      throw Problem("report \(report.map { "\($0)" } ?? "none"), strict opens: \(strict != nil)")
    }
    if let missing = report?.missingSequences {
      guard try missing.upperBound == database.snapshot().sequence else {
        throw Problem("goes on at another sequence than behind \(missing)")
      }
    }
    guard try files.storeFiles() == MemoryFileSystem(copy.tree).storeFiles() else {
      throw Problem("opening changes the folder")
    }
    try StoreCheck(files: files, seed: seed).takesCommits(5, to: database, from: content)
    guard let report else { return .newest }
    return report.corruption.structure == "log record" ? .torn : .earlier
  }

  private func open(_ files: any FileSystem, _ policy: DamagePolicy) throws -> Database {
    var options = TinyStore.options
    options.onDamage = policy
    return try TinyStore.open(in: files, options: options)
  }

  /// What a store holds; `nil` when it is damaged.
  private func content(
    _ files: any FileSystem, _ policy: DamagePolicy
  ) throws -> (StoreContent, EarlierState?)? {
    do {
      let database = try open(files, policy)
      return (try database.countedContent(), database.earlierState)
    } catch let error as DatabaseError {
      guard case .damaged = error else { throw error }
      return nil
    }
  }

  // MARK: - Beside a thread that writes

  @Test func copiesBesideAWriterAreCommitsAsAWhole() throws {
    let folder = try StoreFolder(on: .posix)
    var options = DatabaseOptions()
    options.logByteCount = 16 << 10
    options.worksInBackground = false
    options.onDamage = .openEarlierState
    let path = folder.path + "/store"
    let writer = try Database(at: path, in: folder.files, options: options)
    try writer.write(FollowingReaderTests.batch(1))
    let written = Lock<UInt64>(1)
    let isOver = Lock(false)
    let findings = Lock<[String]>([])
    let copyCount = Thoroughness.isLarge ? 60 : 10
    onThreads(2) { [options] thread in
      do {
        if thread == 0 {
          var number: UInt64 = 1
          while !isOver.withLock({ $0 }) {
            number += 1
            try writer.write(FollowingReaderTests.batch(number), durability: .lazy)
            written.withLock { $0 = number }
            if number % 40 == 0 { try writer.flush() }
            if number % 200 == 0 { try writer.compact() }
          }
          return
        }
        defer { isOver.withLock { $0 = true } }
        var generator = SeededGenerator(seed: 3)
        for index in 0..<copyCount {
          let target = folder.path + "/copy-\(index)"
          let least = written.withLock { $0 }
          try FolderCopy.copy(path, to: target, in: folder.files, using: &generator)
          let copy = try Database(at: target, in: folder.files, options: options)
          var cursor = try copy.cursor()
          let found = try FollowingReaderTests.commit(FollowingReaderTests.entries(&cursor))
          guard found >= least else { throw Problem("copy \(index) is at \(found), not \(least)") }
          let next = written.withLock { $0 } + 100
          try copy.write(FollowingReaderTests.batch(next))
          try copy.close()
          var strict = options
          strict.onDamage = .report
          let again = try Database(at: target, in: folder.files, options: strict)
          guard try again.value(forKey: [0]).map(FollowingReaderTests.number) == next,
            try again.verify().isSound
          else { throw Problem("copy \(index) loses a commit") }
        }
      } catch {
        findings.withLock { $0.append("\(error)") }
      }
    }
    #expect(findings.withLock { $0 } == [])
    try writer.close()
  }
}
