import KVTestSupport
import MemoCore
import Testing

@Suite struct MemoTests {
  private func memo(_ body: String) throws -> Memo {
    Memo(
      id: try MemoID("a"), createdAt: try MemoTimestamp(iso8601: "2024-05-01T12:00Z"), body: body)
  }

  @Test func comparesBodiesByBytes() throws {
    let composed = try memo("caf\u{E9}")
    let decomposed = try memo("cafe\u{301}")
    #expect(composed.body == decomposed.body)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(try composed == memo("caf\u{E9}"))
    #expect(try composed.hashValue == memo("caf\u{E9}").hashValue)
  }

  /// Equal in Swift, equal in length, and still not the same.
  @Test(arguments: [("\u{212B}", "A\u{30A}"), ("a\u{301}\u{327}", "a\u{327}\u{301}")])
  func comparesTextsOfEqualLengthByBytes(left: String, right: String) throws {
    #expect(left == right && left.utf8.count == right.utf8.count)
    #expect(try memo(left) != memo(right))
    #expect(try MemoID(left) != MemoID(right))
    #expect(try Set([MemoID(left), MemoID(right)]).count == 2)
  }

  @Test func everyFieldCounts() throws {
    let original = try memo("milk")
    var others = Array(repeating: original, count: 4)
    others[0].body = "milK"
    others[1].createdAt = try MemoTimestamp(iso8601: "2024-05-01T21:00+09:00")
    others[2].changedAt = original.createdAt
    others[3] = Memo(id: MemoID(1), createdAt: original.createdAt, body: original.body)
    for other in others {
      #expect(other != original)
      #expect(other.hashValue != original.hashValue)
    }
    #expect(others[1].createdAt.microseconds == original.createdAt.microseconds)
  }

  @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 100])
  func oneByteAnywhereMakesADifference(count: Int) throws {
    let bytes = [UInt8](repeating: 0x61, count: count)
    let original = try memo(String(decoding: bytes, as: UTF8.self))
    #expect(try original == memo(String(repeating: "a", count: count)))
    for position in 0..<count {
      var changed = bytes
      changed[position] = 0x62
      #expect(try original != memo(String(decoding: changed, as: UTF8.self)), "at \(position)")
    }
    #expect(try original != memo(original.body + "a"))
  }

  @Test func isCreatedNowByDefault() throws {
    let before = MemoTimestamp.now.microseconds
    let memo = Memo(id: MemoID(1), body: "")
    #expect(memo.createdAt.microseconds >= before)
    #expect(memo.createdAt.microseconds <= MemoTimestamp.now.microseconds)
    #expect(memo.changedAt == nil)
  }
}
