import KVEngine
import KVTestSupport
import MemoCore
import Testing

/// Memos and ids out of step: planted through the engine, found by `verify`.
@Suite struct MemoTimelineVerificationTests {
  private func timeline() throws -> MemoTimeline {
    let timeline = MemoTimeline.inMemory()
    _ = try timeline.importBatch(try (0..<50).map { try memo($0, at: $0) })
    try timeline.flush()
    _ = try timeline.importBatch(try (50..<100).map { try memo($0, at: $0) })
    #expect(try timeline.verify().isSound)
    return timeline
  }

  /// Plants something and returns what `verify` says of it.
  private func reasons(
    in timeline: MemoTimeline, _ plant: (inout WriteBatch) throws -> Void
  ) throws -> [String] {
    var batch = WriteBatch()
    try plant(&batch)
    try timeline.database.write(batch)
    let report = try timeline.verify()
    #expect(!report.isSound)
    for corruption in report.damage { #expect(!"\(corruption)".contains("memo 3")) }
    return report.damage.map(\.reason)
  }

  private func idKey(_ id: Int64, in timeline: MemoTimeline) throws -> IDKey {
    let key = try #require(try timeline.key(of: MemoID(id)))
    return IDKey(hash: MemoID(id).hash64, memoKey: key)
  }

  @Test(arguments: [3, 77] as [Int64])
  func aMissingIDIsFound(id: Int64) throws {
    let timeline = try timeline()
    let key = try idKey(id, in: timeline).encode()
    let reasons = try reasons(in: timeline) { $0.delete(key, in: MemoSpace.ids) }
    #expect(reasons == ["is not where its id says, in 1 cases", "there are 100 for 99 ids"])
    #expect(try timeline.memo(for: MemoID(id)) == nil)
  }

  @Test(arguments: [3, 77] as [Int64])
  func aMissingMemoIsFound(id: Int64) throws {
    let timeline = try timeline()
    let key = try idKey(id, in: timeline).memoKey.encode()
    let reasons = try reasons(in: timeline) { $0.delete(key, in: MemoSpace.memos) }
    #expect(reasons == ["there are 99, not 100 as is kept", "there are 99 for 100 ids"])
    #expect(throws: MemoError.self) { try timeline.memo(for: MemoID(id)) }
    #expect(throws: MemoError.self) { try timeline.upsert(try memo(id)) }
  }

  @Test func aMemoWithoutIDIsFound() throws {
    let timeline = try timeline()
    let extra = try memo(1000, at: 5)
    let key = MemoKey(microseconds: extra.createdAt.microseconds, arrival: 1).encode()
    let reasons = try reasons(in: timeline) {
      $0.put(MemoRecord.encode(extra), forKey: key, in: MemoSpace.memos)
    }
    #expect(
      reasons == [
        "is not where its id says, in 1 cases", "there are 101, not 100 as is kept",
        "there are 101 for 100 ids",
      ])
  }

  @Test func twoMemosWithOneIDAreFound() throws {
    let timeline = try timeline()
    let key = MemoKey(microseconds: 0, arrival: 1).encode()
    let reasons = try reasons(in: timeline) {
      $0.put(MemoRecord.encode(try memo(3)), forKey: key, in: MemoSpace.memos)
    }
    #expect(reasons.first == "is not where its id says, in 1 cases")
  }

  @Test func everyRecordThatDoesNotDecodeIsFound() throws {
    let timeline = try timeline()
    let keys = try [3, 30, 77].map { try idKey($0, in: timeline).memoKey.encode() }
    let reasons = try reasons(in: timeline) { batch in
      for key in keys { batch.put([9, 9], forKey: key, in: MemoSpace.memos) }
    }
    #expect(reasons == Array(repeating: "has version 9; a newer program can read it", count: 3))
    #expect(try timeline.memo(for: MemoID(4)) == (try memo(4, at: 4)))
  }

  @Test func anIDKeyThatDoesNotDecodeIsFound() throws {
    let timeline = try timeline()
    let key = IDKey.prefix(hash: MemoID(3).hash64) + [1]
    let reasons = try reasons(in: timeline) { $0.put([], forKey: key, in: MemoSpace.ids) }
    #expect(reasons == ["has 9 bytes", "there are 100 for 101 ids"])
  }

