import Foundation
import KVTestSupport
import Testing

@testable import KVEngine
@testable import MemoCore

/// Deletions that can be undone, in every order of what can happen to them (promise P14).
@Suite struct MemoTimelineDeletionTests {
  private static let second: UInt64 = 1_000_000
  private static let now: Int64 = 1_700_000_000_000_000

  private func timeline(_ memos: [Memo]) throws -> MemoTimeline {
    let timeline = MemoTimeline.inMemory()
    for memo in memos { try timeline.insert(memo) }
    return timeline
  }

  private func delete(
    _ id: Int64, _ timeline: MemoTimeline, at now: Int64 = now, undo: UInt64 = 3 * second,
    trash: UInt64 = 0
  ) throws -> DeletedMemo {
    let deleted = try timeline.delete(
      MemoID(id), at: now, undoMicroseconds: undo, trashMicroseconds: trash)
    return try #require(deleted)
  }

  @Test(.bug(id: "B98"), arguments: [false, true])
  func undoBringsTheSameMemoBackToTheSamePlace(isFlushed: Bool) throws {
    var memos = try (1...5).map { try memo($0, at: 7, body: "body \($0)") }
    memos[2].changedAt = .now
    let timeline = try timeline(memos)
    let before = try timeline.latest(10)
    let deleted = try delete(3, timeline)
    #expect(deleted.memo == memos[2])
    #expect(try timeline.memo(for: MemoID(3)) == nil)
    #expect(try timeline.latest(10) == before.filter { $0.id != MemoID(3) })
    #expect(try timeline.count() == 4 && timeline.deletedCount() == 1)
    #expect(try timeline.deletedMemos(10) == [deleted])
    if isFlushed { try timeline.flush() }
    #expect(try timeline.restore(deleted.key) == memos[2])
    #expect(try timeline.latest(10) == before)
    #expect(try timeline.memo(for: MemoID(3)) == memos[2])
    #expect(try timeline.count() == 5 && timeline.deletedCount() == 0)
    #expect(throws: MemoError.deletionExpired) { try timeline.restore(deleted.key) }
    #expect(try timeline.verify().isSound)
  }

  @Test func whatIsNotThereIsNotDeleted() throws {
    let timeline = try timeline([])
    let deleted = try timeline.delete(
      MemoID(1), at: Self.now, undoMicroseconds: 1, trashMicroseconds: 1)
    #expect(deleted == nil)
    #expect(try timeline.deletedCount() == 0)
  }

