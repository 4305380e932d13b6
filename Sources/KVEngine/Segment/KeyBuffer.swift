/// The key of a position in a block, in memory that only grows and stays where it is until then.
///
/// An array that shrinks and grows again costs 40 ns per entry; this costs the copy.
@safe
struct KeyBuffer: ~Copyable {
  private var allocation = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private(set) var byteCount = 0

  deinit {
    unsafe allocation.deallocate()
  }

  /// The key, until it changes.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let span = unsafe RawSpan(
        _unsafeBytes: UnsafeRawBufferPointer(rebasing: allocation[..<byteCount]))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Keeps the first bytes of the key and puts others behind them.
  ///
  /// - Precondition: `shared` is not more than the key has.
  mutating func replace(after shared: Int, with rest: RawSpan) {
    precondition(shared >= 0 && shared <= byteCount)
    byteCount = shared + rest.byteCount
    if unsafe byteCount > allocation.count { grow(keeping: shared) }
    unsafe rest.withUnsafeBytes { source in
      unsafe UnsafeMutableRawBufferPointer(rebasing: allocation[shared...]).copyMemory(from: source)
    }
  }

  private mutating func grow(keeping count: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(64, 2 * byteCount), alignment: 8)
    let kept = unsafe UnsafeRawBufferPointer(rebasing: allocation[..<count])
    unsafe larger.copyMemory(from: kept)
    unsafe allocation.deallocate()
    unsafe allocation = larger
  }
}
