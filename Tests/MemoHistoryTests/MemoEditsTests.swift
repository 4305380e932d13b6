import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// Commits of many changes against the model, which does the same one by one.
@Suite struct MemoEditsTests {
  /// A random change, the same of memos that are collected and of the model.
  private func change(
    _ edits: MemoEdits, _ model: inout TimelineModel,
    _ generator: inout SeededGenerator
  ) throws {
    let id = MemoID(Int64.random(in: 0..<20, using: &generator))
    let changed = try memo(
      id, at: Int64.random(in: 0..<4, using: &generator),
      body: "\(Int.random(in: 0..<1000, using: &generator))")
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<3:
      if model.insert(changed) {
        try edits.insert(changed)
      } else {
        #expect(throws: MemoError.duplicateID) { try edits.insert(changed) }
      }
    case 3..<6:
      #expect(try edits.memo(for: id) == model.upsert(changed))
      try edits.put(changed)
    case 6..<8:
      #expect(try edits.delete(id) == model.delete(id))
    default:
      #expect(try edits.memo(for: id) == model.memo(for: id))
    }
  }

  /// What is collected reads like the model in the middle of a commit, and after it.
  @Test(arguments: 0..<UInt64(Thoroughness.count(quick: 8, push: 60, nightly: 2_000)))
  func aCommitOfManyChangesIsThoseChangesOneByOne(number: UInt64) throws {
    let seed = Thoroughness.seedBase &+ number
    var generator = SeededGenerator(seed: seed)
    let timeline = MemoTimeline.inMemory()
    var model = TimelineModel()
    for commit in 0..<30 {
      let before = model
      let isDiscarded = commit % 7 == 6
      try timeline.write { edits throws(MemoError) in
        let decisions = edits.decisions
        let problem = Result {
          for _ in 0..<Int.random(in: 1..<12, using: &generator) {
            try change(edits, &model, &generator)
          }
          let count = Int.random(in: 0..<25, using: &generator)
          #expect(
            try edits.page(count: count).memos == Array(model.memos.prefix(count)),
            "seed \(seed), commit \(commit)")
          #expect(edits.memoCount == model.count, "seed \(seed), commit \(commit)")
          #expect(
            try edits.memoCount(sinceMicroseconds: 2_000_000)
              == model.memos.count { $0.createdAt.microseconds >= 2_000_000 },
            "seed \(seed), commit \(commit)")
        }
        if case .failure(let error) = problem { Issue.record("seed \(seed): \(error)") }
        if isDiscarded { edits.decisions = decisions }
      }
      if isDiscarded { model = before }
      #expect(try timeline.latest(30) == model.memos, "seed \(seed), commit \(commit)")
    }
    #expect(try timeline.verify().isSound, "seed \(seed)")
  }

  /// Every page of what is collected on top of what is stored, from every position.
  @Test func pagesGoOnWhereTheyEnded() throws {
    let timeline = MemoTimeline.inMemory()
    for id in 0..<12 { try timeline.insert(try memo(Int64(id), at: Int64(id % 3))) }
    try timeline.write { edits throws(MemoError) in
      for id in [2, 5, 7] as [Int64] { try edits.delete(MemoID(id)) }
      let added = try? (20..<25).map { try memo($0, at: $0 % 4) }
      for memo in added ?? [] { try edits.put(memo) }
      let all = try edits.page(count: 100)
      #expect(all.memos.count == 14 && all.next == nil)
      for size in 1...15 {
        var paged: [Memo] = []
        var position: MemoKey?
        repeat {
          let page = try edits.page(after: position, count: size)
          paged += page.memos
          position = page.next
        } while position != nil
        #expect(paged == all.memos, "pages of \(size)")
      }
    }
  }
}
