import KVEngine
import KVTestSupport
import MemoCore

/// What a timeline should hold, told by the simplest means: a list that is sorted when it is read.
struct TimelineModel {
  private var entries: [(memo: Memo, arrival: Int)] = []
  private var nextArrival = 0

  var count: Int { entries.count }

  /// Newest first; of equal instants the later arrival first.
  var memos: [Memo] {
    entries.sorted { left, right in
      let times = (left.memo.createdAt.microseconds, right.memo.createdAt.microseconds)
      return times.0 == times.1 ? left.arrival > right.arrival : times.0 > times.1
    }.map(\.memo)
  }

  func memo(for id: MemoID) -> Memo? { entries.first { $0.memo.id == id }?.memo }

  /// Returns whether the memo was taken.
  mutating func insert(_ memo: Memo) -> Bool {
    guard self.memo(for: memo.id) == nil else { return false }
    append(memo)
    return true
  }

  mutating func upsert(_ memo: Memo) -> Memo? {
    guard let place = entries.firstIndex(where: { $0.memo.id == memo.id }) else {
      append(memo)
      return nil
    }
    let old = entries[place].memo
    if old.createdAt.microseconds == memo.createdAt.microseconds {
      entries[place].memo = memo
    } else {
      entries.remove(at: place)
      append(memo)
    }
    return old
  }

  mutating func delete(_ id: MemoID) -> Memo? {
    guard let place = entries.firstIndex(where: { $0.memo.id == id }) else { return nil }
    return entries.remove(at: place).memo
  }

  /// One memo of an import: the version with the larger (createdAt, changedAt, body) stays.
  mutating func take(_ memo: Memo, counts: inout ImportCounts) {
    guard let known = self.memo(for: memo.id) else {
      counts.inserted += 1
      append(memo)
      return
    }
    if known == memo {
      counts.unchanged += 1
    } else if Self.rank(memo).lexicographicallyPrecedes(Self.rank(known)) {
      counts.outdated += 1
    } else {
      counts.replaced += 1
      _ = upsert(memo)
    }
  }

  private static func rank(_ memo: Memo) -> [Int64] {
    func rank(_ time: MemoTimestamp) -> [Int64] { [time.microseconds, Int64(time.offsetSeconds)] }
    let change = memo.changedAt.map { [1] + rank($0) } ?? [0, 0, 0]
    return rank(memo.createdAt) + change + memo.body.utf8.map { Int64($0) }
  }

  private mutating func append(_ memo: Memo) {
    entries.append((memo, nextArrival))
    nextArrival += 1
  }
}

/// A memo with a number as its id, some seconds after 1970.
func memo(_ id: Int64, at second: Int64 = 0, body: String? = nil) throws -> Memo {
  try memo(MemoID(id), at: second, body: body ?? "memo \(id)")
}

/// A memo some seconds after 1970.
func memo(_ id: MemoID, at second: Int64 = 0, body: String = "") throws -> Memo {
  guard let time = MemoTimestamp(microseconds: second * 1_000_000) else { throw OutOfRange() }
  return Memo(id: id, createdAt: time, body: body)
}

private struct OutOfRange: Error {}

extension MemoTimeline {
  /// All memos, by the cursor.
  func allMemos() throws -> [Memo] {
    var cursor = try cursor()
    var memos: [Memo] = []
    while let (_, memo) = try cursor.next() { memos.append(memo) }
    return memos
  }

  /// All memos, by pages of a size.
  func allMemos(pageSize: Int) throws -> [Memo] {
    var memos: [Memo] = []
    var position: MemoKey?
    repeat {
      let page = try page(after: position, count: pageSize)
      memos += page.memos
      position = page.next
    } while position != nil
    return memos
  }

  /// Where a memo is.
  func key(of id: MemoID) throws -> MemoKey? {
    var cursor = try cursor()
    while let (key, memo) = try cursor.next() { if memo.id == id { return key } }
    return nil
  }
}
