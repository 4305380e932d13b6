import Testing

@testable import KVEngine

@Suite struct LZ4CodecTests {
  private func compress(_ bytes: [UInt8]) -> [UInt8]? {
    let target = ByteBuffer(byteCount: bytes.count + bytes.count / 200 + 32)
    return LZ4Codec.compress(bytes.rawBytes, into: target.storage).map {
      Array([UInt8](copying: target.bytes).prefix($0))
    }
  }

  /// Decodes into memory with a guard behind it, which nothing may touch.
  private func decompress(_ block: [UInt8], byteCount: Int) throws(FormatError) -> [UInt8] {
    let guardByteCount = 64
    let memory = ByteBuffer(copying: [UInt8](repeating: 0xA5, count: byteCount + 64).rawBytes)
    let target = UnsafeMutableRawBufferPointer(rebasing: memory.storage[..<byteCount])
    defer { #expect(memory.storage[byteCount...].allSatisfy { $0 == 0xA5 }) }
    #expect(memory.byteCount == byteCount + guardByteCount)
    try LZ4Codec.decompress(block.rawBytes, into: target)
    return Array(target)
  }

  private func sample(_ seed: UInt64, _ count: Int, letters: UInt8) -> [UInt8] {
    var random = SegmentTestRandom(seed: seed)
    var bytes: [UInt8] = []
    while bytes.count < count {
      if !bytes.isEmpty, Bool.random(using: &random) {
        let start = Int.random(in: 0..<bytes.count, using: &random)
        bytes.append(contentsOf: Array(bytes[start...].prefix(40)))
      } else {
        bytes.append(UInt8.random(in: 0..<letters, using: &random))
      }
    }
    return Array(bytes.prefix(count))
  }

  @Test(arguments: [0, 1, 5, 12, 13, 64, 255, 4096, 70_000], [1, 4, 255] as [UInt8])
  func everyBlockComesBack(count: Int, letters: UInt8) throws {
    let bytes = sample(UInt64(count), count, letters: letters)
    let block = try #require(compress(bytes))
    #expect(try decompress(block, byteCount: count) == bytes)
  }

  @Test func aBlockThatDoesNotFitIsNotMade() {
    var random = SegmentTestRandom(seed: 1)
    let bytes = (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) }
    let target = ByteBuffer(byteCount: 499)
    let empty = ByteBuffer(byteCount: 0)
    let counts = [target, empty].map { LZ4Codec.compress(bytes.rawBytes, into: $0.storage) }
    #expect(counts == [nil, nil])
  }

  @Test(.bug(id: "B106"), arguments: [UInt64](1...4))
  func aWrongSizeIsRefused(seed: UInt64) throws {
    let bytes = sample(seed, 900, letters: 5)
    let block = try #require(compress(bytes))
    for byteCount in [0, 1, 12, 899, 901, 1800, 100_000] {
      #expect(throws: FormatError.self, "seed \(seed), size \(byteCount)") {
        try decompress(block, byteCount: byteCount)
      }
    }
  }

  @Test(.bug(id: "B106"), arguments: [UInt64](1...4))
  func cutBlocksAndBlocksWithMoreBehindAreRefused(seed: UInt64) throws {
    let bytes = sample(seed, 700, letters: 6)
    let block = try #require(compress(bytes))
    for count in 0..<block.count {
      #expect(throws: FormatError.self, "seed \(seed), cut at \(count)") {
        try decompress(Array(block.prefix(count)), byteCount: 700)
      }
    }
    for garbage in [[0], [0xFF], [0x10, 0x41], [0, 0, 0, 0]] as [[UInt8]] {
      #expect(throws: FormatError.self, "seed \(seed)") {
        try decompress(block + garbage, byteCount: 700)
      }
    }
  }

  @Test func theEmptyBlockIsOneZeroByte() throws {
    #expect(compress([]) == [0])
    #expect(try decompress([0], byteCount: 0) == [])
    #expect(throws: FormatError.self) { try decompress([], byteCount: 0) }
    #expect(throws: FormatError.self) { try decompress([1], byteCount: 0) }
    #expect(throws: FormatError.self) { try decompress([0, 0], byteCount: 0) }
  }

  @Test func withoutMemoryNothingIsDecoded() {
    let nowhere = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    let block: [UInt8] = [0]
    #expect(throws: FormatError("LZ4 block", at: 0, "size is out of range")) {
      try LZ4Codec.decompress(block.rawBytes, into: nowhere)
    }
  }

  @Test(.bug(id: "B106")) func lengthsWithoutEndAreRefused() throws {
    for token in [0xF0, 0x0F, 0xFF] as [UInt8] {
      for count in [1, 20, 5000] {
        let block = [token, 0x41, 1, 0] + [UInt8](repeating: 255, count: count)
        #expect(throws: FormatError.self) { try decompress(block, byteCount: 4096) }
      }
    }
  }

  @Test(.bug(id: "B106")) func offsetsBeforeTheOutputAreRefused() {
    for offset in [2, 3, 16, 255, 65_535] {
      let bytes: [UInt8] = [0x10, 0x41, UInt8(offset & 255), UInt8(offset >> 8), 0x50]
      let block = bytes + [1, 2, 3, 4, 5]
      #expect(throws: FormatError.self) { try decompress(block, byteCount: 10) }
    }
  }

  /// liblz4 takes an offset of 0.
  @Test(arguments: 0...40, [0, 1, 11, 14, 40, 300])
  func anOffsetOfZeroIsRefusedWhereverItIs(literalCount: Int, matchExtra: Int) {
    let literals = [UInt8](repeating: 0x41, count: literalCount)
    var block = [UInt8(min(literalCount, 15) << 4 | min(matchExtra, 15))]
    if literalCount >= 15 { block.append(UInt8(literalCount - 15)) }
    block += literals + [0, 0]
    if matchExtra >= 15 {
      var rest = matchExtra - 15
      while rest >= 255 {
        block.append(255)
        rest -= 255
      }
      block.append(UInt8(rest))
    }
    // Sound matches behind it, so that it is met in every part of the decoder.
    for matches in 0...20 {
      var whole = block
      for _ in 0..<matches { whole += [0x1F, 0x42, 1, 0, 0] }
      whole += [0xF0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
      let byteCount = literalCount + matchExtra + 4 + matches * 20 + 15
      #expect(throws: FormatError.self) { try decompress(whole, byteCount: byteCount) }
    }
  }

  @Test(arguments: [UInt64](1...3))
  func changedBytesNeverReachBeyondTheOutput(seed: UInt64) throws {
    var random = SegmentTestRandom(seed: seed)
    let bytes = sample(seed, 600, letters: 3)
    let block = try #require(compress(bytes))
    for _ in 0..<3000 {
      var changed = block
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<changed.count, using: &random)
        changed[place] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? decompress(changed, byteCount: 600)
    }
  }
}
