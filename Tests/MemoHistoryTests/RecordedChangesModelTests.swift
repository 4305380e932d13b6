import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// Whoever follows the changes of a store has what the store has, however it is written and read.
@Suite struct RecordedChangesModelTests {
  /// Somebody who carries memos elsewhere: their ids with what they said when they were read.
  private struct Follower {
    var token: ChangeToken?
    var bodies: [MemoID: String] = [:]
    var resyncCount = 0

    /// Reads on, a few changes at a time, and perhaps not to the end.
    mutating func follow(
      _ store: MemoStore<Memo>, limit: Int, pageCount: Int = .max
    ) async throws {
      for _ in 0..<pageCount {
        let page = try await store.changes(since: token, limit: limit)
        token = page.token
        if page.isResync {
          resyncCount += 1
          bodies = [:]
          for memo in try store.latest(.max) { bodies[memo.id] = memo.body }
        }
        for change in page.changes {
          bodies[change.id] = try store.memo(for: change.id)?.body
        }
        if !page.hasMore { return }
      }
    }
  }

  private func bodies(of store: MemoStore<Memo>) throws -> [MemoID: String] {
    Dictionary(uniqueKeysWithValues: try store.latest(.max).map { ($0.id, $0.body) })
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func aFollowerHasWhatTheStoreHas(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let volume = TestVolume()
    var store = try volume.open(Memo.self)
    var follower = Follower()
    var deletions: [MemoDeletion] = []
    for call in 0..<600 {
      let id = Int64.random(in: 0..<30, using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<45:
        let second = Int64.random(in: 0..<5, using: &random)
        try await store.upsert(try memo(id, at: second, body: "\(call)"))
      case 45..<65:
        if let deletion = try await store.delete(MemoID(id)) { deletions.append(deletion) }
      case 65..<72:
        if let deletion = deletions.popLast() { try? await store.undo(deletion) }
      case 72..<78:
        let others = (0..<Int64.random(in: 1...4, using: &random)).map { (id + $0) % 30 }
        try await store.perform { memos in
          for other in others {
            if try memos.delete(MemoID(other)) == nil {
              try memos.insert(memo(other, body: "\(call)"))
            }
          }
        }
      case 78..<80:
        store = try volume.relaunch(Memo.self)
        deletions = []
      case 80: try await store.purge()
      case 81: try await store.stopRecordingChanges()
      default:
        let limit = Int.random(in: 1...9, using: &random)
        try await follower.follow(store, limit: limit, pageCount: 2)
      }
    }
    try await follower.follow(store, limit: 7)
    #expect(try follower.bodies == bodies(of: store), "seed \(seed)")
    #expect(follower.resyncCount < 60, "seed \(seed)")
    #expect(try store.timeline.verify().isSound, "seed \(seed)")
  }

  /// Two programs that write to one store in turns record into one feed.
  @Test func writersInTurnsLeaveNothingOut() async throws {
    let volume = TestVolume()
    let (app, share) = (try volume.open(Memo.self), try volume.openElsewhere(Memo.self))
    var follower = Follower()
    try await follower.follow(app, limit: 10)
    for round in 0..<20 {
      try await app.upsert(try memo(Int64(round), body: "app \(round)"))
      try await app.suspend()
      try await app.resume()
      try await share.upsert(try memo(Int64(round + 1), body: "share \(round)"))
      try await share.suspend()
      try await share.resume()
      if round % 3 == 0 { try await follower.follow(app, limit: 4) }
    }
    try await follower.follow(app, limit: 100)
    #expect(try follower.bodies == bodies(of: app))
    #expect(follower.resyncCount == 1)
  }

  /// Writes from many tasks, beside one that reads.
  @Test func whoReadsWhileOthersWriteMissesNothing() async throws {
    let store = MemoStore<Memo>.inMemory()
    var follower = Follower()
    try await follower.follow(store, limit: 10)
    let follow = follower
    follower = try await withThrowingTaskGroup(of: Follower?.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for call in 0..<50 {
            try await store.upsert(try memo(Int64(call % 7), body: "\(writer) \(call)"))
            if call % 5 == 0 { try await store.delete(MemoID(Int64(call % 7))) }
          }
          return nil
        }
      }
      group.addTask {
        var follower = follow
        for _ in 0..<30 { try await follower.follow(store, limit: 5, pageCount: 3) }
        return follower
      }
      return try await group.reduce(follow) { $1 ?? $0 }
    }
    try await follower.follow(store, limit: 100)
    #expect(try follower.bodies == bodies(of: store))
    #expect(follower.resyncCount == 1)
  }

  /// What is lost cannot be told, so a token of the store before leads nowhere.
  @Test func aSalvagedStoreAsksForAResync() async throws {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let (path, saved) = (directory.path("store"), directory.path("saved"))
    let store = MemoStore<Memo>(try MemoTimeline(at: path))
    let start = try await store.changes(since: nil).token
    try await store.insert(
      contentsOf: try (0..<2000).map { try memo($0, at: $0, body: "\($0 * $0 * 7919)") })
    let token = try await store.changes(since: start, limit: 5).token
    try store.timeline.flush()
    try await store.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where name.hasSuffix(".log") {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where name.hasSuffix(".seg") {
      let file = URL(filePath: path + "/" + name)
      var bytes = try Data(contentsOf: file)
      for place in stride(from: 5000, to: bytes.count - 5000, by: 20_000) { bytes[place] ^= 0xFF }
      try bytes.write(to: file)
    }
    _ = try MemoTimeline.salvage(storeAt: path, to: saved)
    let rest = MemoStore<Memo>(try MemoTimeline(at: saved))
    #expect(try (1..<2000).contains(rest.count()))
    #expect(try rest.timeline.verify().isSound)
    #expect(try await rest.changes(since: token).isResync)
  }
}
