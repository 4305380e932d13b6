import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// Memos from elsewhere: the same ones twice, refused ones, cancelled in the middle.
@Suite struct MemoImportTests {
  private let store = MemoStore<Row>.inMemory()

  /// Some memos; one whose id is empty is refused.
  private func rows(_ range: Range<Int>, refusing refused: Int? = nil, _ text: String = "memo")
    throws -> [Row]
  {
    try range.map { number in
      Row(
        id: number == refused ? "" : "\(number)",
        createdAt: try #require(MemoTimestamp(microseconds: Int64(number) * 1_000_000)),
        text: "\(text) \(number)", tags: ["x"])
    }
  }

  private func counts(_ report: MemoImportReport) -> [Int] {
    [
      report.insertedCount, report.replacedCount, report.unchangedCount, report.outdatedCount,
      report.refusedCount,
    ]
  }

  private func sequence() throws -> UInt64 {
    try store.timeline.database.snapshot().sequence
  }

  @Test func theSameMemosTwiceChangeNothing() async throws {
    let rows = try rows(0..<1200)
    let progress = SharedLock<[Int]>([])
    let report = try await store.importMemos(rows) { count in
      progress.withLock { $0.append(count) }
    }
    #expect(counts(report) == [1200, 0, 0, 0, 0])
    #expect(progress.withLock { $0.map { $0 } } == [500, 1000, 1200])
    #expect(try store.latest(2000) == rows.reversed())
    let sequence = try sequence()
    #expect(counts(try await store.importMemos(rows)) == [0, 0, 1200, 0, 0])
    #expect(try self.sequence() == sequence)
  }

  @Test func whatTheUserHasChangedSinceStays() async throws {
    let rows = try rows(0..<3)
    try await store.importMemos(rows)
    try await store.update("1") { $0.text = "a user's" }
    let report = try await store.importMemos(rows)
    #expect(counts(report) == [0, 0, 2, 1, 0])
    #expect(try store.memo(for: "1")?.text == "a user's")
    // Also against a file with other texts, however they compare.
    for text in ["a", "zz"] {
      let report = try await store.importMemos(try self.rows(1..<2, text))
      #expect(counts(report) == [0, 0, 0, 1, 0], "\(text)")
    }
    // A memo that nobody has changed is replaced, in one order of the files and the other.
    #expect(counts(try await store.importMemos(try self.rows(2..<3, "zz"))) == [0, 1, 0, 0, 0])
    #expect(counts(try await store.importMemos(rows)) == [0, 0, 1, 2, 0])
    #expect(try store.memo(for: "2")?.text == "zz 2")
  }

  @Test func aRefusedRowIsReportedAndTheOthersAreStored() async throws {
    let rows = try rows(0..<3000, refusing: 1234)
    let report = try await store.importMemos(rows)
    #expect(counts(report) == [2999, 0, 0, 0, 1])
    #expect(report.rowCount == 3000)
    #expect(report.refusals.map(\.row) == [1234])
    #expect(report.refusals.first?.error == .invalidID(reason: "is empty"))
    #expect(try store.count() == 2999)
    #expect(try store.timeline.verify().isSound)
  }

  @Test func anAtomicImportStoresAllOrNone() async throws {
    let sequence = try sequence()
    await #expect(throws: MemoError.invalidID(reason: "is empty")) {
      try await store.importMemos(try rows(0..<3000, refusing: 1234), atomically: true)
    }
    #expect(try store.count() == 0)
    #expect(try self.sequence() == sequence)
    let progress = SharedLock<[Int]>([])
    let report = try await store.importMemos(try rows(0..<3000), atomically: true) { count in
      progress.withLock { $0.append(count) }
    }
    #expect(counts(report) == [3000, 0, 0, 0, 0])
    #expect(progress.withLock { $0.map { $0 } } == [3000])
    #expect(try store.count() == 3000)
  }

  @Test func onlyTheFirstRefusalsAreListed() async throws {
    let rows = try rows(0..<1).map { row in
      var row = row
      row.id = ""
      return row
    }
    let report = try await store.importMemos(Array(repeating: rows[0], count: 700))
    #expect(report.refusedCount == 700)
    #expect(report.refusals.map(\.row) == Array(0..<MemoImportReport.maximumRefusalCount))
  }

  /// What is committed stays, and the next import goes on from there.
  @Test func aCancelledImportEndsBetweenTwoCommits() async throws {
    let rows = try rows(0..<3000)
    let store = store
    let running = Task {
      try await store.importMemos(rows) { count in
        if count == 1000 { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: MemoError.cancelled) { try await running.value }
    #expect(try store.count() == 1000)
    #expect(counts(try await store.importMemos(rows)) == [2000, 0, 1000, 0, 0])
  }

  @Test func anAsyncSequenceIsTakenAsItComes() async throws {
    let rows = try rows(0..<1100)
    let pulled = SharedLock(0)
    let stream = AsyncStream {
      let number = pulled.withLock { number in
        defer { number += 1 }
        return number
      }
      return number < rows.count ? rows[number] : nil
    }
    let report = try await store.importMemos(stream) { count in
      #expect(pulled.withLock { $0 } <= count + 1, "no more was taken than is written")
    }
    #expect(counts(report) == [1100, 0, 0, 0, 0])
  }

  @Test func whatASequenceThrowsEndsTheImport() async throws {
    struct Failure: Error {}
    let rows = try rows(0..<1100)
    let stream = AsyncThrowingStream<Row, any Error> { continuation in
      for row in rows { continuation.yield(row) }
      continuation.finish(throwing: Failure())
    }
    await #expect(throws: Failure.self) { try await store.importMemos(stream) }
    #expect(try store.count() == 1000)
  }

  /// A stream whose task is cancelled just ends; that is no complete import.
  @Test func aSequenceThatIsCutOffIsNotComplete() async throws {
    let rows = try rows(0..<10)
    let store = store
    let running = Task {
      let stream = AsyncStream<Row> { continuation in
        for row in rows { continuation.yield(row) }
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return try await store.importMemos(stream)
    }
    await #expect(throws: MemoError.cancelled) { try await running.value }
    #expect(try store.count() == 0)
  }

  @Test func readyMadeMemosKeepTheirTimes() async throws {
    let store = MemoStore<Memo>.inMemory()
    var memos = try (0..<5).map { try memo($0, at: $0) }
    memos[2].changedAt = MemoTimestamp(microseconds: 9_000_000)
    try await store.importMemos(memos)
    #expect(try store.latest(5) == memos.reversed())
    #expect(counts(try await store.importMemos(memos)) == [0, 0, 5, 0, 0])
  }
}

private struct Row: MemoEntity {
  var id: String
  var createdAt: MemoTimestamp
  var text: String
  var tags: [String]

  static let schema = MemoSchema<Row>()
}
