/// The key of a position in a block, in memory that only grows.
///
/// An array that shrinks and grows again costs 40 ns per entry; this costs the copy.
struct KeyBuffer {
  private var storage: [UInt8] = []
  private(set) var byteCount = 0

  /// The key, until it changes.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get { storage.rawBytes.extracting(first: byteCount) }
  }

  /// Keeps the first bytes of the key and puts others behind them.
  mutating func replace(after shared: Int, with rest: RawSpan) {
    byteCount = shared + rest.byteCount
    if byteCount > storage.count {
      storage.append(contentsOf: repeatElement(0, count: byteCount - storage.count))
    }
    // Safe: the storage has room for `shared` and all of `rest` now.
    unsafe storage.withUnsafeMutableBytes { target in
      unsafe rest.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[shared...]).copyMemory(from: source)
      }
    }
  }
}
