// The one door to LZ4 (FORMAT.md 7.8): blocks without a frame, whose sizes the caller knows.

internal import LZ4Blocks

/// Compresses and decompresses LZ4 blocks.
enum LZ4Codec {
  /// Compresses bytes into a buffer.
  ///
  /// - Returns: How many bytes the block has, `nil` when it does not fit into the buffer.
  static func compress(_ source: RawSpan, into target: UnsafeMutableRawBufferPointer) -> Int? {
    guard source.byteCount <= Int(Int32.max), target.count <= Int(Int32.max) else { return nil }
    var target = unsafe MutableRawSpan(_unsafeBytes: target)
    return LZ4BlockCodec.compress(source, into: &target)
  }

  /// Fills a buffer with what a block decodes to; any other decoded size is an error.
  ///
  /// Matches may reach into the `prefixByteCount` bytes that lie in front of the buffer.
  static func decompress(
    _ source: RawSpan, into target: UnsafeMutableRawBufferPointer, prefixByteCount: Int = 0
  ) throws(FormatError) {
    guard source.byteCount <= Int(Int32.max), target.count <= Int(Int32.max),
      let start = target.baseAddress
    else {
      throw FormatError("LZ4 block", at: 0, "size is out of range")
    }
    var memory = unsafe MutableRawSpan(
      _unsafeStart: start - prefixByteCount, byteCount: prefixByteCount + target.count)
    guard LZ4Decoder.decode(source, into: &memory, from: prefixByteCount) else {
      throw FormatError("LZ4 block", at: 0, "is not valid or does not decode to its size")
    }
  }
}

/// Compresses blocks, later ones with a dictionary in front of them.
final class LZ4DictionaryEncoder {
  private var encoder: any LZ4Encoder
  /// The dictionary, and room for a block behind it.
  private let memory = ByteBuffer(
    byteCount: Limits.Block.dictionaryByteCount + Limits.Block.dictionaryBlockByteCount)
  private var hasDictionary = false

  /// Makes an encoder; a tight one takes ten times as long and saves a fifth.
  init(isTight: Bool) {
    encoder = LZ4BlockCodec.makeEncoder(isTight: isTight)
  }

  /// Compresses later blocks with a dictionary.
  func use(dictionary: RawSpan) {
    precondition(dictionary.byteCount == Limits.Block.dictionaryByteCount)
    let memory = self.memory
    unsafe dictionary.withUnsafeBytes { unsafe memory.storage.copyMemory(from: $0) }
    encoder.use(dictionary: memory.bytes.extracting(first: dictionary.byteCount))
    hasDictionary = true
  }

  /// How a block of that many bytes is compressed.
  func codec(ofByteCount byteCount: Int) -> BlockCodecID {
    let isInReach = byteCount <= Limits.Block.dictionaryBlockByteCount
    return hasDictionary && isInReach ? .lz4WithDictionary : .lz4
  }

  /// Compresses bytes into a buffer, the way that ``codec(ofByteCount:)`` says.
  ///
  /// - Returns: How many bytes the block has, `nil` when it does not fit into the buffer.
  func compress(_ source: RawSpan, into target: UnsafeMutableRawBufferPointer) -> Int? {
    var target = unsafe MutableRawSpan(_unsafeBytes: target)
    guard codec(ofByteCount: source.byteCount) == .lz4WithDictionary else {
      return encoder.encode(source, from: 0, into: &target)
    }
    let start = Limits.Block.dictionaryByteCount
    let memory = self.memory
    unsafe source.withUnsafeBytes { unsafe memory.storage[start...].copyBytes(from: $0) }
    let whole = memory.bytes.extracting(first: start + source.byteCount)
    return encoder.encode(whole, from: start, into: &target)
  }
}
