import Foundation
import MemoHistory
import Testing

/// Everything that `Codable` can be comes back as it was.
@Suite struct EntityShapesTests {
  private func check<Value: Codable & Hashable & Sendable>(
    _ values: [Value], _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let store = MemoStore<Sample<Value>>.inMemory()
    for value in values {
      #expect(try await store.stored(value) == value, sourceLocation: location)
    }
  }

  @Test func integersOfEveryWidth() async throws {
    try await check([Int8.min, -1, 0, 1, Int8.max])
    try await check([Int16.min, -1, 0, 1, Int16.max])
    try await check([Int32.min, -1, 0, 1, Int32.max])
    try await check([Int64.min, Int64.min + 1, -1, 0, 127, 128, Int64.max])
    try await check([Int.min, -300, 0, Int.max])
    try await check([Int128.min, Int128(Int64.min) - 1, -1, 0, Int128(UInt64.max) + 1, Int128.max])
    try await check([UInt8.min, UInt8.max])
    try await check([UInt16.min, UInt16.max])
    try await check([UInt32.min, UInt32.max])
    try await check([UInt64.min, UInt64(Int64.max), UInt64(Int64.max) + 1, UInt64.max])
    try await check([UInt.min, UInt.max])
    try await check([UInt128.min, UInt128(UInt64.max), UInt128.max])
  }

  @Test func floatingPointNumbers() async throws {
    let extremes: [Double] = [
      0, 1, -1, 0.1, .pi, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]
    try await check(extremes)
    try await check(extremes.map { Float($0) })
    let store = MemoStore<Sample<Double>>.inMemory()
    #expect(try await store.stored(-0.0).sign == .minus)
    let noNumber = Double(nan: 5, signaling: false)
    #expect(try await store.stored(noNumber).bitPattern == noNumber.bitPattern)
  }

  @Test func textsByteForByte() async throws {
    let texts = [
      "", "milk", "\u{0}", "caf\u{E9}", "cafe\u{301}", "\u{1F468}\u{200D}\u{1F469}",
      "\u{10FFFF}", "\u{FEFF}x", "\r\n", "\u{202E}abc", String(repeating: "\u{301}", count: 500),
    ]
    let store = MemoStore<Sample<String>>.inMemory()
    for text in texts {
      #expect(try await Array(store.stored(text).utf8) == Array(text.utf8))
    }
    try await check([texts])
    try await check([texts.map { Optional($0) } + [nil]])
  }

  @Test func booleansAndOptionals() async throws {
    try await check([true, false])
    try await check([true, nil] as [Bool?])
    try await check([5, nil] as [UInt8?])
    try await check(["x", nil] as [String?])
    try await check([Address(), nil] as [Address?])
    try await check([[1, nil, 3], []] as [[Int?]])
    try await check([MemoTimestamp.now, nil] as [MemoTimestamp?])
  }

  @Test func listsAndBytes() async throws {
    try await check([[], [1], [1, 2, 3]] as [[Int]])
    try await check([[], [0], [1, 255]] as [[UInt8]])
    try await check([[[]], [[1], [], [2, 3]]] as [[[UInt16]]])
    try await check([Data(), Data([0, 255]), Data(repeating: 7, count: 1000)])
    try await check([ContiguousArray<UInt8>([1, 2])])
    try await check([1..<5, 0..<0])
    try await check([[1.5, 2.5], []] as [[Double]])
    try await check([[true, false], []] as [[Bool]])
  }

  @Test func structsAndEnums() async throws {
    try await check([Address(), Address(street: "", number: nil, lines: [])])
    try await check([
      Shape.empty, .circle(radius: 1.5), .line(1, -2), .group(.group(.empty, name: nil), name: "x"),
    ])
    try await check(Colour.allCases)
    try await check([Colour.red, nil] as [Colour?])
    try await check([[Shape.empty, .line(0, 0)]])
  }

