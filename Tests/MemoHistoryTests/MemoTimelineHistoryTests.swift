import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// Random histories against the model: every read must agree after every mix of operations.
@Suite struct MemoTimelineHistoryTests {
  /// A timeline, the model of it, and how to open it again.
  private struct Run {
    let files: any FileSystem
    let path: String
    var timeline: MemoTimeline
    var model = TimelineModel()
    var generator: SeededGenerator

    init(_ files: any FileSystem, _ path: String, seed: UInt64) throws {
      self.files = files
      self.path = path
      timeline = try Self.open(files, path)
      generator = SeededGenerator(seed: seed)
    }

    /// Small bounds, so that flushes and blocks end often.
    static func open(_ files: any FileSystem, _ path: String) throws -> MemoTimeline {
      var options = DatabaseOptions()
      options.logByteCount = 4 << 10
      options.blockByteCount = 256
      options.zeroStepByteCount = 512
      return try MemoTimeline(at: path, in: files, options: options)
    }

    /// Few ids and fewer instants, so that ids meet again and instants are equal.
    mutating func randomMemo() throws -> Memo {
      let id = Int64.random(in: 0..<60, using: &generator)
      let body = String(repeating: "x", count: Int.random(in: 0..<40, using: &generator))
      var memo = try memo(id, at: Int64.random(in: -3..<3, using: &generator), body: body)
      if generator.coin(), generator.coin() {
        memo.changedAt = MemoTimestamp(microseconds: Int64.random(in: 0..<3, using: &generator))
      }
      return memo
    }

    mutating func step() throws {
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<35:
        let memo = try randomMemo()
        if model.insert(memo) {
          try timeline.insert(memo)
        } else {
          #expect(throws: MemoError.duplicateID) { try timeline.insert(memo) }
        }
      case 35..<60:
        let memo = try randomMemo()
        let durability = generator.coin() ? Durability.full : .lazy
        #expect(try timeline.upsert(memo, durability: durability) == model.upsert(memo))
      case 60..<78:
        let id = MemoID(Int64.random(in: 0..<60, using: &generator))
        #expect(try timeline.delete(id) == model.delete(id))
      case 78..<88:
        let memos = try (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
          try randomMemo()
        }
        var counts = ImportCounts()
        for memo in memos { model.take(memo, counts: &counts) }
        #expect(try timeline.importBatch(memos) == counts)
      case 88..<94: try timeline.flush()
      default:
        if generator.coin() { try timeline.close() }
        try reopen()
      }
    }

    /// Opens again; without `close` before, the old handle is just let go.
    mutating func reopen() throws {
      timeline = MemoTimeline.inMemory()
      timeline = try Self.open(files, path)
    }

    mutating func check(_ comment: Comment) throws {
      let memos = model.memos
      #expect(try timeline.count() == memos.count, comment)
      #expect(try timeline.allMemos() == memos, comment)
      let size = Int.random(in: 1..<9, using: &generator)
      #expect(try timeline.allMemos(pageSize: size) == memos, comment)
      #expect(try timeline.latest(size) == Array(memos.prefix(size)), comment)
      #expect(try timeline.oldest() == memos.last, comment)
      for id in (0..<60).map({ MemoID($0) }) {
        #expect(try timeline.memo(for: id) == model.memo(for: id), comment)
      }
    }
  }

  private func play(_ run: inout Run, steps: Int, seed: UInt64) throws {
    for step in 0..<steps {
      try run.step()
      if step % 25 == 24 { try run.check("seed \(seed), step \(step)") }
    }
    let report = try run.timeline.verify()
    #expect(report.isSound, "seed \(seed): \(report.damage)")
    try run.reopen()
    try run.check("seed \(seed), at the end")
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func everyReadAgreesWithTheModel(seed: UInt64) throws {
    let files = MemoryFileSystem()
    try files.makeDirectory("/folder")
    var run = try Run(files, "/folder/store", seed: seed)
    try play(&run, steps: 400, seed: seed)
  }

  @Test(arguments: 101...102 as ClosedRange<UInt64>)
  func everyReadAgreesWithTheModelOnARealVolume(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    var run = try Run(PosixFileSystem.shared, directory.path("store"), seed: seed)
    try play(&run, steps: 200, seed: seed)
  }
}
