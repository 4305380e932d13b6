import KVEngine
import KVTestSupport
import MemoCore

/// What a program that opens a store of memos finds.
struct MemoContent: Equatable {
  var memos: [Memo] = []
  var trash: [DeletedMemo] = []
  /// What became of memos, from the beginning of recording on; `nil` before.
  var changes: [FeedEntry]?
}

/// A life of memos with everything that can happen to a deleted one, fixed by a seed.
///
/// Every call is acknowledged as durable or fails, so after a crash there is what the calls before
/// had left, or that of the call that was under way as a whole.
final class MemoWorkload {
  static let path = "/store"

  let seed: UInt64
  let files = RecordingFileSystem()
  /// What there is after so many calls.
  private(set) var states = [MemoContent()]
  /// Operations recorded when each call had returned.
  private(set) var ends: [Int] = [0]
  private(set) var token: FeedToken?
  private var random: SeededGenerator

  init(seed: UInt64, callCount: Int) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    var timeline = try Self.open(files)
    for call in 0..<callCount {
      try run(call, timeline)
      states.append(try Self.content(of: timeline, since: token))
      ends.append(files.operationCount)
      if call % 17 == 16 {
        try timeline.close()
        timeline = try Self.open(files)
        // What closing does changes nothing.
        states.append(try Self.content(of: timeline, since: token))
        ends.append(files.operationCount)
      }
    }
    try timeline.close()
  }

  static func open(_ files: any FileSystem) throws -> MemoTimeline {
    try MemoTimeline(at: path, in: files, options: TinyStore.options)
  }

  static func content(of timeline: MemoTimeline, since token: FeedToken?) throws -> MemoContent {
    var content = MemoContent(
      memos: try timeline.latest(.max), trash: try timeline.deletedMemos(.max))
    guard let token, try timeline.snapshot().count(in: MemoSpace.feed) > 0 else { return content }
    let page = try timeline.changes(since: token, atMost: .max, now: 0)
    if page.isResync { throw Problem("the recording has lost its beginning") }
    content.changes = page.entries.map(\.entry)
    return content
  }

  private func run(_ call: Int, _ timeline: MemoTimeline) throws {
    if call == 3 {
      token = try timeline.changes(since: nil, atMost: 1, now: 0).token
      return
    }
    let id = MemoID(Int64.random(in: 0..<12, using: &random))
    let deleted = try timeline.deletedMemos(.max)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40:
      let time = MemoTimestamp(microseconds: .random(in: 0..<5, using: &random))
      guard let time else { throw Problem("no time") }
      let body = String(repeating: "memo \(call) ", count: .random(in: 1...20, using: &random))
      _ = try timeline.upsert(Memo(id: id, createdAt: time, body: body))
    case 40..<65:
      _ = try timeline.delete(
        id, at: Int64(call), undoMicroseconds: 1_000_000, trashMicroseconds: 2_000_000)
    case 65..<80:
      // Unless a memo with the id has come meanwhile.
      if let last = deleted.randomElement(using: &random) {
        _ = try? timeline.restore(last.key)
      }
    case 80..<85:
      if let last = deleted.last { try timeline.remove(last.key) }
    case 85..<90: try timeline.purge()
    case 90..<95: try timeline.flush()
    case 95: try timeline.emptyTrash()
    default:
      try timeline.write { edits throws(MemoError) in
        // Two memos change places, or come, in one commit.
        for number in 0..<2 as Range<Int64> {
          let memo = Memo(id: MemoID(100 + number), body: "pair \(call)")
          if try edits.delete(memo.id) == nil { try edits.insert(memo) }
        }
      }
    }
  }

  /// What may be there when a crash lets the first operations stand.
  func allowed(after boundary: Int) -> [MemoContent] {
    let done = ends.lastIndex { $0 <= boundary } ?? 0
    return Array(states[done...min(done + 1, states.count - 1)])
  }
}
