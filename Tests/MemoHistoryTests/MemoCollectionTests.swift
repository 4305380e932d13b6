import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// Values beside the memos: found by id, in the same commits, and of interest to nobody else.
@Suite struct MemoCollectionTests {
  private let store = MemoStore<Memo>.inMemory()
  private var drafts: MemoCollection<Draft> { store.collection("drafts", of: Draft.self) }

  @Test func aValueIsStoredReplacedAndDeleted() async throws {
    #expect(try drafts.value(for: "a") == nil)
    try await drafts.upsert(Draft(id: "a", text: "milk"))
    #expect(try drafts.value(for: "a")?.text == "milk")
    try await drafts.upsert(contentsOf: [Draft(id: "a", text: "tea"), Draft(id: "b", text: "")])
    #expect(try await drafts.values() == [Draft(id: "a", text: "tea"), Draft(id: "b", text: "")])
    #expect(try await drafts.delete("a"))
    #expect(try await !drafts.delete("a"))
    #expect(try await drafts.count() == 1)
    #expect(try store.count() == 0)
    #expect(try store.timeline.verify().isSound)
  }

  @Test func whatIsStoredAlreadyIsNotWritten() async throws {
    let draft = Draft(id: "a", text: "milk", marks: ["x": 1])
    try await drafts.upsert(draft)
    let sequence = try store.timeline.database.snapshot().sequence
    try await drafts.upsert(draft)
    try await drafts.delete("b")
    #expect(try store.timeline.database.snapshot().sequence == sequence)
  }

