import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Whatever is written in whatever form, the indexes are what a list of all memos says.
@Suite struct MemoIndexModelTests {
  /// What the store should hold.
  private struct Model {
    var errands: [Int: Errand] = [:]

    /// Whether two memos have one number.
    var isViolated: Bool {
      let numbers = errands.values.compactMap(\.number)
      return Set(numbers).count < numbers.count
    }
  }

  /// One run: a store, what it should hold, and what was deleted.
  private struct Run {
    var generator: SeededGenerator
    var model = Model()
    var deletions: [(deletion: MemoDeletion, errand: Errand)] = []
    var violationCount = 0

    mutating func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

    mutating func errand() -> Errand {
      Errand(
        id: random(12),
        createdAt: MemoTimestamp(microseconds: Int64(random(4))) ?? .now,
        text: ["a", "", "\0", "b"][random(4)],
        number: random(3) == 0 ? nil : random(7), priority: random(3) == 0 ? nil : random(3) - 1)
    }

    /// Writes, and what the model should be then; a duplicate key leaves both as they were.
    mutating func write(
      _ store: MemoStore<Errand>, _ expected: Model,
      _ body: (borrowing MemoTransaction<Errand>) throws(MemoError) -> Void
    ) throws {
      var refusal: MemoError?
      do {
        try store.writeNow(nil, body)
        model = expected
      } catch {
        refusal = error
      }
      #expect(expected.isViolated == (refusal != nil))
      guard let refusal else { return }
      guard case .duplicateKey("number", let id) = refusal, let holder = Int(memoID: id) else {
        throw refusal
      }
      #expect(expected.errands[holder]?.number != nil)
      violationCount += 1
    }

    /// What one change of a transaction does to the model.
    mutating func change(_ expected: inout Model) -> Change {
      let errand = errand()
      let isThere = expected.errands[errand.id] != nil
      switch random(4) {
      case 0 where isThere:
        expected.errands[errand.id] = nil
        return .deletion(errand.id)
      case 1 where isThere:
        expected.errands[errand.id]?.number = errand.number
        expected.errands[errand.id]?.priority = errand.priority
        return .update(errand)
      case 2 where !isThere:
        expected.errands[errand.id] = errand
        return .insertion(errand)
      default:
        expected.errands[errand.id] = errand
        return .upsert(errand)
      }
    }

    mutating func step(_ store: MemoStore<Errand>) throws {
      var expected = model
      switch random(10) {
      case 0: try undo(store)
      case 1:
        guard let id = expected.errands.keys.sorted().randomElement(using: &generator) else {
          return
        }
        let errand = try #require(expected.errands[id])
        expected.errands[id] = nil
        var deletion: MemoDeletion?
        try write(store, expected) { errands throws(MemoError) in
          deletion = try errands.delete(id)
        }
        deletions.append((try #require(deletion), errand))
      case 2:
        // An import takes what is newer only.
        let errand = errand()
        guard expected.errands[errand.id] == nil else { return }
        expected.errands[errand.id] = errand
        try write(store, expected) { errands throws(MemoError) in
          let memo = try store.coder.memo(for: errand, over: nil, &errands.edits.names)
          _ = try errands.edits.take(memo)
        }
      default:
        let changes = (0...random(4)).map { _ in change(&expected) }
        try write(store, expected) { errands throws(MemoError) in
          for change in changes { try change.apply(errands) }
        }
      }
    }

    private mutating func undo(_ store: MemoStore<Errand>) throws {
      guard let place = deletions.indices.randomElement(using: &generator) else { return }
      let (deletion, errand) = deletions[place]
      guard model.errands[errand.id] == nil else { return }
      var expected = model
      expected.errands[errand.id] = errand
      try write(store, expected) { errands throws(MemoError) in
        _ = try errands.edits.restore(deletion.key)
      }
      if !expected.isViolated { deletions.remove(at: place) }
    }
  }

  private enum Change {
    case insertion(Errand), upsert(Errand), update(Errand), deletion(Int)

    func apply(_ errands: borrowing MemoTransaction<Errand>) throws(MemoError) {
      switch self {
      case .insertion(let errand): try errands.insert(errand)
      case .upsert(let errand): try errands.upsert(errand)
      case .deletion(let id): _ = try errands.edits.delete(id.memoID)
      case .update(let errand):
        try errands.update(errand.id) {
          $0.number = errand.number
          $0.priority = errand.priority
        }
      }
    }
  }

  private func check(_ store: MemoStore<Errand>, _ model: Model, _ comment: Comment) throws {
    for number in 0..<7 {
      let found = try store.memo(at: [.integer(number)], in: Errand.byNumber)
      #expect(found == model.errands.values.first { $0.number == number }, comment)
    }
    // One key's memos are in the order of the history.
    let history = try store.latest(100)
    #expect(history.count == model.errands.count, comment)
    let expected = history.filter { $0.priority != nil }.enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      if a.priority != b.priority { return (a.priority ?? 0) < (b.priority ?? 0) }
      return a.text == b.text
        ? left.offset < right.offset : a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }.map(\.element)
    #expect(try store.memos(in: Errand.byPriority) == expected, comment)
    let some = try store.memos(
      in: Errand.byPriority, from: [0], through: [0], count: 3, descending: true)
    #expect(some == Array(expected.filter { $0.priority == 0 }.reversed().prefix(3)), comment)
  }

  @Test(arguments: Thoroughness.seeds(3))
  func theIndexesAreWhatTheMemosSay(seed: UInt64) throws {
    let folder = try KVTestSupport.StoreFolder(on: .memory)
    var run = Run(generator: SeededGenerator(seed: seed))
    var options = MemoTimeline.standardOptions
    options.logByteCount = 16 << 10
    func open() throws -> MemoStore<Errand> {
      MemoStore(
        try MemoTimeline(at: folder.path + "/store", in: folder.process(1), options: options),
        trash: .seconds(86_400))
    }
    var store = try open()
    for call in 0..<Thoroughness.count(quick: 800, push: 6000, nightly: 60_000) {
      try run.step(store)
      try check(store, run.model, "seed \(seed), call \(call)")
      if call % 100 == 99 {
        try store.expectIndexesInStep("seed \(seed), call \(call)")
        #expect(try store.timeline.verify().damage == [], "seed \(seed), call \(call)")
        if call % 200 == 199 { try store.timeline.flush() }
        try store.timeline.close()
        store = try open()
      }
    }
    #expect(run.violationCount > 50, "seed \(seed)")
    #expect(try store.timeline.indexTable().states.map(\.phase) == [.ready, .ready])
  }
}
