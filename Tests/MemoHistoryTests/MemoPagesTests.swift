import KVEngine
import KVTestSupport
import MemoCore
import MemoHistoryTesting
import Testing

@testable import MemoHistory

/// All memos of one moment, page by page.
@Suite struct MemoPagesTests {
  private func store(_ count: Int64) async throws -> MemoStore<Memo> {
    let store = MemoStore<Memo>.inMemory()
    try await store.insert(contentsOf: try (0..<count).map { try memo($0, at: $0) })
    return store
  }

  @Test(arguments: [(0, 3), (1, 3), (6, 3), (7, 3), (7, 100), (3, 0)] as [(Int64, Int)])
  func pagesAreAllMemosInOrder(count: Int64, pageSize: Int) async throws {
    let store = try await store(count)
    var pages: [[Memo]] = []
    for try await page in store.pages(of: pageSize) { pages.append(page) }
    #expect(pages.flatMap { $0 } == (try store.latest(100)))
    for page in pages.dropLast() { #expect(page.count == max(pageSize, 1)) }
    #expect(pages.allSatisfy { !$0.isEmpty })
  }

  @Test func whatIsWrittenMeanwhileIsNotSeen() async throws {
    let store = try await store(100)
    let before = try store.latest(200)
    let pages = store.pages(of: 7)
    var seen: [Memo] = []
    for try await page in pages {
      seen += page
      let number = Int64(seen.count)
      try await store.insert(try memo(1000 + number, at: 50))
      try await store.update(MemoID(number % 50)) { $0.body = "changed" }
      try await store.delete(MemoID(50 + number % 50))
      if number == 49 { try await store.purge() }
    }
    #expect(seen == before)
    var again: [Memo] = []
    for try await page in pages { again += page }
    #expect(again == (try store.latest(500)), "each iterator has a moment of its own")
  }

  @Test func aCancelledTaskGetsNoEnd() async throws {
    let store = try await store(20)
    let reading = Task {
      var count = 0
      for try await page in store.pages(of: 5) {
        count += page.count
        if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return count
    }
    await #expect(throws: MemoError.cancelled) { try await reading.value }
  }

  @Test func aMemoThatDoesNotFitIsReported() async throws {
    let volume = TestVolume()
    do {
      let store = try volume.open(Sample<Int>.self)
      for id in 1...5 { try await store.insert(Sample(id: id, value: id)) }
      try await store.close()
    }
    let texts = try volume.open(Sample<String>.self)
    try await texts.upsert(Sample(id: 9, value: "milk"))
    var iterator = texts.pages(of: 10).makeAsyncIterator()
    await #expect(throws: MemoError.self) { _ = try await iterator.next() }
    #expect(try await iterator.next() == nil, "nothing follows a failure")
    let count = SharedLock(0)
    var pages: [[Int]] = []
    for try await page in texts.pages(of: 4, unreadable: { _ in count.withLock { $0 += 1 } }) {
      pages.append(page.map(\.id))
    }
    #expect(pages == [[9], []])
    #expect(count.withLock { $0 } == 5)
  }
}
