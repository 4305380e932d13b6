/// Makes LZ4 blocks fast: takes the first match that a table of recent places finds.
package struct LZ4FastEncoder: LZ4Encoder {
  private static let hashBitCount = 13
  /// Misses after which the search moves on by one byte more: 2 to the power of this.
  private static let skipBitCount = 6
  /// Of a dictionary every third place is remembered: more would push each other out.
  private static let dictionaryStep = 3

  private var table = PlaceTable(bitCount: hashBitCount)

  package init() {}

  package mutating func use(dictionary: RawSpan) {
    table.reset(toDictionary: false)
    for place in stride(from: 0, through: dictionary.byteCount - 8, by: Self.dictionaryStep) {
      unsafe table.places[Self.hash(dictionary, place, 5)] = UInt32(truncatingIfNeeded: place)
    }
    table.keepForDictionary()
  }

  package mutating func encode(
    _ source: RawSpan, from start: Int, into target: inout MutableRawSpan
  ) -> Int? {
    table.reset(toDictionary: start > 0)
    var places = table.places.mutableSpan
    var writer = SequenceWriter(from: start)
    let lastStart = source.byteCount - LZ4Limits.matchStartDistance
    let limit = source.byteCount - LZ4Limits.matchEndDistance
    // Places of five equal bytes make longer matches, but in a small block every match counts.
    let hashed = start > 0 ? 5 : 4
    var place = start
    var misses = 1 << Self.skipBitCount
    while place <= lastStart {
      let hash = unsafe Self.hash(source, place, hashed)
      // Where nothing is known this is 0, a place as good as others: it is compared.
      var candidate = Int(places[hash])
      places[hash] = UInt32(truncatingIfNeeded: place)
      guard candidate < place, place - candidate <= LZ4Limits.offset,
        unsafe source.uncheckedWord(at: candidate, as: UInt32.self)
          == source.uncheckedWord(at: place, as: UInt32.self)
      else {
        place += misses >> Self.skipBitCount
        misses += 1
        continue
      }
      var count = 4 + source.commonByteCount(candidate + 4, place + 4, limit: limit)
      while candidate > 0, place > writer.anchor,
        source.byte(at: candidate - 1) == source.byte(at: place - 1)
      {
        candidate -= 1
        place -= 1
        count += 1
      }
      let offset = place - candidate
      guard writer.append(source, match: place, count: count, offset: offset, to: &target) else {
        return nil
      }
      place += count
      misses = 1 << Self.skipBitCount
      if place <= lastStart {
        unsafe places[Self.hash(source, place - 2, hashed)] = UInt32(truncatingIfNeeded: place - 2)
      }
    }
    return writer.finish(source, in: &target)
  }

  @unsafe @inline(__always)
  private static func hash(_ source: RawSpan, _ place: Int, _ byteCount: Int) -> Int {
    unsafe PlaceTable.hash(source, place, byteCount: byteCount, bitCount: hashBitCount)
  }
}
