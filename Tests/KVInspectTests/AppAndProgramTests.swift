import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import Testing

/// An app and another program on one folder, each a process of its own, in turns.
@MainActor @Suite struct AppAndProgramTests {
  private final class Screen {
    var snapshots: [HistorySnapshot<Memo>] = []
  }

  private let folder: TestStore
  private let store: MemoStore<Memo>

  init() throws {
    folder = try TestStore()
    store = try MemoStore(
      at: folder.path,
      reflection: ReflectionPolicy(afterInsert: .zero, afterOther: .zero, maximumDelay: .zero))
  }

  /// A file with one memo, and what importing it prints.
  private func importing(_ id: Int) throws -> Executable.Result {
    let row = #"{"id":\#(id),"createdAt":"2024-05-01T12:00:\#(id)Z","body":"from outside"}"#
    return try Executable.run("import", folder.path, try folder.file("\(id).jsonl", row + "\n"))
  }

  @Test func turnsLoseNothingAndListsAndFollowersSeeAll() async throws {
    let screen = Screen()
    store.observe(by: screen) { $0.snapshots.append($1) }
    let token = try await store.changes(since: nil).token
    for round in 10..<16 {
      try await store.insert(Memo(id: MemoID(Int64(round)), body: "from the app"))
      try await store.suspend()
      #expect(try importing(round + 10).outputText == "1 new\n")
      try await store.resume()
      #expect(try store.memo(for: MemoID(Int64(round + 10)))?.body == "from outside")
    }
    let ids = Set((10..<16).flatMap { [MemoID(Int64($0)), MemoID(Int64($0 + 10))] })
    while screen.snapshots.last?.items.count != ids.count {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(Set(screen.snapshots.last?.ids ?? []) == ids)
    let changes = try await store.changes(since: token).changes
    #expect(changes.map(\.id) == (10..<16).flatMap { [MemoID($0), MemoID($0 + 10)] })
    #expect(try Executable.run("verify", folder.path).status == 0)
    try await store.close()
    #expect(try Executable.run("verify", folder.path).status == 0)
  }

  /// A writer that is not suspended is not interrupted, and reading is free.
  ///
  /// The other program says so and has changed nothing, or has found a moment between two writes.
  @Test func aProgramDoesNotInterruptAnApp() async throws {
    try await store.insert(Memo(id: MemoID(1), body: "milk"))
    let writer = Task.detached { [store] () async throws in
      var number: Int64 = 100
      while !Task.isCancelled {
        try await store.insert(Memo(id: MemoID(number), body: "more"))
        number += 1
      }
    }
    let run = try importing(20)
    #expect(run.status == 0 || run.status == 3)
    #expect(try store.memo(for: MemoID(20)) == nil || run.status == 0)
    #expect(try Executable.run("latest", folder.path).status == 0)
    writer.cancel()
    try await writer.value
    try await store.suspend()
    #expect(try Executable.run("verify", folder.path).status == 0)
    #expect(try importing(21).status == 0)
    try await store.resume()
    #expect(try store.memo(for: MemoID(21)) != nil)
    try await store.close()
  }
}