  @Test func dictionaries() async throws {
    try await check([[:], ["": 1], ["a": 1, "b": 2, "caf\u{E9}": 3]] as [[String: Int]])
    try await check([[:], [1: "x", -20: "y", 10: "z"]] as [[Int: String]])
    try await check([[.red: 1, .green: 2], [:]] as [[Colour: Int]])
    try await check([[Place(row: 1, column: 2): ["x"], Place(row: 0, column: 0): []]])
    try await check([["a": ["b": ["c": 1]]]] as [[String: [String: [String: Int]]]])
    try await check([[true: 1, false: 2]])
    try await check([["a": Address()], ["a": nil]] as [[String: Address?]])
  }

  @Test func sets() async throws {
    try await check([[], ["a"], ["b", "a", "c"]] as [Set<String>])
    try await check([[1, 2, 255], []] as [Set<UInt8>])
    try await check([[Place(row: 1, column: 2), Place(row: 2, column: 1)]] as [Set<Place>])
    try await check([[[1], [2, 3], []]] as [Set<Set<Int>>])
  }

  @Test func identitiesAndTimes() async throws {
    try await check([UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))])
    try await check([[UUID(), UUID()]])
    try await check([UUID(), nil] as [UUID?])
    try await check([[UUID(): 1, UUID(): 2]])
    try await check([Date(timeIntervalSinceReferenceDate: 0.125), .distantPast])
    try await check([URL(string: "https://example.org/a?b=c"), nil])
    try await check([MemoTimestamp(microseconds: -1, offsetSeconds: -86_399)])
    try await check([
      MemoID(5), try MemoID("5"), try MemoID(bytes: [5]), MemoID(uuid: (high: 0, low: 5)),
    ])
    try await check([Memo(id: MemoID(1), changedAt: .now, body: "inner")])
  }

  @Test func containersThatAreWrittenByHand() async throws {
    try await check([ByHand(first: 1, second: "x", third: [1, 2])])
    try await check([[ByHand(first: -1, second: "", third: [])]])
  }

  @Test func deepValuesComeBackAndTooDeepOnesAreRefused() async throws {
    func nested(_ depth: Int) -> Shape {
      (0..<depth).reduce(.empty) { shape, _ in .group(shape, name: nil) }
    }
    // A case is a record with a record for its values; the record of the memo lies around it.
    try await check([nested(30)])
    let store = MemoStore<Sample<Shape>>.inMemory()
    let error = await #expect(throws: MemoError.self) { try await store.stored(nested(31)) }
    guard case .unencodable(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("lies too deep"))
    #expect(try store.count() == 0)
  }
}

/// Nested containers, encoders of superclasses, and parts that are written late.
private struct ByHand: Codable, Hashable, Sendable {
  var first: Int
  var second: String
  var third: [Int]

  init(first: Int, second: String, third: [Int]) {
    (self.first, self.second, self.third) = (first, second, third)
  }

  private enum Keys: String, CodingKey { case outer, inner, list, parent }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    let outer = try container.nestedContainer(keyedBy: Keys.self, forKey: .outer)
    first = try outer.decode(Int.self, forKey: .inner)
    second = try container.superDecoder(forKey: .parent).singleValueContainer().decode(String.self)
    var list = try container.nestedUnkeyedContainer(forKey: .list)
    third = []
    var inner = try list.nestedUnkeyedContainer()
    while !inner.isAtEnd { third.append(try inner.decode(Int.self)) }
    let last = try list.nestedContainer(keyedBy: Keys.self)
    guard try last.decodeNil(forKey: .inner), list.isAtEnd,
      try container.superDecoder().container(keyedBy: Keys.self).allKeys.isEmpty
    else { throw CocoaError(.coderInvalidValue) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    var again = encoder.container(keyedBy: Keys.self)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    var outer = again.nestedContainer(keyedBy: Keys.self, forKey: .outer)
    let parent = again.superEncoder(forKey: .parent)
    _ = container.superEncoder().container(keyedBy: Keys.self)
    var inner = list.nestedUnkeyedContainer()
    for number in third { try inner.encode(number) }
    var last = list.nestedContainer(keyedBy: Keys.self)
    try last.encodeNil(forKey: .inner)
    try outer.encode(first, forKey: .inner)
    var single = parent.singleValueContainer()
    try single.encode(second)
  }
}
