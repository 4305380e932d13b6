import KVTestSupport

/// A block made of random sequences, many of them at the edge of what is valid.
struct ForgedBlock {
  var bytes: [UInt8] = []
  /// What it decodes to if it is valid.
  var byteCount = 0
  let dictionaryByteCount: Int

  init(_ random: inout SeededGenerator) {
    dictionaryByteCount = [0, 0, 30, 300].randomElement(using: &random) ?? 0
    // Some are forged all over, most in one place at most.
    let isWild = Int.random(in: 0..<8, using: &random) == 0
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let literals = [0, 0, 1, 5, 9, 10, 12, 13, 14, 15, 16, 31, 32, 33, 270, 285].randomElement(
        using: &random)
      let extra = [0, 1, 3, 4, 5, 10, 12, 14, 15, 16, 28, 29, 270].randomElement(using: &random)
      append(literals ?? 0, extra ?? 0, isWild, &random)
    }
    let usual = Int.random(in: 5...40, using: &random)
    let last = Bool.random(using: &random) ? usual : Int.random(in: 0...14, using: &random)
    appendToken(last, UInt8.random(in: 0...15, using: &random))
    appendLiterals(last, &random)
    byteCount += last
    if isWild, Bool.random(using: &random) {
      byteCount += Int.random(in: -20...20, using: &random)
      byteCount = max(0, byteCount)
    }
  }

  private mutating func append(
    _ literals: Int, _ extra: Int, _ isWild: Bool, _ random: inout SeededGenerator
  ) {
    appendToken(literals, UInt8(min(extra, 15)))
    appendLiterals(literals, &random)
    let reach = dictionaryByteCount + byteCount + literals
    var offset =
      [1, 2, 3, 7, 8, 9, 15, 16, 17, reach, reach - 1].randomElement(using: &random) ?? 1
    if offset > reach || Bool.random(using: &random) {
      offset = reach > 0 ? Int.random(in: 1...reach, using: &random) : 1
    }
    if isWild || reach == 0, Bool.random(using: &random) {
      offset = [0, reach + 1, 65_535].randomElement(using: &random) ?? 0
    }
    bytes += [UInt8(offset & 255), UInt8(offset >> 8 & 255)]
    appendRest(of: extra)
    byteCount += literals + extra + 4
  }

  private mutating func appendToken(_ literals: Int, _ low: UInt8) {
    bytes.append(UInt8(min(literals, 15)) << 4 | low)
    appendRest(of: literals)
  }

  private mutating func appendRest(of count: Int) {
    guard count >= 15 else { return }
    bytes += [UInt8](repeating: 255, count: (count - 15) / 255) + [UInt8((count - 15) % 255)]
  }

  /// Bytes that look like tokens are among them.
  private mutating func appendLiterals(_ count: Int, _ random: inout SeededGenerator) {
    for _ in 0..<count { bytes.append(UInt8.random(in: 0...255, using: &random)) }
  }
}
