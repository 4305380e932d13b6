import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import MemoHistory

/// Equal values have equal bytes, in whatever order a process happens to keep them.
@Suite struct CanonicalFormTests {
  private func payload<Value>(_ value: Value) throws -> [UInt8]
  where Value: Codable & Hashable & Sendable {
    let coder = EntityCoder<Sample<Value>>(Sample<Value>.schema)
    var names = NameSource(MemoTimeline.inMemory())
    return try coder.memo(for: Sample(value: value), over: nil, &names).payload
  }

  /// The same elements, put in another order into a set of another size.
  private func shuffled<Element: Hashable>(
    _ elements: [Element], _ generator: inout SeededGenerator
  ) -> Set<Element> {
    var set = Set<Element>(minimumCapacity: Int.random(in: 1...500, using: &generator))
    for element in elements.shuffled(using: &generator) { set.insert(element) }
    return set
  }

  @Test func setsInAHundredOrdersHaveOneForm() throws {
    var generator = SeededGenerator(seed: 1)
    let texts = (0..<20).map { "tag \($0)" }
    let places = (0..<20).map { Place(row: $0 % 3, column: $0) }
    let first = (try payload(Set(texts)), try payload(Set(places)))
    for _ in 0..<100 {
      #expect(try payload(shuffled(texts, &generator)) == first.0)
      #expect(try payload(shuffled(places, &generator)) == first.1)
    }
  }

  @Test func dictionariesInAHundredOrdersHaveOneForm() throws {
    var generator = SeededGenerator(seed: 2)
    let keys = (0..<20).map { $0 - 5 }
    func dictionary<Key: Hashable>(
      _ generator: inout SeededGenerator, _ key: (Int) -> Key
    ) -> [Key: Set<Int>] {
      var dictionary = [Key: Set<Int>](
        minimumCapacity: Int.random(in: 1...500, using: &generator))
      for number in keys.shuffled(using: &generator) {
        dictionary[key(number)] = shuffled([number, number + 1, number + 2], &generator)
      }
      return dictionary
    }
    func forms(_ generator: inout SeededGenerator) throws -> [[UInt8]] {
      [
        try payload(dictionary(&generator) { "key \($0)" }),
        try payload(dictionary(&generator) { $0 }),
        try payload(dictionary(&generator) { Place(row: $0, column: -$0) }),
        try payload([dictionary(&generator) { $0 }: 1]),
      ]
    }
    let first = try forms(&generator)
    for _ in 0..<100 { #expect(try forms(&generator) == first) }
  }

  @Test func integersHaveOneFormInEveryWidth() throws {
    for number in [-128, -1, 0, 1, 127] {
      let first = try payload(Int8(number))
      #expect(try payload(Int16(number)) == first)
      #expect(try payload(Int64(number)) == first)
      #expect(try payload(Int128(number)) == first)
      if number >= 0 { #expect(try payload(UInt(number)) == first) }
    }
  }

  @Test func bytesHaveOneFormInEveryCollection() throws {
    let first = try payload([1, 2, 255] as [UInt8])
    #expect(try payload(Data([1, 2, 255])) == first)
    #expect(try payload([1, 2, 255] as ContiguousArray<UInt8>) == first)
    #expect(try payload([UInt8]()) == payload(Data()))
  }

  /// Keys are the user's; as names they would fill the table that is kept for ever.
  @Test func keysOfDictionariesAreNoNames() throws {
    let timeline = MemoTimeline.inMemory()
    var names = NameSource(timeline)
    let coder = EntityCoder(Sample<[String: Int]>.schema)
    _ = try coder.memo(for: Sample(value: ["secret": 1]), over: nil, &names)
    let table = try names.names()
    #expect((0..<table.count).map { table[$0] } == ["id", "createdAt", "text", "value"])
  }

  /// The envelope holds id, time and text already.
  @Test func whatTheEnvelopeHoldsIsReferredTo() throws {
    let bytes = try payload(7)
    let payload = try MemoPayload(encoded: bytes.rawBytes)
    #expect(
      payload.record.fields.map(\.value) == [
        .reference(.id), .reference(.createdAt), .reference(.text), .unsigned(7),
      ])
    #expect(bytes == [1, 4, 0, 15, 1, 16, 2, 14, 3, 3, 7])
    #expect(try self.payload("milk").count == bytes.count - 1)
  }
}
