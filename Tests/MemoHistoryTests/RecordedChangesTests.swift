import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// What a sync is told of changes, and when it has to read everything.
@Suite struct RecordedChangesTests {
  private typealias Change = RecordedChange<MemoID>

  private let clock = ManualClock()
  private let volume = TestVolume()

  private func open() throws -> MemoStore<Memo> { try volume.open(Memo.self, clock: clock) }

  /// What happened to which memo, as a short text.
  private func told(_ page: RecordedChanges<MemoID>) -> [String] {
    page.changes.map { "\($0.kind) \($0.id)" }
  }

  private func number(of store: MemoStore<Memo>) throws -> Int {
    try store.timeline.snapshot().count(in: MemoSpace.feed)
  }

  @Test func nothingIsRecordedBeforeSomebodyAsks() async throws {
    let store = try open()
    try await store.insert(try memo(1, at: 1))
    #expect(try number(of: store) == 0)
    let first = try await store.changes(since: nil)
    #expect(first.isResync && first.changes.isEmpty && !first.hasMore)
    let again = try await store.changes(since: first.token)
    #expect(!again.isResync && again.changes.isEmpty && again.token == first.token)
  }

  @Test func everyKindOfWriteIsTold() async throws {
    let store = try open()
    let start = try await store.changes(since: nil).token
    await clock.advance(by: .seconds(5))
    try await store.insert(try memo(1, at: 1), origin: "phone")
    try await store.insert(contentsOf: [try memo(2, at: 2), try memo(3, at: 3)])
    try await store.upsert(try memo(1, at: 9), origin: "")
    try await store.update(MemoID(2)) { $0.body = "other" }
    try await store.update(MemoID(2)) { $0.body = "other" }
    let deletion = try #require(try await store.delete(MemoID(3)))
    try await store.undo(deletion)
    try await store.perform { memos in
      try memos.insert(memo(4, at: 4))
      try memos.delete(MemoID(4))
      try memos.delete(MemoID(1))
      try memos.update(MemoID(2)) { $0.body = "third" }
    }
    let page = try await store.changes(since: start)
    #expect(
      told(page) == [
        "inserted 1", "inserted 2", "inserted 3", "updated 1", "updated 2", "deleted 3",
        "inserted 3", "deleted 1", "updated 2",
      ])
    #expect(page.changes.map(\.origin).prefix(4) == ["phone", nil, nil, ""])
    let date = clock.wallMicroseconds
    #expect(page.changes.allSatisfy { $0.date.microseconds == date })
    #expect(page.changes.last?.token == page.token)
    #expect(try store.timeline.verify().isSound)
  }

  @Test func pagesFollowEachOther() async throws {
    let store = try open()
    var token = try await store.changes(since: nil).token
    for id in 1...10 { try await store.insert(try memo(Int64(id), at: Int64(id))) }
    var all: [MemoID] = []
    var sizes: [Int] = []
    while true {
      let page = try await store.changes(since: token, limit: 4)
      all += page.changes.map(\.id)
      sizes.append(page.changes.count)
      token = page.token
      if !page.hasMore { break }
    }
    #expect(all == (1...10).map { MemoID(Int64($0)) })
    #expect(sizes == [4, 4, 2])
    #expect(try await store.changes(since: token, limit: -1).changes.isEmpty)
  }

  /// Each change says where to go on, for who carries one at a time.
  @Test func theTokenOfAChangeLeadsBehindIt() async throws {
    let store = try open()
    let start = try await store.changes(since: nil).token
    for id in 1...5 { try await store.insert(try memo(Int64(id), at: Int64(id))) }
    let page = try await store.changes(since: start)
    for (place, change) in page.changes.enumerated() {
      let rest = try await store.changes(since: change.token)
      #expect(rest.changes == Array(page.changes.dropFirst(place + 1)))
    }
  }

  @Test func aChangeStandsForItselfAsText() async throws {
    let store = MemoStore<Note>.inMemory(clock: clock)
    let start = try await store.changes(since: nil).token
    try await store.insert(Note(text: "milk"), origin: "phone")
    let change = try #require(try await store.changes(since: start).changes.first)
    let text = try JSONEncoder().encode(change)
    #expect(try JSONDecoder().decode(RecordedChange<UUID>.self, from: text) == change)
    let token = try JSONEncoder().encode([change.token])
    #expect(String(decoding: token, as: UTF8.self) == "[\"\(change.token.rawValue)\"]")
  }

  @Test func recordingGoesOnAfterARelaunch() async throws {
    var store = try open()
    let start = try await store.changes(since: nil).token
    try await store.insert(try memo(1, at: 1))
    store = try volume.relaunch(Memo.self, clock: clock)
    try await store.insert(try memo(2, at: 2))
    let other = try volume.openElsewhere(Memo.self)
    try await store.close()
    try await other.insert(try memo(3, at: 3), origin: "extension")
    let page = try await other.changes(since: start)
    #expect(told(page) == (1...3).map { "inserted \($0)" }, "\(page)")
  }

  @Test(arguments: ["", "x", "-", "0-0-0", "--", "é", String(repeating: "f", count: 9999)])
  func aDamagedTokenAsksForAResync(text: String) async throws {
    let store = try open()
    let start = try await store.changes(since: nil).token
    let page = try await store.changes(since: ChangeToken(rawValue: text))
    #expect(page.isResync && page.token == start)
  }

  /// Whatever character of it is another one, a token leads nowhere.
  @Test func aTokenWithAWrongCharacterIsNotBelieved() async throws {
    let store = try open()
    let start = try await store.changes(since: nil).token
    for id in 1...12 { try await store.insert(try memo(Int64(id), at: Int64(id))) }
    let page = try await store.changes(since: start, limit: 11)
    let text = Array(page.token.rawValue.utf8)
    for place in text.indices {
      for byte in "0123456789abcdef-g".utf8 where byte != text[place] {
        var changed = text
        changed[place] = byte
        let token = ChangeToken(rawValue: String(decoding: changed, as: UTF8.self))
        let found = try await store.changes(since: token)
        #expect(found.isResync, "\(token)")
      }
    }
  }

  @Test func aTokenOfAnotherStoreAsksForAResync() async throws {
    let other = MemoStore<Memo>.inMemory()
    let token = try await other.changes(since: nil).token
    let store = try open()
    _ = try await store.changes(since: nil)
    #expect(try await store.changes(since: token).isResync)
  }

  /// A backup that is put back and written on has other entries with the same numbers.
  @Test func aStoreThatWasSetBackAsksForAResync() async throws {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let (path, backup) = (directory.path("store"), directory.path("backup"))
    var timeline = try MemoTimeline(at: path)
    let start = try timeline.changes(since: nil, atMost: 9, now: 0).token
    try timeline.insert(try memo(1, at: 1))
    let shared = try timeline.changes(since: start, atMost: 9, now: 0).token
    try timeline.close()
    try FileManager.default.copyItem(atPath: path, toPath: backup)
    timeline = try MemoTimeline(at: path)
    try timeline.insert(try memo(2, at: 2))
    let lost = try timeline.changes(since: start, atMost: 9, now: 0).token
    try timeline.close()

    timeline = try MemoTimeline(at: backup)
    #expect(try timeline.changes(since: lost, atMost: 9, now: 0).isResync, "beyond the end")
    try timeline.insert(try memo(3, at: 3))
    #expect(try timeline.changes(since: lost, atMost: 9, now: 0).isResync, "another entry")
    let rest = try timeline.changes(since: shared, atMost: 9, now: 0)
    #expect(!rest.isResync && rest.entries.map(\.entry.id) == [MemoID(3)])
  }

  @Test func oldChangesGoAndTheirTokensWithThem() async throws {
    let store = try open()
    let start = try await store.changes(since: nil).token
    try await store.insert(try memo(1, at: 1))
    let first = try await store.changes(since: start).token
    await clock.advance(by: .seconds(30 * 86_400))
    try await store.insert(try memo(2, at: 2))
    let second = try await store.changes(since: first)
    #expect(told(second) == ["inserted 2"])
    await clock.advance(by: .seconds(1))
    #expect(told(try await store.changes(since: start)) == ["inserted 1", "inserted 2"])
    #expect(try number(of: store) == 1)
    #expect(try await store.changes(since: start).isResync)
    #expect(try await store.changes(since: first).isResync)
    // The last one stays, however old: it says that changes are recorded.
    await clock.advance(by: .seconds(400 * 86_400))
    #expect(try await !store.changes(since: second.token).isResync)
    try await store.insert(try memo(3, at: 3))
    #expect(told(try await store.changes(since: second.token)) == ["inserted 3"])
    #expect(try store.timeline.verify().isSound)
  }

  @Test func noMoreChangesAreKeptThanIsSaid() async throws {
    let store = MemoStore<Memo>.inMemory(clock: clock)
    let start = try await store.changes(since: nil).token
    func memos(_ ids: Range<Int64>) throws -> [Memo] { try ids.map { try memo($0, at: $0) } }
    try await store.insert(contentsOf: try memos(0..<9_000))
    let old = try await store.changes(since: start, limit: 900).token
    try await store.insert(contentsOf: try memos(9_000..<10_900))
    #expect(try number(of: store) == FeedEntry.maximumCount)
    #expect(try await store.changes(since: start).isResync)
    #expect(try await store.changes(since: old).isResync, "its own entry has gone")
    let next = try await store.changes(since: nil).token
    // More in one commit than are kept.
    try await store.insert(contentsOf: try memos(10_900..<25_000))
    #expect(try await store.changes(since: next).isResync)
    let last = try await store.changes(since: nil).token
    try await store.insert(contentsOf: try memos(25_000..<25_003))
    #expect(try await store.changes(since: last).changes.count == 3)
    #expect(try number(of: store) == FeedEntry.maximumCount)
    #expect(try store.timeline.verify().isSound)
  }

  @Test func recordingEndsWhenItIsNotWantedAnyMore() async throws {
    let store = try open()
    let start = try await store.changes(since: nil).token
    try await store.insert(try memo(1, at: 1))
    try await store.stopRecordingChanges()
    try await store.stopRecordingChanges()
    #expect(try number(of: store) == 0)
    try await store.insert(try memo(2, at: 2))
    #expect(try number(of: store) == 0)
    #expect(try await store.changes(since: start).isResync)
    let again = try await store.changes(since: nil).token
    try await store.insert(try memo(3, at: 3))
    #expect(told(try await store.changes(since: again)) == ["inserted 3"])
    #expect(try store.timeline.verify().isSound)
  }

  /// An entry that cannot be read hides changes, so all has to be read.
  @Test(arguments: [0, 1, 2] as [UInt64])
  func aDamagedEntryAsksForAResync(number: UInt64) async throws {
    let store = MemoStore<Memo>.inMemory(clock: clock)
    let start = try await store.changes(since: nil).token
    for id in 1...2 { try await store.insert(try memo(Int64(id), at: Int64(id))) }
    var batch = WriteBatch()
    batch.put([9], forKey: FeedKey.encode(number), in: MemoSpace.feed, kind: .put)
    try store.timeline.database.write(batch)
    #expect(try !store.timeline.verify().isSound)
    let page = try await store.changes(since: start)
    #expect(page.isResync)
    try await store.insert(try memo(3, at: 3))
    #expect(told(try await store.changes(since: page.token)) == ["inserted 3"])
  }

  @Test(arguments: [[0xFF], Array(repeating: 0xFF, count: 8)] as [[UInt8]])
  func aKeyThatIsNoNumberMakesRecordingBeginAnew(key: [UInt8]) async throws {
    let store = MemoStore<Memo>.inMemory(clock: clock)
    let start = try await store.changes(since: nil).token
    var batch = WriteBatch()
    batch.put([], forKey: key, in: MemoSpace.feed, kind: .insertion)
    try store.timeline.database.write(batch)
    try await store.insert(try memo(1, at: 1))
    let page = try await store.changes(since: start)
    #expect(page.isResync)
    try await store.insert(try memo(2, at: 2))
    #expect(told(try await store.changes(since: page.token)) == ["inserted 2"])
    #expect(try store.timeline.verify().isSound)
  }

  @Test func valuesOfCollectionsAreNotRecorded() async throws {
    let store = try open()
    let start = try await store.changes(since: nil).token
    try await store.collection("drafts", of: Draft.self).upsert(Draft(id: "a", text: "a"))
    #expect(try await store.changes(since: start).changes.isEmpty)
  }
}
