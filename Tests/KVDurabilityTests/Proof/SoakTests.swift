import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// The life of an app, day by day: memos come, some of them late, in all zones, some change, some
/// go; the clock jumps; the process is killed now and then; every night all is merged: T19 of the
/// test plan (promises P2, P9, P15, P17).
@Suite(.serialized) struct SoakTests {
  private static let dayCount = Thoroughness.count(quick: 2, push: 5, nightly: 30)
  /// Memos of one day: a nightly run makes 3,000,000.
  private static let memoCount = Thoroughness.count(quick: 300, push: 3000, nightly: 100_000)
  private static let day: Int64 = 86_400_000_000

  /// What should be there, as small as it can be: all of a memo follows from number and version.
  private struct Model {
    /// 0 for a memo that was deleted.
    var versions: [UInt8] = []
    var liveCount = 0

    func memo(_ number: Int) -> Memo {
      var generator = SeededGenerator(seed: UInt64(number), stream: Thoroughness.seedBase)
      let version = versions[number]
      let day = Int64(number / SoakTests.memoCount)
      // A third comes late, by hours; some by weeks.
      let isLate = generator.next() % 3 == 0
      let lateness = isLate ? Int64(generator.next() % (generator.next() % 8 == 0 ? 500 : 9)) : 0
      let second = day * 86_400 + Int64(number % SoakTests.memoCount) - lateness * 3600
      let offset = Int32(generator.next() % 29) - 14
      let length = Int(generator.next() % 120)
      return Memo(
        id: number % 2 == 0
          ? MemoID(Int64(number)) : MemoID(uuid: (high: 7, low: UInt64(number))),
        createdAt: MemoTimestamp(microseconds: second * 1_000_000, offsetSeconds: offset * 3600)
          ?? .now,
        body: "\(number).\(version) " + String(repeating: "\u{8CB7}", count: length))
    }
  }

  /// The clock of the system, which is set now and then.
  private static func wallClock(day: Int) -> Int64 {
    let jump: Int64 = day % 7 == 3 ? -20 : day % 11 == 5 ? 400 : 0
    return (20_000 + Int64(day) + jump) * Self.day
  }

  private func open(_ path: String, day: Int) throws -> MemoTimeline {
    var options = DatabaseOptions()
    options.wallClock = { Self.wallClock(day: day) }
    options.logByteCount = 64 << 10
    options.segmentByteCount = 1 << 20
    return try MemoTimeline(at: path, options: options)
  }

  /// What happens on one day.
  private func live(
    _ day: Int, _ model: inout Model, _ timeline: MemoTimeline,
    using generator: inout SeededGenerator
  ) throws {
    var memos: [Memo] = []
    func insert() throws {
      let counts = try timeline.importBatch(memos, durability: .lazy)
      guard counts.inserted == memos.count else { throw Problem("\(counts) for \(memos.count)") }
      memos.removeAll()
    }
    for _ in 0..<Self.memoCount {
      model.versions.append(1)
      model.liveCount += 1
      memos.append(model.memo(model.versions.count - 1))
      if memos.count == Int.random(in: 1...200, using: &generator) || memos.count > 200 {
        try insert()
      }
    }
    try insert()
    for _ in 0..<Self.memoCount / 20 {
      let number = Int.random(in: 0..<model.versions.count, using: &generator)
      guard model.versions[number] > 0, model.versions[number] < 200 else { continue }
      if generator.next() % 2 == 0 {
        guard try timeline.delete(model.memo(number).id, durability: .lazy) != nil else {
          throw Problem("memo \(number) is gone")
        }
        model.versions[number] = 0
        model.liveCount -= 1
      } else {
        model.versions[number] += 1
        guard try timeline.upsert(model.memo(number), durability: .lazy) != nil else {
          throw Problem("memo \(number) is gone")
        }
      }
    }
  }

  /// The newest memos are those of the model; a memo in every so many is found by its id.
  private func check(_ model: Model, _ timeline: MemoTimeline, day: Int) throws {
    guard try timeline.count() == model.liveCount else {
      throw Problem("\(try timeline.count()) memos, not \(model.liveCount)")
    }
    let live = model.versions.indices.filter { model.versions[$0] > 0 }
    let newest = live.suffix(Self.memoCount * 2).map { model.memo($0) }
      .sorted { $0.createdAt.microseconds > $1.createdAt.microseconds }.prefix(200)
    let found = try timeline.latest(newest.count)
    guard found.map(\.createdAt.microseconds) == newest.map(\.createdAt.microseconds),
      Set(found.dropLast(20)).isSubset(of: newest)
    else { throw Problem("the newest memos are others") }
    for number in stride(from: day, to: model.versions.count, by: 97) {
      let memo = model.memo(number)
      guard try timeline.memo(for: memo.id) == (model.versions[number] > 0 ? memo : nil) else {
        throw Problem("memo \(number), version \(model.versions[number])")
      }
    }
  }

  private static func folderByteCount(_ path: String) throws -> Int {
    let manager = FileManager.default
    return try manager.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
      sum + ((try manager.attributesOfItem(atPath: path + "/" + name)[.size] as? Int) ?? 0)
    }
  }

  @Test func thirtyDays() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    var model = Model()
    var generator = SeededGenerator(seed: Thoroughness.seedBase, stream: 19)
    var timeline = try open(path, day: 0)
    for day in 0..<Self.dayCount {
      try live(day, &model, timeline, using: &generator)
      try check(model, timeline, day: day)
      if day % 3 == 2 {
        try timeline.close()
        timeline = try open(path, day: day)
        try check(model, timeline, day: day)
      }
      // At night; the next look at the folder is a day later, when nothing old is kept any more.
      try timeline.database.compact()
      try timeline.close()
      timeline = try open(path, day: day + 1)
      try timeline.insert(Memo(id: MemoID(-1), createdAt: .now, body: "now"))
      _ = try timeline.delete(MemoID(-1))
      try timeline.flush()
      let liveByteCount = try timeline.database.statistics().segmentByteCount
      let byteCount = try Self.folderByteCount(path)
      #expect(byteCount < 2 * liveByteCount + (2 << 20), "day \(day): \(byteCount) bytes")
    }
    #expect(try timeline.verify().isSound)
    var cursor = try timeline.cursor()
    var (count, last) = (0, Int64.max)
    while let (key, memo) = try cursor.next() {
      count += 1
      #expect(key.microseconds <= last)
      last = key.microseconds
      let number = memo.body.utf8.prefix { $0 != UInt8(ascii: ".") }
      guard let number = Int(Substring(number)), model.memo(number) == memo else {
        Issue.record("\(memo.id) is not as it was written")
        return
      }
    }
    #expect(count == model.liveCount)
    try timeline.close()
    ProofTally.count("T19", "memos", model.versions.count)
  }
}
