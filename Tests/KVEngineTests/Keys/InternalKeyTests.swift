import KVTestSupport
import Testing

@testable import KVEngine

/// Tags and the order of internal keys.
@Suite struct InternalKeyTests {
  @Test(arguments: [0, 1, 2, 1 << 32, Limits.Sequence.maximum - 1, Limits.Sequence.maximum])
  func sequenceAndKindComeBackFromOneWord(sequence: SequenceNumber) throws {
    for kind in RecordKind.allCases {
      let tag = EntryTag(sequence: sequence, kind: kind)
      #expect(tag.sequence == sequence && tag.kind == kind)
      #expect(try #require(EntryTag(word: tag.word)) == tag)
    }
  }

  @Test func aWordWithASequenceOutOfRangeIsNoTag() {
    #expect(EntryTag(word: (Limits.Sequence.maximum + 1) << 2) == nil)
    #expect(EntryTag(word: .max) == nil)
  }

  @Test func aKeysNewestEntryComesFirst() {
    let ordered: [([UInt8], SequenceNumber)] = [
      ([1], 9), ([1], 3), ([1], 0), ([1, 0], 5), ([1, 255], 1), ([2], .max), ([2], 1),
      ([255], 7),
    ]
    for (left, a) in ordered.enumerated() {
      for (right, b) in ordered.enumerated() {
        let order = compareInternal(a.0.rawBytes, a.1, b.0.rawBytes, b.1)
        #expect(order.signum() == (left - right).signum(), "\(a) \(b)")
      }
    }
  }
}