  @Test func undoSurvivesARelaunch() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    let first = try MemoTimeline(at: path)
    for id in 1...3 as ClosedRange<Int64> { try first.insert(try memo(id, at: id)) }
    let deleted = try delete(2, first)
    try first.close()
    let second = try MemoTimeline(at: path)
    #expect(try second.undoableDeletions(now: Self.now + 1, openFor: 0) == [deleted])
    try second.restore(deleted.key)
    #expect(try second.latest(3).map(\.id) == [3, 2, 1].map { MemoID($0) })
    try second.close()
  }

  /// A memo with the id of a deleted one is another memo: neither takes the other's place.
  @Test(.bug(id: "B100")) func anIDThatIsTakenAgainKeepsItsMemo() throws {
    let timeline = try timeline([try memo(1, at: 1, body: "old")])
    let deleted = try delete(1, timeline)
    let new = try memo(1, at: 9, body: "new")
    try timeline.insert(new)
    #expect(throws: MemoError.duplicateID) { try timeline.restore(deleted.key) }
    #expect(try timeline.memo(for: MemoID(1)) == new)
    let again = try delete(1, timeline, at: Self.now + 5)
    #expect(try timeline.deletedMemos(10) == [again, deleted])
    try timeline.restore(deleted.key)
    #expect(try timeline.memo(for: MemoID(1))?.body == "old")
    #expect(throws: MemoError.duplicateID) { try timeline.restore(again.key) }
    #expect(try timeline.verify().isSound)
  }

  // MARK: - Expiry

  private struct Moment: Sendable, CustomTestStringConvertible {
    /// Seconds that the wall clock has gone on, and that the store has been open.
    let passed: Int64
    let open: UInt64
    /// Whether a deletion of three seconds, and one of thirty days, are over.
    let isShortOver: Bool
    let isLongOver: Bool
    var testDescription: String { "\(passed) s, open for \(open) s" }
  }

  private static let moments: [Moment] = [
    Moment(passed: 0, open: 0, isShortOver: false, isLongOver: false),
    Moment(passed: 2, open: 100, isShortOver: false, isLongOver: false),
    Moment(passed: 3, open: 3, isShortOver: true, isLongOver: false),
    // A kill, or a clock that was set ahead.
    Moment(passed: 1000, open: 2, isShortOver: false, isLongOver: false),
    Moment(passed: 40_000_000, open: 2, isShortOver: false, isLongOver: false),
    // A clock that was set back.
    Moment(passed: -5000, open: 100_000, isShortOver: false, isLongOver: false),
    Moment(passed: .min / 2_000_000, open: 100_000, isShortOver: false, isLongOver: false),
    Moment(passed: 40_000_000, open: 3599, isShortOver: true, isLongOver: false),
    Moment(passed: 40_000_000, open: 3600, isShortOver: true, isLongOver: true),
  ]

  @Test(arguments: moments)
  private func aPeriodIsOverWhenBothClocksSaySo(moment: Moment) throws {
    let timeline = try timeline(try (1...2).map { try memo($0, at: $0) })
    let short = try delete(1, timeline)
    let long = try delete(2, timeline, at: Self.now + 1, trash: 30 * 86_400 * Self.second)
    let now = Self.now + moment.passed * 1_000_000 + 1
    let open = moment.open * Self.second
    let undoable = try timeline.undoableDeletions(now: now, openFor: open)
    #expect(undoable == (moment.isShortOver ? [] : [long, short]))
    let count = try timeline.removeExpired(now: now, openFor: open)
    #expect(count == (moment.isShortOver ? 1 : 0) + (moment.isLongOver ? 1 : 0))
    let left = (moment.isLongOver ? [] : [long]) + (moment.isShortOver ? [] : [short])
    #expect(try timeline.deletedMemos(10) == left)
    #expect(try timeline.deletedCount() == left.count)
    #expect(try timeline.verify().isSound)
  }

  // MARK: - Races

  /// Of an undo, a removal, a new insertion and a second deletion at once, some order of them
  /// happened.
  @Test(.bug(id: "B101"), arguments: 0..<40 as Range<Int64>)
  func racesEndAsSomeOrderWould(id: Int64) throws {
    let timeline = try timeline([try memo(id, at: 1, body: "old")])
    let deleted = try delete(id, timeline)
    let results = Lock<[Int: Bool]>([:])
    onThreads(4) { thread in
      let isDone: Bool
      switch thread {
      case 0: isDone = (try? timeline.restore(deleted.key)) != nil
      case 1: isDone = (try? timeline.remove(deleted.key)) == true
      case 2: isDone = (try? timeline.insert(try memo(id, at: 1, body: "new"))) != nil
      default:
        let again = try? timeline.delete(
          MemoID(id), at: Self.now + 9, undoMicroseconds: 1, trashMicroseconds: 1)
        isDone = again.flatMap { $0 } != nil
      }
      results.withLock { $0[thread] = isDone }
    }
    let done = results.withLock { $0 }
    let (restored, removed) = (done[0] == true, done[1] == true)
    #expect(restored != removed, "\(done)")
    let bodies = try timeline.memo(for: MemoID(id)).map { [$0.body] } ?? []
    let trash = try timeline.deletedMemos(10).map(\.memo.body)
    let expected = (restored ? ["old"] : []) + (done[2] == true ? ["new"] : [])
    #expect((bodies + trash).sorted() == expected.sorted(), "\(done)")
    #expect(trash.count == (done[3] == true ? 1 : 0))
    #expect(try timeline.count() == bodies.count && timeline.deletedCount() == trash.count)
    #expect(try timeline.verify().isSound)
  }

  // MARK: - Crashes

  /// At every moment the memo is there or in the trash, never both and never neither.
  @Test(arguments: [CrashVariant.strict, .everything, .halfOfSectors, .names, .mixedWrites])
  func aCrashLeavesAMemoInOnePlace(variant: CrashVariant) throws {
    let recording = RecordingFileSystem()
    var options = DatabaseOptions()
    options.worksInBackground = false
    options.zeroStepByteCount = 512
    let timeline = try MemoTimeline(at: "/store", in: recording, options: options)
    for id in 1...4 as ClosedRange<Int64> { try timeline.insert(try memo(id, at: id)) }
    let start = recording.operationCount
    var keys: [TrashKey] = []
    for id in 1...3 as ClosedRange<Int64> { keys.append(try delete(id, timeline).key) }
    try timeline.flush()
    try timeline.restore(keys[0])
    try timeline.restore(keys[1])
    try timeline.flush()
    try timeline.database.purge()
    try timeline.close()
    for count in Thoroughness.part(of: start..<recording.operationCount + 1, step: 5) {
      let image = recording.image(after: count, variant: variant, seed: UInt64(count))
      let again = try MemoTimeline(at: "/store", in: image.process(2), options: options)
      let ids = try again.latest(10).map(\.id) + again.deletedMemos(10).map(\.memo.id)
      #expect(Set(ids) == Set((1...4).map { MemoID($0) }) && ids.count == 4, "after \(count)")
      #expect(try again.count() + again.deletedCount() == 4, "after \(count)")
      #expect(try again.verify().isSound, "after \(count)")
      try again.close()
    }
  }
}
