import Dispatch
import MemoHistory

/// What a list on the screen costs beside the engine: delivery, an app's own type, changes.
///
/// Nothing of it has a peer here; the goals are absolute, or a ratio to the plain memo or to the
/// small store of the same run.
enum LiveLists: Workload {
  static let name = "live"
  static let summary = "lists that follow: delivery, the newest 200 of an app's type, changes"

  /// An app's own memo, as in the README.
  private struct Note: MemoEntity {
    var id: Int64
    var createdAt: MemoTimestamp
    var text: String
    var tags: [String] = []
    var isSent = false
    static let schema = MemoSchema<Note>(
      defaults: Note(id: 0, createdAt: MemoTimestamp.now, text: ""))
  }

  static func rows(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    [try delivery(bench), try entities(bench)] + (try changes(bench))
  }

  private static func note(_ number: Int, _ bench: Bench) throws -> Note {
    let memo = bench.corpus.memo(number)
    guard let time = MemoTimestamp(microseconds: memo.microseconds) else {
      throw BenchmarkError("a time out of range")
    }
    return Note(
      id: Int64(number), createdAt: time, text: String(decoding: memo.body, as: UTF8.self),
      tags: ["a", "b"])
  }

  /// From the end of an insertion to the list that shows it, without a delay.
  private static func delivery(_ bench: Bench) throws(BenchmarkError) -> Row {
    let notes = try measured { try (0..<1_000).map { try note($0, bench) } }
    let count = bench.samples(800)
    let store = MemoStore<Note>.inMemory(
      reflection: ReflectionPolicy(afterInsert: .zero, afterOther: .zero, maximumDelay: .zero))
    nonisolated(unsafe) var samples = Samples(capacity: count)
    try MemoHistoryStore.wait {
      try await store.insert(contentsOf: Array(notes.prefix(200)))
      var lists = store.snapshots().makeAsyncIterator()
      _ = await lists.next()
      for note in notes[200..<200 + count] {
        try await store.insert(note)
        let start = now()
        guard await lists.next()?.items.first == note else {
          throw BenchmarkError("the list does not show what was inserted")
        }
        samples.add(now() - start)
      }
    }
    return Row(
      name: "live delivery", summary: "from an insertion's end to the list of 200 that shows it",
      subject: "memohistory", goals: [.atMost(100_000)], cells: [Cell("memohistory", samples)])
  }

  /// The newest 200 as an app's type beside the same as plain memos.
  private static func entities(_ bench: Bench) throws(BenchmarkError) -> Row {
    let notes = try measured { try (0..<1_000).map { try note($0, bench) } }
    let folder = bench.folder + "/live"
    try Files.makeFolder(folder)
    try MemoHistoryStore.wait {
      let store = try MemoStore<Note>(at: folder + "/store")
      try await store.insert(contentsOf: notes)
      try await store.close()
    }
    let store = try measured { try MemoStore<Note>(at: folder + "/store") }
    let memos = try measured { try MemoStore<Memo>(at: folder + "/store") }
    var (own, plain) = (Samples(), Samples())
    for _ in 0..<bench.samples(2_000) {
      let found = try own.time { () throws(BenchmarkError) in
        try measured { try store.latest(200) }
      }
      try check(found.count == 200 && found.first?.tags == ["a", "b"], "notes")
      let all = try plain.time { () throws(BenchmarkError) in
        try measured { try memos.latest(200) }
      }
      try check(all.count == 200, "memos")
    }
    try MemoHistoryStore.wait {
      try await store.close()
      try await memos.close()
    }
    try Files.remove(folder)
    return Row(
      name: "live latest", summary: "the newest 200 as a Codable struct of five fields",
      subject: "memohistory", cells: [Cell("memohistory", own), Cell("plain memos", plain)])
  }

  /// Updates and deletions of random memos in a small and in a large store.
  private static func changes(_ bench: Bench) throws(BenchmarkError) -> [Row] {
    let sizes = [1_000, min(bench.options.count, 1_000_000)]
    let count = bench.samples(400)
    var rows = [("live update", "update of a random memo"), ("live delete", "and its deletion")]
      .map {
        Row(name: $0, summary: $1, subject: "large", goals: [.times(1.5, of: "small")])
      }
    for (size, name) in zip(sizes, ["small", "large"]) {
      let folder = try bench.copy(MemoHistoryEngine(), size, named: "live")
      var random = Mixer(seed: 29)
      let numbers = Array((0..<size).shuffled(using: &random).prefix(count))
      nonisolated(unsafe) var (updates, deletions) = (Samples(), Samples())
      let ids = try measured { try numbers.map { try MemoHistoryStore.identifier(Identity($0)) } }
      try MemoHistoryStore.wait {
        let store = try MemoStore(at: folder + "/store")
        for id in ids {
          var start = now()
          try await store.update(id) { $0.body += "." }
          updates.add(now() - start)
          start = now()
          guard try await store.delete(id) != nil else { throw BenchmarkError("no memo") }
          deletions.add(now() - start)
        }
        try await store.close()
      }
      rows[0].cells.append(Cell(name, updates))
      rows[1].cells.append(Cell(name, deletions))
      try Files.remove(folder)
    }
    return rows
  }
}
