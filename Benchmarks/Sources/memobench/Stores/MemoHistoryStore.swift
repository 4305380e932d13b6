import Dispatch
import MemoHistory

/// MemoKV's store of memos through its public interface; loaded by `kvinspect import`, because it
/// has no load of its own yet.
struct MemoHistoryEngine: Engine {
  var name: String { "memohistory" }
  var settings: String { "MemoStore of MemoHistory, defaults; loads: kvinspect import" }

  func open(_ folder: String, isLoading: Bool) throws(BenchmarkError) -> any Store {
    try measured { try MemoHistoryStore(MemoStore(at: folder + "/store")) }
  }
}

/// An open store of memos.
final class MemoHistoryStore: Store {
  private let store: MemoStore<Memo>

  init(_ store: MemoStore<Memo>) {
    self.store = store
  }

  static func identifier(_ id: Identity) throws -> MemoID {
    try MemoID(String(decoding: Record.key(of: id), as: UTF8.self))
  }

  private static func memo(_ memo: NewMemo) throws -> Memo {
    guard
      let time = MemoTimestamp(
        microseconds: memo.microseconds, offsetSeconds: memo.zoneSeconds)
    else { throw BenchmarkError("a time out of range") }
    return Memo(
      id: try identifier(memo.id), createdAt: time,
      body: String(decoding: memo.body, as: UTF8.self))
  }

  static func sample(_ memo: Memo) throws(BenchmarkError) -> SampleMemo {
    // The harness gave the store a text of 16 bytes.
    var id = memo.id.description
    let (high, low) = id.withUTF8 { bytes in
      let raw = UnsafeRawBufferPointer(bytes)
      return (
        UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    return SampleMemo(
      id: Identity(high: high, low: low), microseconds: memo.createdAt.microseconds,
      zoneSeconds: memo.createdAt.offsetSeconds, body: memo.body)
  }

  /// Waits for a call that is awaited.
  static func wait(_ body: @escaping @Sendable () async throws -> Void) throws(BenchmarkError) {
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var failure: (any Error)?
    Task {
      do { try await body() } catch { failure = error }
      done.signal()
    }
    done.wait()
    if let failure { throw BenchmarkError("\(failure)") }
  }

  /// Inserts one after the other in a task, as an app does, and takes the time of each.
  func insertAwaiting(_ memos: [NewMemo]) throws(BenchmarkError) -> Samples {
    let values = try measured { try memos.map(Self.memo) }
    nonisolated(unsafe) var samples = Samples(capacity: memos.count)
    try Self.wait { [store] in
      for memo in values {
        let start = now()
        try await store.insert(memo)
        samples.add(now() - start)
      }
    }
    return samples
  }

  func load(_ memos: [NewMemo], isOrdered: Bool) throws(BenchmarkError) {
    throw .unsupported("bulk load")
  }

  func insert(_ memo: NewMemo) throws(BenchmarkError) {
    let value = try measured { try Self.memo(memo) }
    try Self.wait { [store] in try await store.insert(value) }
  }

  func update(_ memos: [NewMemo]) throws(BenchmarkError) {
    guard memos.count == 1 else { throw .unsupported("change of many memos at once") }
    let value = try measured { try Self.memo(memos[0]) }
    try Self.wait { [store] in _ = try await store.upsert(value) }
  }

  func delete(_ ids: [Identity]) throws(BenchmarkError) {
    guard ids.count == 1 else { throw .unsupported("deleting of many memos at once") }
    let id = try measured { try Self.identifier(ids[0]) }
    try Self.wait { [store] in _ = try await store.delete(id) }
  }

  func contains(_ id: Identity) throws(BenchmarkError) -> Bool {
    try measured { try store.memo(for: Self.identifier(id)) != nil }
  }

  func memo(for id: Identity) throws(BenchmarkError) -> SampleMemo? {
    try measured { try store.memo(for: Self.identifier(id)).map(Self.sample) }
  }

  /// The app's own values, which is what is timed.
  func latestMemos(_ count: Int) throws(BenchmarkError) -> [Memo] {
    try measured { try store.latest(count) }
  }

  func latest(_ count: Int) throws(BenchmarkError) -> [SampleMemo] {
    try measured { try store.latest(count).map(Self.sample) }
  }

  func tally(
    _ direction: Direction, notAfter microseconds: Int64?, limit: Int
  ) throws(BenchmarkError) -> Tally {
    throw .unsupported("read that makes no values")
  }

  func settle() throws(BenchmarkError) {
    throw .unsupported("compact()")
  }

  func close() throws(BenchmarkError) {
    try Self.wait { [store] in try await store.close() }
  }
}
