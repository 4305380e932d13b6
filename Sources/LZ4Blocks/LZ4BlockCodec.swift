/// Makes LZ4 blocks (FORMAT.md 7.8).
///
/// They are made by liblz4 with the trait SystemLZ4, else by our own encoders; what these make of
/// the same bytes differs. They are read by our own decoder everywhere: there is one answer to what
/// is a valid block, and liblz4 with a search for what it takes too much is not faster.
package enum LZ4BlockCodec {
  /// Makes a block fast.
  ///
  /// - Returns: How many bytes the block has, `nil` when it does not fit into the target.
  package static func compress(_ source: RawSpan, into target: inout MutableRawSpan) -> Int? {
    #if SystemLZ4 && canImport(CLZ4)
      return LZ4Library.compress(source, into: &target)
    #else
      var encoder = LZ4FastEncoder()
      return encoder.encode(source, from: 0, into: &target)
    #endif
  }

  /// Makes an encoder; a tight one takes ten times as long and saves a fifth.
  ///
  /// A dictionary lies in the same place when it is given to the encoder and when a source begins
  /// with it: liblz4 keeps its address.
  package static func makeEncoder(isTight: Bool) -> any LZ4Encoder {
    #if SystemLZ4 && canImport(CLZ4)
      return LZ4LibraryEncoder(isTight: isTight)
    #else
      return isTight ? LZ4DenseEncoder() : LZ4FastEncoder()
    #endif
  }
}
