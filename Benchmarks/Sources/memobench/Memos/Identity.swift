/// An id of 16 bytes, each a printable character, so that it is a text id as well.
struct Identity: Hashable {
  /// The bytes as two big-endian numbers.
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The id of the memo with a number: 96 bits that look random and are the same in every run.
  init(_ number: Int) {
    var mixer = Mixer(seed: UInt64(truncatingIfNeeded: number) &* 2 &+ 1)
    high = Self.letters(mixer.next())
    low = Self.letters(mixer.next())
  }

  /// Eight characters of six bits each.
  private static func letters(_ bits: UInt64) -> UInt64 {
    var bits = bits
    var result: UInt64 = 0
    for _ in 0..<8 {
      result = result << 8 | UInt64(alphabet[Int(bits & 63)])
      bits >>= 6
    }
    return result
  }

  private static let alphabet = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_".utf8)
}

/// Numbers that look random, the same for the same seed (SplitMix64).
struct Mixer: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mixed(state)
  }

  /// A number that looks random, the same for the same number.
  static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
