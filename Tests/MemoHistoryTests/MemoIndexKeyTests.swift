import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import MemoHistory
import Testing

/// The stored form of keys: its order is that of the values, and it decodes to them.
@Suite struct MemoIndexKeyTests {
  private typealias Value = MemoIndexValue

  /// Every kind, with the values next to which mistakes are made.
  private static let samples: [Value] = {
    var values: [Value] = [false, true, .uuid(high: 0, low: 1), .uuid(high: 1, low: 0)]
    values += [.min, -257, -256, -1, 0, 1, 255, 256, .max].map { .integer($0) }
    let least = Double.leastNonzeroMagnitude
    values += [-Double.infinity, -1e300, -1.5, -least, 0, least, 1, 1.5, 1e300, .infinity, .nan]
      .map { .double($0) }
    values += ["", "\0", "\0\0", "\0a", "a", "a\0", "a\0\u{1}", "a\0b", "ab", "b", "\u{FF}"]
      .map { .text($0) }
    values += [[], [0], [0, 0], [0, 1], [0, 0xFF], [1], [1, 0], [0xFF], [0xFF, 0xFF]]
      .map { .bytes($0) }
    values += [-1_000_000, 0, 1, 1_767_225_600_000_000].map { .timestamp(time($0)) }
    return values
  }()

  private static func time(_ microseconds: Int64, offset: Int32 = 0) -> MemoTimestamp {
    MemoTimestamp(microseconds: microseconds, offsetSeconds: offset) ?? .now
  }