  // MARK: - Ids with one hash

  @Test func anEntryUnderTheSameHashIsNoHit() throws {
    let timeline = try timeline()
    let key = try #require(try timeline.key(of: MemoID(3)))
    let wanted = MemoID(2000)
    try timeline.database.write { batch throws(DatabaseError) in
      let planted = IDKey(hash: wanted.hash64, memoKey: key)
      batch.put([], forKey: planted.encode(), in: MemoSpace.ids)
    }
    #expect(try timeline.memo(for: wanted) == nil)
    #expect(try timeline.delete(wanted) == nil)
    try timeline.insert(try memo(wanted, at: 1, body: "mine"))
    #expect(try timeline.memo(for: wanted)?.body == "mine")
    #expect(try timeline.memo(for: MemoID(3)) == (try memo(3, at: 3)))
    #expect(try timeline.delete(wanted)?.body == "mine")
    #expect(try timeline.memo(for: MemoID(3)) == (try memo(3, at: 3)))
  }

  @Test(arguments: [false, true])
  func twoIDsWithOneHashLiveBesideEachOther(flushes: Bool) throws {
    let (first, second) = try collidingIDs()
    try #require(first != second && first.hash64 == second.hash64)
    let timeline = MemoTimeline.inMemory()
    try timeline.insert(try memo(first, at: 2, body: "first"))
    if flushes { try timeline.flush() }
    #expect(try timeline.memo(for: second) == nil)
    try timeline.insert(try memo(second, at: 1, body: "second"))
    if flushes { try timeline.flush() }
    #expect(throws: MemoError.duplicateID) { try timeline.insert(try memo(first)) }
    #expect(throws: MemoError.duplicateID) { try timeline.insert(try memo(second)) }
    #expect(try timeline.upsert(try memo(first, at: 0, body: "moved"))?.body == "first")
    #expect(try timeline.memo(for: first)?.body == "moved")
    #expect(try timeline.memo(for: second)?.body == "second")
    #expect(try timeline.count() == 2)
    #expect(try timeline.verify().isSound)
    #expect(try timeline.delete(first)?.body == "moved")
    #expect(try timeline.latest(3).map(\.body) == ["second"])
    #expect(try timeline.verify().isSound)
  }

  /// Two ids of 40 encoded bytes whose first 32 differ and whose last eight make up for it: XXH64
  /// takes these in by a step that can be undone.
  private func collidingIDs() throws -> (MemoID, MemoID) {
    func state(_ stripe: [UInt8]) -> UInt64 {
      // The state behind 32 bytes, before the rest is mixed in: XXH64 by its specification.
      let words = (0..<4).map { lane in
        (0..<8).reduce(0) { $0 | UInt64(stripe[lane * 8 + $1]) << UInt64($1 * 8) }
      }
      let starts = [prime1 &+ prime2, prime2, 0, 0 &- prime1]
      let lanes = zip(starts, words).map { rotated($0 &+ $1 &* prime2, 31) &* prime1 }
      var state = zip(lanes, [1, 7, 12, 18] as [UInt64]).reduce(0) { $0 &+ rotated($1.0, $1.1) }
      for lane in lanes {
        state = (state ^ (rotated(lane &* prime2, 31) &* prime1)) &* prime1 &+ prime4
      }
      return state &+ 40
    }
    let kind = MemoID.Kind.bytes.rawValue
    let stripes = [UInt8(1), 2].map { [kind] + [UInt8](repeating: $0, count: 31) }
    // state ^ round(word) has to be the same for both; for the first the word is 0 and so its
    // round.
    let wanted = state(stripes[0]) ^ state(stripes[1])
    let word = rotated(wanted &* inverse(prime1), 33) &* inverse(prime2)
    let tail = (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
    return (
      try MemoID(bytes: Array(stripes[0].dropFirst()) + [UInt8](repeating: 0, count: 8)),
      try MemoID(bytes: Array(stripes[1].dropFirst()) + tail)
    )
  }

  private let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63

  private func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value << count | value >> (64 - count)
  }

  /// The odd number that gives 1 when multiplied: each step of Newton's doubles the right bits.
  private func inverse(_ odd: UInt64) -> UInt64 {
    (0..<6).reduce(odd) { inverse, _ in inverse &* (2 &- odd &* inverse) }
  }
}
