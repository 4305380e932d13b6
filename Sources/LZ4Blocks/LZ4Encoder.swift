/// What makes LZ4 blocks (FORMAT.md 7.8), with the state that it uses again.
package protocol LZ4Encoder {
  /// Remembers a dictionary, which sources with a start behind 0 begin with from now on.
  mutating func use(dictionary: RawSpan)

  /// Makes a block of the bytes of `source` from `start` on.
  ///
  /// - Parameters:
  ///   - source: The bytes, behind the dictionary if `start` is not 0.
  ///   - start: Where the bytes begin: 0, or behind the dictionary that is in use.
  ///   - target: Where the block goes.
  /// - Returns: How many bytes the block has, `nil` when it does not fit.
  mutating func encode(
    _ source: RawSpan, from start: Int, into target: inout MutableRawSpan
  ) -> Int?
}

/// The numbers of the format that both directions keep to.
enum LZ4Limits {
  /// Bytes of the shortest match.
  static let matchByteCount = 4
  /// How far a match can refer back.
  static let offset = 65_535
  /// Bytes from the start of a match to the end of the block, at least.
  static let matchStartDistance = 12
  /// Bytes from the end of a match to the end of the block, at least.
  static let matchEndDistance = 5
  /// A count in a token that says that more bytes of it follow.
  static let openCount = 15
}

/// Where in a source bytes with some hash were seen last; 0 as long as they were not.
///
/// Contiguous arrays, because only those have spans on systems before iOS 26 and macOS 26.
struct PlaceTable {
  private let count: Int
  /// Empty before the first use.
  var places: ContiguousArray<UInt32> = []
  /// The places after the dictionary was read; empty without one.
  private var dictionaryPlaces: ContiguousArray<UInt32> = []

  init(bitCount: Int) {
    count = 1 << bitCount
  }

  /// Makes the places of now those that a source with the dictionary begins with.
  mutating func keepForDictionary() {
    dictionaryPlaces = places
  }

  /// Goes back to the places of the dictionary, or to none.
  mutating func reset(toDictionary: Bool) {
    if places.isEmpty {
      places = ContiguousArray(repeating: 0, count: count)
      return
    }
    unsafe places.withUnsafeMutableBufferPointer { places in
      if toDictionary {
        unsafe _ = places.update(fromContentsOf: dictionaryPlaces)
      } else {
        unsafe places.update(repeating: 0)
      }
    }
  }

  /// A hash of `bitCount` bits of the first four to eight bytes at a place that has eight.
  @unsafe @inline(__always)
  static func hash(
    _ source: RawSpan, _ place: Int, byteCount: Int, bitCount: Int
  ) -> Int {
    let word = unsafe UInt64(littleEndian: source.uncheckedWord(at: place, as: UInt64.self))
    // The bytes behind go out at the top; 2 to the 64 divided by the golden ratio spreads the rest.
    let first = word &<< (64 &- 8 &* byteCount)
    return Int(truncatingIfNeeded: (first &* 0x9E37_79B9_7F4A_7C15) &>> (64 &- bitCount))
  }
}