  @Test func anUpdateStartsWithADefault() async throws {
    for _ in 0..<2 {
      try await drafts.update("a", default: Draft(id: "a", text: "")) { $0.text += "x" }
    }
    #expect(try drafts.value(for: "a")?.text == "xx")
    await #expect(throws: MemoError.changedID) {
      try await drafts.update("a", default: Draft(id: "a", text: "")) { $0.id = "b" }
    }
  }

  @Test func updatesAtTheSameTimeAreAllMade() async throws {
    let drafts = drafts
    await withTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          _ = try? await drafts.update("a", default: Draft(id: "a", text: "")) { $0.text += "x" }
        }
      }
    }
    #expect(try drafts.value(for: "a")?.text.count == 20)
  }

  /// No collection sees a value of another one whose name begins with its own.
  @Test func namesThatBeginWithOthersAreApart() async throws {
    let names =
      ["a", "ab", "abc", "b", "a\u{0}", "\u{E9}", "e\u{301}", String(repeating: "a", count: 255)]
    for (number, name) in names.enumerated() {
      let numbers = store.collection(name, of: Numbered.self)
      try await numbers.upsert(contentsOf: (0...number).map { Numbered(id: $0, value: number) })
    }
    for (number, name) in names.enumerated() {
      let numbers = store.collection(name, of: Numbered.self)
      #expect(try await numbers.count() == number + 1, "\(number)")
      #expect(try await numbers.values().allSatisfy { $0.value == number }, "\(number)")
      #expect(try numbers.value(for: 0)?.value == number)
    }
    for name in ["", String(repeating: "a", count: 256)] {
      let numbers = store.collection(name, of: Numbered.self)
      await #expect(throws: MemoError.self) { try await numbers.upsert(Numbered(id: 1, value: 1)) }
      #expect(throws: MemoError.self) { try numbers.value(for: 1) }
      await #expect(throws: MemoError.self) { try await numbers.count() }
    }
  }

  @Test func anIDThatIsTooLongIsRefused() async throws {
    let longest = String(repeating: "x", count: 65_535 - 1 - "drafts".utf8.count - 1)
    try await drafts.upsert(Draft(id: longest, text: "milk"))
    #expect(try drafts.value(for: longest)?.text == "milk")
    await #expect(throws: MemoError.invalidID(reason: "is too long for the collection")) {
      try await drafts.upsert(Draft(id: longest + "x", text: "milk"))
    }
  }

  // MARK: - With memos

  @Test func aDraftGoesWithTheCommitThatMakesItsMemo() async throws {
    let drafts = drafts
    try await drafts.upsert(Draft(id: "a", text: "milk"))
    let sequence = try store.timeline.database.snapshot().sequence
    try await store.perform { memos in
      let draft = try #require(try memos.value(for: "a", in: drafts))
      try memos.insert(Memo(id: MemoID(1), body: draft.text))
      #expect(try memos.delete("a", in: drafts))
      #expect(try memos.value(for: "a", in: drafts) == nil)
      try memos.upsert(Draft(id: "b", text: "tea"), in: drafts)
      #expect(try memos.value(for: "b", in: drafts)?.text == "tea")
    }
    #expect(try store.memo(for: MemoID(1))?.body == "milk")
    #expect(try await drafts.values().map(\.id) == ["b"])
    // A memo and its id, a draft less and one more: one commit.
    #expect(try store.timeline.database.snapshot().sequence == sequence + 4)
    let seen = try await store.read { memos in try memos.value(for: "b", in: drafts) }
    #expect(seen?.text == "tea")
  }

  @Test func aFailureTakesValuesBackAsWell() async throws {
    let drafts = drafts
    await #expect(throws: MemoError.missingID) {
      try await store.perform { memos in
        try memos.upsert(Draft(id: "a", text: "milk"), in: drafts)
        try memos.update(MemoID(9)) { $0.body = "" }
      }
    }
    try await store.perform { memos in
      try memos.upsert(Draft(id: "b", text: "1"), in: drafts)
      #expect(throws: MemoError.missingID) {
        try memos.perform { memos in
          try memos.upsert(Draft(id: "b", text: "2"), in: drafts)
          throw MemoError.missingID
        }
      }
    }
    #expect(try await drafts.values() == [Draft(id: "b", text: "1")])
  }

  /// What others write meanwhile to a value that was looked up is never overwritten unseen.
  @Test func aTransactionBeginsAgainWhenItsValueHasChanged() async throws {
    let drafts = drafts
    try await drafts.upsert(Draft(id: "a", text: "1"))
    let calls = SharedLock(0)
    try await store.perform { memos in
      let call = calls.withLock { count in
        count += 1
        return count
      }
      var draft = try #require(try memos.value(for: "a", in: drafts))
      if call == 1 {
        try store.writeNow { memos throws(MemoError) in
          try memos.upsert(Draft(id: "a", text: "2"), in: drafts)
        }
      }
      draft.text += "x"
      try memos.upsert(draft, in: drafts)
    }
    #expect(calls.withLock { $0 } == 2)
    #expect(try drafts.value(for: "a")?.text == "2x")
  }

  // MARK: - Who is told

  @Test @MainActor func aCommitOfValuesWakesNoHistory() async throws {
    let board = store.board
    let before = board.commitCount
    try await drafts.upsert(Draft(id: "a", text: "milk"))
    try await drafts.delete("a")
    #expect(board.commitCount == before)
    let drafts = drafts
    try await store.perform { memos in
      try memos.upsert(Draft(id: "b", text: "milk"), in: drafts)
      try memos.insert(Memo(id: MemoID(1), body: "milk"))
    }
    #expect(board.commitCount == before + 1)
  }

  @Test func onlyChangesOfACollectionAreTold() async throws {
    let board = store.board.collections
    let counts = SharedLock([0, 0])
    for (place, name) in ["a", "ab"].enumerated() {
      _ = board.watch(prefix: try CollectionRecord.prefix(of: name)) {
        counts.withLock { $0[place] += 1 }
      }
    }
    let (first, second) = (
      store.collection("a", of: Draft.self), store.collection("ab", of: Draft.self)
    )
    try await first.upsert(contentsOf: [Draft(id: "b", text: ""), Draft(id: "c", text: "")])
    #expect(counts.withLock { $0.map { $0 } } == [1, 0])
    try await second.upsert(Draft(id: "x", text: ""))
    #expect(counts.withLock { $0.map { $0 } } == [1, 1])
    try await first.upsert(Draft(id: "b", text: ""))
    try await first.delete("x")
    try await store.insert(Memo(id: MemoID(1), body: "milk"))
    #expect(counts.withLock { $0.map { $0 } } == [1, 1])
  }

  @Test func changesAreASequence() async throws {
    let drafts = drafts
    let seen = Task {
      var counts: [Int] = []
      for await _ in drafts.changes {
        counts.append(try await drafts.count())
        if counts.last == 2 { break }
        try await drafts.upsert(Draft(id: "\(counts.count)", text: ""))
      }
      return counts
    }
    #expect(try await seen.value == [0, 1, 2])
    let forever = Task {
      var count = 0
      for await _ in drafts.changes { count += 1 }
      return count
    }
    forever.cancel()
    #expect(await forever.value <= 1)
  }

  // MARK: - Observing

  @MainActor private final class Screen {
    var lists: [[String]] = []
    private var waiting: (count: Int, next: CheckedContinuation<Void, Never>)?

    func show(_ drafts: [Draft]) {
      lists.append(drafts.map(\.id).sorted())
      guard let waiting, lists.count >= waiting.count else { return }
      self.waiting = nil
      waiting.next.resume()
    }

    /// Waits until so many lists were shown.
    func lists(_ count: Int) async {
      if lists.count >= count { return }
      await withCheckedContinuation { next in waiting = (count, next) }
    }
  }

  @Test @MainActor func anOwnerIsShownTheValuesAndEveryChange() async throws {
    try await drafts.upsert(Draft(id: "a", text: ""))
    let screen = Screen()
    drafts.observe(by: screen) { screen, drafts in screen.show(drafts) }
    await screen.lists(1)
    #expect(screen.lists == [["a"]])
    try await drafts.upsert(contentsOf: [Draft(id: "b", text: ""), Draft(id: "c", text: "")])
    await screen.lists(2)
    #expect(screen.lists.last == ["a", "b", "c"])
    #expect(screen.lists.count == 2)
  }

  /// While the main actor is busy, however many changes are shown as one list.
  @Test @MainActor func changesThatNobodyCouldShowAreShownAsOne() async throws {
    let screen = Screen()
    drafts.observe(by: screen) { screen, drafts in screen.show(drafts) }
    await screen.lists(1)
    let drafts = drafts
    let store = store
    // On the main actor, which shows nothing meanwhile.
    for id in ["a", "b", "c", "d", "e"] {
      try store.writeNow { memos throws(MemoError) in
        try memos.upsert(Draft(id: id, text: ""), in: drafts)
      }
    }
    await screen.lists(2)
    while screen.lists.last?.count != 5 { await screen.lists(screen.lists.count + 1) }
    #expect(screen.lists.count <= 3)
  }

  @Test @MainActor func anObservationKeepsNeitherOwnerNorStore() async throws {
    var store: MemoStore<Memo>? = .inMemory()
    weak let weakStore = store
    weak var weakScreen: Screen?
    do {
      let screen = Screen()
      weakScreen = screen
      store?.collection("drafts", of: Draft.self).observe(by: screen) { $0.show($1) }
      await screen.lists(1)
    }
    #expect(weakScreen == nil)
    store = nil
    for _ in 0..<1000 where weakStore != nil { await Task.yield() }
    #expect(weakStore == nil)
  }
}

struct Draft: Codable, Sendable, Hashable, Identifiable {
  var id: String
  var text: String
  var marks: [String: Int] = [:]
}

struct Numbered: Codable, Sendable, Hashable, Identifiable {
  var id: Int
  var value: Int
}
