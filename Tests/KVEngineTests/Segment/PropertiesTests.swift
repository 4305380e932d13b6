import Testing

@testable import KVEngine

@Suite struct PropertiesTests {
  private let limit = 100_000

  private func sample() -> Properties {
    var memos = SpaceSummary(code: 1, firstKey: [1, 0])
    memos.lastKey = [1, 0xFF, 3]
    memos.entryCount = 300
    memos.tombstoneCount = 7
    memos.change = -4
    memos.byteCount = 5000
    var keys = SpaceSummary(code: 64, firstKey: [64])
    keys.entryCount = 1
    keys.change = 1
    keys.byteCount = 40
    return Properties(
      lowestSequence: 0, highestSequence: Limits.Sequence.maximum, spaces: [memos, keys],
      filters: [
        FilterHandle(
          spaceCode: 2, prefixByteCount: 8, handle: BlockHandle(offset: 60, byteCount: 100)),
        FilterHandle(
          spaceCode: 64, prefixByteCount: 0, handle: BlockHandle(offset: 160, byteCount: 24)),
      ])
  }

  private func decode(_ bytes: [UInt8]) throws(FormatError) -> Properties {
    try Properties.decode(bytes.rawBytes, limit: limit)
  }

  @Test func propertiesComeBack() throws {
    let properties = sample()
    #expect(try decode(properties.encode()) == properties)
  }

  @Test func unknownPropertiesAreSkipped() throws {
    let properties = sample()
    #expect(try decode(properties.encode() + [9, 3, 1, 2, 3] + [9, 0]) == properties)
  }

  @Test func cutPropertiesAreRefusedUnlessAWholeFilterIsMissing() throws {
    let bytes = sample().encode()
    var accepted = 0
    for count in 0..<bytes.count {
      guard let found = try? decode(Array(bytes.prefix(count))) else { continue }
      #expect(found.spaces.count + found.filters.count < 4)
      accepted += 1
    }
    #expect(accepted == 3)
  }

  @Test func changedPropertiesNeverTrap() {
    let bytes = sample().encode()
    for place in bytes.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var changed = bytes
        changed[place] = value
        _ = try? decode(changed)
      }
    }
  }

  @Test func impossiblePropertiesAreRefused() {
    var changes: [(inout Properties) -> Void] = []
    changes.append { $0.spaces.swapAt(0, 1) }
    changes.append { $0.filters.swapAt(0, 1) }
    changes.append { $0.spaces = [] }
    changes.append { ($0.lowestSequence, $0.highestSequence) = (2, 1) }
    changes.append { $0.highestSequence = Limits.Sequence.maximum + 1 }
    changes.append { $0.spaces[0].lastKey = [1] }
    changes.append { $0.spaces[0].lastKey = [2] }
    changes.append { $0.spaces[0].firstKey = [] }
    changes.append { $0.spaces[0].tombstoneCount = 301 }
    changes.append { $0.spaces[0].change = 301 }
    changes.append { $0.spaces[0].change = Int.min }
    changes.append { $0.spaces[0].byteCount = 100_001 }
    for (number, change) in changes.enumerated() {
      var properties = sample()
      change(&properties)
      #expect(throws: FormatError.self, "change \(number)") { try decode(properties.encode()) }
    }
    let handles = [(0, 24), (47, 24), (48, 23), (99_980, 24), (100_001, 24), (48, 100_000)]
    for (offset, byteCount) in handles {
      var properties = sample()
      properties.filters = [
        FilterHandle(
          spaceCode: 2, prefixByteCount: 0,
          handle: BlockHandle(offset: offset, byteCount: byteCount))
      ]
      #expect(throws: FormatError.self) { try decode(properties.encode()) }
    }
  }
}
