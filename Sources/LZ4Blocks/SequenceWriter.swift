/// Writes the sequences of a block.
struct SequenceWriter: ~Copyable {
  /// The first byte that no sequence holds yet.
  private(set) var anchor: Int
  /// Bytes written.
  private(set) var byteCount = 0

  init(from start: Int) {
    anchor = start
  }

  /// Appends the literals up to a match, and the match.
  ///
  /// - Returns: Whether there was room for them, with the end of the block behind.
  @inline(__always)
  mutating func append(
    _ source: RawSpan, match: Int, count: Int, offset: Int, to target: inout MutableRawSpan
  ) -> Bool {
    let literals = match - anchor
    let extra = count - LZ4Limits.matchByteCount
    let room = target.byteCount - byteCount
    // Token, offset, and at least one byte more of each count.
    guard literals + (literals + extra) / 255 + 5 <= room else { return false }
    let token = byteCount
    byteCount += 1
    let first = appendCount(literals, to: &target)
    if literals <= 16, anchor + 16 <= source.byteCount, byteCount + 16 <= target.byteCount {
      unsafe target.copyUnchecked(SixteenBytes.self, from: source, at: anchor, to: byteCount)
    } else {
      target.copyLoosely(literals, from: source, at: anchor, to: byteCount)
    }
    byteCount += literals
    target.storeBytes(
      of: UInt16(truncatingIfNeeded: offset).littleEndian, toByteOffset: byteCount, as: UInt16.self)
    byteCount += 2
    let second = appendCount(extra, to: &target)
    target.storeBytes(of: first << 4 | second, toByteOffset: token, as: UInt8.self)
    anchor = match + count
    return true
  }

  /// Appends what is left as literals.
  ///
  /// - Returns: The bytes of the whole block, `nil` when there is no room for them.
  mutating func finish(_ source: RawSpan, in target: inout MutableRawSpan) -> Int? {
    let literals = source.byteCount - anchor
    let room = target.byteCount - byteCount
    let more = literals < LZ4Limits.openCount ? 0 : (literals - LZ4Limits.openCount) / 255 + 1
    guard literals + more + 1 <= room else { return nil }
    let token = byteCount
    byteCount += 1
    let nibble = appendCount(literals, to: &target)
    target.copyLoosely(literals, from: source, at: anchor, to: byteCount)
    target.storeBytes(of: nibble << 4, toByteOffset: token, as: UInt8.self)
    return byteCount + literals
  }

  /// Appends the bytes of a count that its part of the token does not hold, and returns that part.
  @inline(__always)
  private mutating func appendCount(_ count: Int, to target: inout MutableRawSpan) -> UInt8 {
    if count < LZ4Limits.openCount { return UInt8(truncatingIfNeeded: count) }
    var rest = count - LZ4Limits.openCount
    while rest >= 255 {
      target.storeBytes(of: 255, toByteOffset: byteCount, as: UInt8.self)
      byteCount += 1
      rest -= 255
    }
    target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: byteCount, as: UInt8.self)
    byteCount += 1
    return UInt8(LZ4Limits.openCount)
  }
}
