/// Changes bytes as damage, hostile hands and software faults do, by seed.
package struct ByteMutator: Sendable {
  package var generator: SeededGenerator

  package init(seed: UInt64) {
    generator = SeededGenerator(seed: seed, stream: 15)
  }

  /// A number below a bound.
  package mutating func number(below bound: Int) -> Int {
    bound <= 1 ? 0 : Int(generator.next() % UInt64(bound))
  }

  /// A place to begin and a short length, inside of a range.
  private mutating func stretch(of range: Range<Int>) -> Range<Int> {
    let start = range.lowerBound + number(below: range.count)
    return start..<min(start + 1 + number(below: 24), range.upperBound)
  }

  /// Changes some bytes of a range, one to four times, without changing their number.
  package mutating func overwrite(_ bytes: inout [UInt8], in range: Range<Int>) {
    if range.isEmpty { return }
    for _ in 0..<1 + number(below: 4) {
      let place = stretch(of: range)
      switch number(below: 7) {
      case 0: bytes[place.lowerBound] ^= 1 << UInt8(number(below: 8))
      case 1: bytes[place.lowerBound] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][number(below: 6)]
      case 2: bytes[place.lowerBound] &+= UInt8(number(below: 3)) &- 1
      case 3: for index in place { bytes[index] = 0 }
      case 4: for index in place { bytes[index] = 0xFF }
      case 5: bytes.replaceSubrange(place, with: generator.bytes(place.count))
      default:
        // A stretch of the same range in another place.
        let source = stretch(of: range)
        for (index, other) in zip(place, source) { bytes[index] = bytes[other] }
      }
    }
  }

  /// Changes bytes and their number.
  package mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    overwrite(&bytes, in: bytes.indices)
    let place = bytes.isEmpty ? 0..<0 : stretch(of: bytes.indices)
    switch number(below: 6) {
    case 0: bytes.removeSubrange(place)
    case 1: bytes.insert(contentsOf: bytes[place], at: place.lowerBound)
    case 2: bytes.removeLast(bytes.count - place.lowerBound)
    case 3: bytes.insert(contentsOf: generator.bytes(1 + number(below: 12)), at: place.lowerBound)
    default: break
    }
    return bytes
  }
}