  /// The order of values, told by the simplest means.
  private static func precedes(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.bool(let a), .bool(let b)): !a && b
    case (.integer(let a), .integer(let b)): a < b
    case (.double(let a), .double(let b)): b.isNaN ? !a.isNaN : a < b
    case (.timestamp(let a), .timestamp(let b)): a.microseconds < b.microseconds
    case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.bytes(let a), .bytes(let b)): a.lexicographicallyPrecedes(b)
    case (.uuid(let aHigh, let aLow), .uuid(let bHigh, let bLow)): (aHigh, aLow) < (bHigh, bLow)
    default: rank(left) < rank(right)
    }
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .bool: 0
    case .integer: 1
    case .double: 2
    case .timestamp: 3
    case .text: 4
    case .bytes: 5
    case .uuid: 6
    }
  }

  private static func precedes(_ left: [Value], _ right: [Value]) -> Bool {
    for (a, b) in zip(left, right) {
      if precedes(a, b) { return true }
      if precedes(b, a) { return false }
    }
    return left.count < right.count
  }

  private static func random(_ generator: inout SeededGenerator) -> Value {
    let bits = generator.next()
    let length = Int(bits % 4)
    let bytes = (0..<length).map { [0, 1, 0x61, 0xFE][Int(bits >> (8 + 2 * $0)) & 3] as UInt8 }
    switch generator.next() % 10 {
    case 0: return .bool(bits & 1 == 1)
    case 1: return .integer(Int64(bitPattern: bits))
    case 2: return .integer(Int64(bits % 7) - 3)
    case 3: return .double(Double(bitPattern: bits))
    case 4: return .double((Double(bits % 7) - 3) / 2)
    case 5: return .timestamp(time(Int64(bits % 5) - 2))
    case 6: return .text(String(decoding: bytes.map { $0 & 0x7F }, as: UTF8.self))
    case 7: return .bytes(bytes)
    case 8: return .uuid(high: bits % 3, low: bits >> 32 % 3)
    default: return samples[Int(bits % UInt64(samples.count))]
    }
  }

  private func encoded(_ values: [Value], number: Int = 5) -> [UInt8] {
    MemoIndexKey(number: number, values: values).encode()
  }

  @Test func theOrderOfSamplesIsThatOfTheirBytes() {
    for left in Self.samples {
      for right in Self.samples {
        let isBefore = encoded([left]).lexicographicallyPrecedes(encoded([right]))
        #expect(isBefore == Self.precedes(left, right), "\(left) and \(right)")
      }
    }
  }

  @Test(arguments: Thoroughness.seeds(4))
  func theOrderOfKeysIsThatOfTheirBytes(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Thoroughness.count(quick: 3000, push: 50_000, nightly: 500_000) {
      let keys = (0..<2).map { _ in
        (0..<Int(generator.next() % 4) + 1).map { _ in Self.random(&generator) }
      }
      let isBefore = encoded(keys[0]).lexicographicallyPrecedes(encoded(keys[1]))
      #expect(isBefore == Self.precedes(keys[0], keys[1]), "seed \(seed): \(keys)")
      let bytes = encoded(keys[0], number: Int(seed))
      let decoded = try MemoIndexKey.decode(bytes.rawBytes)
      #expect(decoded.encode() == bytes && decoded.number == Int(seed), "seed \(seed): \(keys)")
      // Keys with the same first values lie together, and no others between them.
      let begins = bytes.starts(with: encoded(Array(keys[1].prefix(1)), number: Int(seed)))
      let firsts = (keys[0][0], keys[1][0])
      let isSame =
        !Self.precedes(firsts.0, firsts.1) && !Self.precedes(firsts.1, firsts.0)
      #expect(begins == isSame, "seed \(seed): \(keys)")
    }
  }

  @Test func valuesThatAreTheSameInAnIndexHaveOneForm() {
    #expect(encoded([0.0]) == encoded([-0.0]))
    #expect(encoded([.double(.nan)]) == encoded([.double(-.nan)]))
    #expect(
      encoded([.timestamp(Self.time(5))]) == encoded([.timestamp(Self.time(5, offset: 60))]))
    #expect(encoded([2]) != encoded([2.0]))
    let (high, low) = (0x0011_2233_4455_6677 as UInt64, 0x8899_AABB_CCDD_EEFF as UInt64)
    let id = UUID(memoID: MemoID(uuid: (high, low)))
    #expect(id.map { .uuid($0) } == MemoIndexValue.uuid(high: high, low: low))
  }

  @Test func onlyKeysOfAPermittedLengthCanBeStored() {
    func canBeStored(_ values: [Value]) -> Bool {
      MemoIndexKey(number: 0, values: values).canBeStored
    }
    #expect(!canBeStored([]))
    #expect(canBeStored([1, 2, 3, 4]))
    #expect(!canBeStored([1, 2, 3, 4, 5]))
    // Number, kind and end take 7 bytes, the key of the memo 16.
    let longest = String(repeating: "a", count: 65_535 - 16 - 7)
    #expect(canBeStored([.text(longest)]))
    #expect(!canBeStored([.text(longest + "a")]))
    #expect(!canBeStored([.text(longest.dropLast() + "\0")]))
  }

  @Test func whatIsNoKeyIsRefused() {
    let text = encoded(["a"])
    let refused: [[UInt8]] = [
      [], [0, 0, 0], encoded([]), [0, 1, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 8],
      [0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 2, 1], text.dropLast(), text + [0],
      [0, 0, 0, 0, 5, 0, 1], [0, 0, 0, 0, 5, 0xFF, 0, 0], encoded([1, 2, 3, 4, 5]),
      [0, 0, 0, 0, 3, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
      [0, 0, 0, 0, 4] + [UInt8](repeating: 0xFF, count: 8),
    ]
    for bytes in refused {
      #expect(throws: FormatError.self, "\(bytes)") { try MemoIndexKey.decode(bytes.rawBytes) }
      #expect(throws: FormatError.self, "\(bytes)") {
        try MemoIndexKey.decodeOrdered(bytes.rawBytes)
      }
    }
  }

  @Test func theTableOfIndexesDecodesToItself() throws {
    var table = MemoIndexTable()
    #expect(try MemoIndexTable.decode(table.encode().rawBytes) == table)
    for number in [300, 2, 5] {
      var state = MemoIndexState(number: number, isUnique: number == 5, schemaVersion: 3)
      state.phase = number == 2 ? .building : .ready
      state.mayHaveStrays = number == 300
      state.conflictCount = UInt64(number)
      state.position = [UInt8](repeating: 7, count: number % 7)
      table.set(state)
    }
    #expect(table.states.map(\.number) == [2, 5, 300])
    let bytes = table.encode()
    #expect(try MemoIndexTable.decode(bytes.rawBytes) == table)
    for count in bytes.indices {
      let part = Array(bytes.prefix(count))
      #expect(throws: FormatError.self) { try MemoIndexTable.decode(part.rawBytes) }
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 0xFF
      let decoded = try? MemoIndexTable.decode(damaged.rawBytes)
      #expect(decoded != table)
    }
  }
}
