import Testing

@testable import LZ4Blocks

@Suite struct LZ4EncoderTests {
  static let sizes =
    Array(0...40) + [64, 255, 256, 270, 4095, 4096, 16_384, 20_000]
    + [65_534, 65_535, 65_536, 65_537, 65_600]

  /// What the encoders of this build are, and our own in any case.
  static let makers: [@Sendable (Bool) -> any LZ4Encoder] = [
    { BlockSample.makeEncoder(isTight: $0) }, { LZ4BlockCodec.makeEncoder(isTight: $0) },
  ]

  /// One encoder for all of them, so that what it keeps of one block is met by the next.
  @Test(arguments: [false, true], [1, 4, 26, 255] as [UInt8])
  func everyBlockComesBack(isTight: Bool, letters: UInt8) throws {
    for makeEncoder in Self.makers {
      var encoder = makeEncoder(isTight)
      for size in Self.sizes {
        let bytes = BlockSample.generated(seed: UInt64(size), size, letters: letters)
        let block = try #require(BlockSample.encode(bytes, with: &encoder))
        let decoded = BlockSample.decode(block, byteCount: size)
        #expect(decoded == bytes, "size \(size)")
      }
    }
  }

  @Test(arguments: [false, true], [8, 100, 32_768])
  func everyBlockBehindADictionaryComesBack(isTight: Bool, dictionaryByteCount: Int) throws {
    let text = BlockSample.text
    let dictionary = Array(text.prefix(dictionaryByteCount))
    var encoder = BlockSample.makeEncoder(isTight: isTight)
    dictionary.withUnsafeBytes { encoder.use(dictionary: RawSpan(_unsafeBytes: $0)) }
    for size in Self.sizes {
      for part in [text[size..<2 * size], text[..<size]] {
        let start = dictionaryByteCount
        let block = try #require(
          BlockSample.encode(dictionary + part, from: start, with: &encoder))
        let decoded = BlockSample.decode(block, byteCount: size, behind: dictionary)
        #expect(decoded.map { $0.elementsEqual(part) } == true, "size \(size)")
        // The dictionary is used: a block that begins as it does is almost nothing.
        if size > 1000, size <= start, part.startIndex == 0 { #expect(block.count < 400) }
      }
      // One without in between.
      let alone = Array(text[..<size])
      let block = try #require(BlockSample.encode(alone, with: &encoder))
      #expect(BlockSample.decode(block, byteCount: size) == alone, "size \(size)")
    }
  }

  /// Of blocks so large that they replace what is known of the dictionary, nothing is left either.
  @Test(arguments: [false, true])
  func aBlockDoesNotDependOnThoseBefore(isTight: Bool) throws {
    let text = BlockSample.text
    let dictionary = Array(text.prefix(32_768))
    let source = dictionary + text[20_000..<24_000]
    var encoder = BlockSample.makeEncoder(isTight: isTight)
    dictionary.withUnsafeBytes { encoder.use(dictionary: RawSpan(_unsafeBytes: $0)) }
    let first = try #require(BlockSample.encode(source, from: 32_768, with: &encoder))
    for (other, start) in [
      (Array(text.suffix(100_000)), 0), (dictionary + text.suffix(65_536), 32_768),
      (Array(text[50_000..<54_000]), 0),
    ] {
      _ = try #require(BlockSample.encode(other, from: start, with: &encoder))
      let again = try #require(BlockSample.encode(source, from: 32_768, with: &encoder))
      #expect(again == first)
    }
  }

  /// Nothing is written behind the target, however small it is.
  @Test(arguments: [false, true])
  func aBlockFitsOrIsNotMade(isTight: Bool) throws {
    var encoder = BlockSample.makeEncoder(isTight: isTight)
    for size in [0, 1, 20, 300, 600] {
      for letters in [1, 3, 255] as [UInt8] {
        let bytes = BlockSample.generated(seed: 9, size, letters: letters)
        let whole = try #require(BlockSample.encode(bytes, with: &encoder))
        for room in 0...(whole.count + 40) {
          let block = BlockSample.encode(bytes, with: &encoder, room: room)
          #expect(block == nil ? room < whole.count + 5 : block == whole, "room \(room)")
          if room < whole.count { #expect(block == nil) }
        }
      }
    }
  }

  @Test func aDenseBlockIsSmaller() throws {
    var fast = BlockSample.makeEncoder(isTight: false)
    var dense = BlockSample.makeEncoder(isTight: true)
    for size in [4096, 16_384, 200_000] {
      let bytes = Array(BlockSample.text.prefix(size))
      let first = try #require(BlockSample.encode(bytes, with: &fast))
      let second = try #require(BlockSample.encode(bytes, with: &dense))
      #expect(second.count < first.count && first.count < size)
    }
  }

  @Test func longRunsAreOneMatch() throws {
    for isTight in [false, true] {
      var encoder = BlockSample.makeEncoder(isTight: isTight)
      let bytes = [UInt8](repeating: 7, count: 60_000)
      let block = try #require(BlockSample.encode(bytes, with: &encoder))
      #expect(block.count < 260)
      #expect(BlockSample.decode(block, byteCount: 60_000) == bytes)
    }
  }
}
