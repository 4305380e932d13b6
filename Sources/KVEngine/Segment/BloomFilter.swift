/// Says of a key that a segment certainly does not hold it, or that it may.
///
/// Ten bits a key and seven probes: 0.8 % of absent keys are let through. The probes are
/// *h1* + *i* * *h2* from the two halves of one hash.
/// Source: Kirsch and Mitzenmacher, "Less Hashing, Same Performance: Building a Better Bloom
/// Filter", 2006.
struct BloomFilter: Sendable {
  private static let bitsPerKey = 10
  private static let probeCount = 7
  /// More probes than anyone would choose; bounds the work that a hostile filter causes.
  private static let maximumProbeCount = 30

  private let buffer: ByteBuffer
  private let probes: UInt64
  private let bitCount: UInt64
  /// Key bytes behind the space byte that the filter holds; 0 for whole keys.
  private let prefixByteCount: Int

  /// Takes a decoded filter block: the number of probes and the bits.
  init(_ buffer: ByteBuffer, prefixByteCount: Int) throws(FormatError) {
    var reader = ByteReader(buffer.bytes, structure: "filter block")
    let probes = try reader.u8()
    guard probes >= 1, probes <= Self.maximumProbeCount, reader.remaining >= 8 else {
      throw reader.failure("not a filter")
    }
    self.buffer = buffer
    self.probes = UInt64(probes)
    bitCount = UInt64(reader.remaining) * 8
    self.prefixByteCount = prefixByteCount
  }

  /// Whether the segment may hold a key.
  ///
  /// - Complexity: O(length of the key) for its hash; no allocation.
  func mayContain(key: RawSpan) -> Bool {
    mayContain(part: prefixByteCount == 0 ? key : key.extracting(first: prefixByteCount + 1))
  }

  /// Whether the segment may hold keys that begin with a prefix.
  func mayContain(prefix: RawSpan) -> Bool {
    // A shorter prefix, and any prefix of whole keys, says nothing about what was hashed.
    guard prefixByteCount > 0, prefix.byteCount > prefixByteCount else { return true }
    return mayContain(key: prefix)
  }

  private func mayContain(part: RawSpan) -> Bool {
    let hash = XXH64.hash(part)
    let bytes = buffer.bytes
    for probe in 0..<probes {
      let bit = Self.bit(probe, hash, bitCount)
      if bytes.byte(at: 1 + Int(bit / 8)) & (1 << (bit % 8)) == 0 { return false }
    }
    return true
  }

  /// A filter block of the hashes of all parts.
  static func encode(hashes: [UInt64]) -> [UInt8] {
    let wanted = (hashes.count * bitsPerKey + 7) / 8
    let byteCount = min(max(wanted, 8), Limits.Block.maximumByteCount - 1)
    var block = [UInt8](repeating: 0, count: 1 + byteCount)
    block[0] = UInt8(probeCount)
    for hash in hashes where !isPlanted(.sparseFilter) || hash % 16 != 0 {
      for probe in 0..<UInt64(probeCount) {
        let bit = bit(probe, hash, UInt64(byteCount) * 8)
        block[1 + Int(bit / 8)] |= 1 << (bit % 8)
      }
    }
    return block
  }

  private static func bit(_ probe: UInt64, _ hash: UInt64, _ bitCount: UInt64) -> UInt64 {
    // At most 2^32 + 30 * 2^32: no overflow.
    let first = hash & 0xFFFF_FFFF
    let step = hash >> 32 | 1
    return (first + probe * step) % bitCount
  }
}
