import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// Threads and processes that write the same memos.
@Suite struct MemoTimelineConcurrencyTests {
  /// What the threads of a round came back with.
  private func outcomes(
    threads: Int, _ work: @escaping @Sendable (Int) throws -> Void
  ) -> [(any Error)?] {
    let outcomes = Lock<[(any Error)?]>(Array(repeating: nil, count: threads))
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      do {
        try work(thread)
      } catch {
        outcomes.withLock { $0[thread] = error }
      }
    }
    return outcomes.withLock { $0 }
  }

  private func timelines() throws -> [(MemoTimeline, TemporaryDirectory?)] {
    let directory = try TemporaryDirectory()
    return [
      (MemoTimeline.inMemory(), nil),
      (try MemoTimeline(at: directory.path("store")), directory),
    ]
  }

  @Test func oneOfManyInsertsOfAnIDSucceeds() throws {
    for (timeline, directory) in try timelines() {
      for id in 0..<40 as Range<Int64> {
        let memos = try (0..<6).map { try memo(id, at: Int64($0 % 3), body: "thread \($0)") }
        let outcomes = outcomes(threads: 6) { try timeline.insert(memos[$0]) }
        let winners = outcomes.indices.filter { outcomes[$0] == nil }
        #expect(winners.count == 1, "id \(id)")
        for case .some(let error) in outcomes { #expect(error as? MemoError == .duplicateID) }
        #expect(try timeline.memo(for: MemoID(id))?.body == winners.first.map { "thread \($0)" })
      }
      #expect(try timeline.count() == 40)
      #expect(try timeline.verify().isSound)
      try timeline.close()
      _ = directory
    }
  }

  /// With one instant the memo is changed in place, with several it moves.
  @Test(arguments: [1, 3] as [Int64])
  func upsertsOfOneIDLeaveOneMemo(instants: Int64) throws {
    for (timeline, directory) in try timelines() {
      for id in 0..<20 as Range<Int64> {
        let replaced = Lock<[String]>([])
        let memos = try (0..<6).map { try memo(id, at: $0 % instants, body: "\($0)") }
        let outcomes = outcomes(threads: 6) { thread in
          if let old = try timeline.upsert(memos[thread]) {
            replaced.withLock { $0.append(old.body) }
          }
        }
        #expect(outcomes.allSatisfy { $0 == nil })
        // Each version but the last was replaced once: none was lost without a word.
        let last = try #require(try timeline.memo(for: MemoID(id))?.body)
        #expect(replaced.withLock { ($0 + [last]).sorted() } == (0..<6).map { "\($0)" })
      }
      #expect(try timeline.count() == 20)
      #expect(try timeline.allMemos().count == 20)
      #expect(try timeline.verify().isSound)
      _ = directory
    }
  }

  @Test func oneOfManyDeletesGetsTheMemo() throws {
    let timeline = MemoTimeline.inMemory()
    for id in 0..<40 as Range<Int64> {
      try timeline.insert(try memo(id))
      let hits = Lock(0)
      let outcomes = outcomes(threads: 6) { _ in
        if try timeline.delete(MemoID(id)) != nil { hits.withLock { $0 += 1 } }
      }
      #expect(outcomes.allSatisfy { $0 == nil })
      #expect(hits.withLock { $0 } == 1, "id \(id)")
    }
    #expect(try timeline.count() == 0)
    #expect(try timeline.verify().isSound)
  }

  @Test func importsThatOverlapGiveTheNewestVersions() throws {
    let timeline = MemoTimeline.inMemory()
    let threads = 4
    let memos = try (0..<threads).map { thread in
      try (0..<200).map { try memo($0, at: Int64(thread) ^ $0 & 3, body: "\(thread)") }
    }
    let total = Lock(ImportCounts())
    let outcomes = outcomes(threads: threads) { thread in
      for start in stride(from: 0, to: 200, by: 10) {
        let counts = try timeline.importBatch(Array(memos[thread][start..<start + 10]))
        total.withLock { $0 += counts }
      }
    }
    #expect(outcomes.allSatisfy { $0 == nil })
    #expect(total.withLock { $0.total } == threads * 200)
    #expect(total.withLock { $0.inserted } == 200)
    #expect(try timeline.count() == 200)
    for id in 0..<200 as Range<Int64> {
      let stored = try timeline.memo(for: MemoID(id))
      #expect(stored?.createdAt.microseconds == 3_000_000, "id \(id)")
    }
    #expect(try timeline.verify().isSound)
  }

  @Test func readersSeeWholeBatchesWhileWritersWrite() throws {
    var options = DatabaseOptions()
    options.logByteCount = 4 << 10
    let files = MemoryFileSystem()
    try files.makeDirectory("/folder")
    let timeline = try MemoTimeline(at: "/folder/store", in: files, options: options)
    let batches = try (0..<60).map { batch in
      try (0..<10).map { try memo(Int64(batch * 10 + $0), at: $0) }
    }
    let isDone = Lock(false)
    let outcomes = outcomes(threads: 3) { thread in
      if thread == 0 {
        defer { isDone.withLock { $0 = true } }
        for batch in batches { _ = try timeline.importBatch(batch) }
        return
      }
      var last = 0
      while !isDone.withLock({ $0 }) {
        let memos = try timeline.allMemos()
        #expect(memos.count % 10 == 0 && memos.count >= last)
        last = memos.count
        let times = memos.map(\.createdAt.microseconds)
        #expect(times == times.sorted(by: >))
      }
    }
    #expect(outcomes.allSatisfy { $0 == nil })
    #expect(try timeline.count() == 600)
  }

  /// A handle that was opened before another process wrote must not believe what it read then.
  @Test func twoProcessesTakeTurns() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    for turn in 0..<6 as Range<Int64> {
      var timeline = try MemoTimeline(at: path)
      let before = try timeline.count()
      await #expect(processExitsWith: .exitCode(0)) {
        [path = path as String, turn = turn as Int64] in
        let timeline = try MemoTimeline(at: path)
        try timeline.insert(try memo(turn, at: turn, body: "child"))
        _ = try timeline.upsert(try memo(1000, at: turn, body: "child"))
        if turn == 3 { try timeline.flush() }
        try timeline.close()
      }
      #expect(try timeline.count() == before + (turn == 0 ? 2 : 1))
      #expect(throws: MemoError.duplicateID) { try timeline.insert(try memo(turn)) }
      #expect(try timeline.upsert(try memo(1000, at: turn, body: "parent"))?.body == "child")
      try timeline.insert(try memo(100 + turn, at: turn, body: "parent"))
      // Now this process holds the lock.
      await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
        do throws(MemoError) {
          try MemoTimeline(at: path).insert(Memo(id: MemoID(-1), body: ""))
        } catch {
          exit(error == .database(.alreadyOpen) ? 7 : 1)
        }
      }
      try timeline.close()
      timeline = try MemoTimeline(at: path)
      #expect(try timeline.count() == 2 * (Int(turn) + 1) + 1)
      #expect(try timeline.verify().isSound)
      try timeline.close()
    }
  }
}
