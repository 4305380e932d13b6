/// Decodes LZ4 blocks (FORMAT.md 7.8).
package enum LZ4Decoder {
  /// Fills `memory` from `start` on with what a block decodes to.
  ///
  /// Matches may refer to what lies in front of `start`: that is the dictionary. The block is not
  /// trusted: whatever is in it, nothing outside of the two spans is read, nothing outside of the
  /// target is written, and nothing traps.
  ///
  /// - Returns: Whether the block is valid and decodes to exactly as many bytes as there are from
  ///   `start` on; otherwise it is not defined what they hold.
  package static func decode(
    _ block: RawSpan, into memory: inout MutableRawSpan, from start: Int
  ) -> Bool {
    let end = memory.byteCount
    precondition(start >= 0 && start <= end)
    if start == end { return block.byteCount == 1 && block.byte(at: 0) == 0 }
    // Where a token's short counts can be served with whole words: 16 bytes can be read and
    // written for at most 14 literals, and an offset follows them; 18 bytes can be written for a
    // match of at most 18, which begins and ends before it would be too late.
    let lastShortInput = block.byteCount - 16
    let lastShortOutput = end - 37
    let lastShortMatch = end - 23
    var input = 0
    var output = start
    while input < block.byteCount {
      let token = block.byte(at: input)
      input += 1
      let literals = Int(token >> 4)
      if literals < LZ4Limits.openCount, input <= lastShortInput, output <= lastShortOutput {
        unsafe memory.copyUnchecked(SixteenBytes.self, from: block, at: input, to: output)
        input += literals
        output += literals
      } else {
        guard let count = count(literals, block, &input, limit: end - output),
          count <= block.byteCount - input
        else { return false }
        memory.copyLoosely(count, from: block, at: input, to: output)
        input += count
        output += count
        // A match ends at least five bytes before the end, so as many literals end here.
        if input == block.byteCount { return output == end }
        guard block.byteCount - input >= 2 else { return false }
      }
      let offset = unsafe Int(
        UInt16(littleEndian: block.uncheckedWord(at: input, as: UInt16.self)))
      input += 2
      let length = Int(token & 15)
      if length < LZ4Limits.openCount, offset >= 8, offset <= output, output <= lastShortMatch {
        let match = output - offset
        unsafe memory.copyUnchecked(UInt64.self, at: match, to: output)
        unsafe memory.copyUnchecked(UInt64.self, at: match + 8, to: output + 8)
        unsafe memory.copyUnchecked(UInt16.self, at: match + 16, to: output + 16)
        output += length + LZ4Limits.matchByteCount
        continue
      }
      let limit = end - output - LZ4Limits.matchEndDistance - LZ4Limits.matchByteCount
      guard offset >= 1, offset <= output, output <= end - LZ4Limits.matchStartDistance,
        let count = count(length, block, &input, limit: limit)
      else { return false }
      memory.repeatBytes(from: offset, back: output, count: count + LZ4Limits.matchByteCount)
      output += count + LZ4Limits.matchByteCount
    }
    return false
  }

  /// A count of a token with the bytes of it that follow; `nil` when it is above `limit`.
  @inline(__always)
  private static func count(
    _ nibble: Int, _ block: RawSpan, _ input: inout Int, limit: Int
  ) -> Int? {
    var count = nibble
    if nibble == LZ4Limits.openCount {
      while true {
        // Looked at for each byte, so that no sum of forged ones overflows.
        guard count <= limit, input < block.byteCount else { return nil }
        let byte = block.byte(at: input)
        input += 1
        count += Int(byte)
        if byte != 255 { break }
      }
    }
    return count <= limit ? count : nil
  }
}

extension MutableRawSpan {
  /// Writes `count` bytes at `output` that repeat what lies `offset` bytes in front of each.
  @inline(__always)
  fileprivate mutating func repeatBytes(from offset: Int, back output: Int, count: Int) {
    var distance = offset
    var done = 0
    if offset < 16 {
      // Every multiple of the offset refers to the same byte; one of at least 16 allows words.
      while distance < 16 { distance += offset }
      let first = min(count, distance - offset)
      while done < first {
        copy(UInt8.self, at: output + done - offset, to: output + done)
        done += 1
      }
    }
    if count <= byteCount - output - 32 {
      // What is written too much is written again.
      while done < count {
        copy(SixteenBytes.self, at: output + done - distance, to: output + done)
        copy(SixteenBytes.self, at: output + done - distance + 16, to: output + done + 16)
        done += 32
      }
      return
    }
    while done + 16 <= count {
      copy(SixteenBytes.self, at: output + done - distance, to: output + done)
      done += 16
    }
    if count - done >= 8 {
      copy(UInt64.self, at: output + done - distance, to: output + done)
      done += 8
    }
    while done < count {
      copy(UInt8.self, at: output + done - distance, to: output + done)
      done += 1
    }
  }
}
