#if SystemLZ4 && canImport(CLZ4)
  import KVTestSupport
  import Testing

  @testable import LZ4Blocks

  /// liblz4 and our own codec, against each other.
  @Suite struct LZ4LibraryTests {
    private static let dictionaryByteCount = 32 << 10

    private func encoders() -> [any LZ4Encoder] {
      [
        LZ4FastEncoder(), LZ4DenseEncoder(), LZ4LibraryEncoder(isTight: false),
        LZ4LibraryEncoder(isTight: true),
      ]
    }

    /// What both decoders say, which is the same.
    private func decode(
      _ block: [UInt8], _ byteCount: Int, behind dictionary: [UInt8], _ place: String
    ) -> [UInt8]? {
      let ours = BlockSample.decode(block, byteCount: byteCount, behind: dictionary)
      let theirs = BlockSample.decode(block, byteCount: byteCount, behind: dictionary) {
        LibraryDecoder.decompress($0, into: &$1, from: $2)
      }
      #expect(ours == theirs, "\(place)")
      return ours
    }

    /// A block of each encoder, behind a dictionary or without.
    private func blocks(_ bytes: [UInt8], behind dictionary: [UInt8]) -> [[UInt8]] {
      let start = dictionary.count
      let whole = dictionary + bytes
      let room = bytes.count + bytes.count / 200 + 32
      return encoders().compactMap { encoder in
        var encoder = encoder
        var target = [UInt8](repeating: 0, count: room)
        // liblz4 wants the dictionary in the place where it was given.
        let count = whole.withUnsafeBytes { whole in
          if start > 0 {
            let front = UnsafeRawBufferPointer(rebasing: whole[..<start])
            encoder.use(dictionary: RawSpan(_unsafeBytes: front))
          }
          return target.withUnsafeMutableBytes { target in
            var span = MutableRawSpan(_unsafeBytes: target)
            return encoder.encode(RawSpan(_unsafeBytes: whole), from: start, into: &span)
          }
        }
        return count.map { Array(target[..<$0]) }
      }
    }

    @Test(arguments: [0, 1 << 15], [false, true])
    func everyEncoderFitsEveryDecoder(dictionaryByteCount: Int, isText: Bool) {
      let text = isText ? BlockSample.text : BlockSample.generated(seed: 2, 200_000, letters: 5)
      let dictionary = Array(text.suffix(dictionaryByteCount))
      let sizes =
        Array(0...30) + [100, 255, 1000, 4096, 16_384, 20_000] + Array(65_500...65_540)
      for size in sizes where dictionaryByteCount == 0 || size <= 65_536 {
        let start = size * 7 % 50_000
        let bytes = Array(text[start..<start + size])
        let blocks = blocks(bytes, behind: dictionary)
        #expect(blocks.count == 4, "size \(size)")
        for block in blocks {
          #expect(decode(block, size, behind: dictionary, "size \(size)") == bytes)
        }
      }
    }

    /// Blocks of all encoders, each with a few bytes changed, cut, or put in.
    @Test(arguments: BlockSample.seeds(20), [0, 300, 1 << 15])
    func damagedBlocksGetTheSameVerdict(seed: UInt64, dictionaryByteCount: Int) {
      var random = SeededGenerator(seed: seed)
      let dictionary = Array(BlockSample.text.suffix(dictionaryByteCount))
      var validCount = 0
      for size in [40, 90, 200, 500, seed == 1 ? 20_000 : 1000] {
        let start = Int.random(in: 0..<100_000, using: &random)
        let bytes = Array(BlockSample.text[start..<start + size])
        for block in blocks(bytes, behind: dictionary) {
          for round in 0..<100 {
            let changed = damaged(block, &random)
            let place = "seed \(seed), dictionary \(dictionaryByteCount), size \(size), \(round)"
            let decoded = decode(changed, size, behind: dictionary, place)
            validCount += decoded == nil ? 0 : 1
          }
        }
      }
      #expect(validCount > 100 && validCount < 1900, "seed \(seed)")
    }

    private func damaged(_ block: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
      var block = block
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        // Half of them near the end, where most rules are about.
        let first = Bool.random(using: &random) ? 0 : max(0, block.count - 24)
        let index = Int.random(in: first..<max(first + 1, block.count), using: &random)
        guard index < block.count else { continue }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: block.remove(at: index)
        case 1: block.insert(UInt8.random(in: 0...255, using: &random), at: index)
        case 2: block[index] = 0
        case 3: block[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 4: block[index] = block[index] &+ 1
        case 5: block[index] = block[index] &- 16
        default: block[index] = UInt8.random(in: 0...255, using: &random)
        }
      }
      return block
    }

    /// The shapes that liblz4 alone would take are among these.
    @Test(arguments: BlockSample.seeds(20))
    func forgedBlocksGetTheSameVerdict(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      for round in 0..<2000 {
        let forged = ForgedBlock(&random)
        let dictionary = BlockSample.generated(seed: 5, forged.dictionaryByteCount)
        let place = "seed \(seed), round \(round): \(forged.bytes)"
        _ = decode(forged.bytes, forged.byteCount, behind: dictionary, place)
      }
    }

    @Test func fourZerosAreFoundAtEveryPlace() {
      func find(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { LibraryLeniency.hasFourZeros(RawSpan(_unsafeBytes: $0)) }
      }
      for count in [4, 5, 63, 64, 65, 67, 68, 130, 200] {
        for place in 0...(count - 4) {
          for run in 3...5 where place + run <= count {
            var bytes = [UInt8](repeating: 1, count: count)
            for index in place..<place + run { bytes[index] = 0 }
            #expect(find(bytes) == (run >= 4), "\(run) zeros at \(place) of \(count)")
          }
        }
      }
      #expect(!find([]))
    }
  }
#endif
