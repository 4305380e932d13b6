/// The key of a position in a block, or its value, in memory that only grows and stays where it is
/// until then.
///
/// An array that shrinks and grows again costs 40 ns per entry; this costs the copy.
@safe
struct KeyBuffer: ~Copyable {
  private var start = unsafe UnsafeMutableRawPointer?.none
  private var capacity = 0
  private(set) var byteCount = 0

  deinit {
    unsafe start?.deallocate()
  }

  /// The key, until it changes.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let span = unsafe RawSpan(
        _unsafeBytes: UnsafeRawBufferPointer(start: start, count: byteCount))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Keeps the first bytes of the key and puts others behind them.
  ///
  /// - Precondition: `shared` is not more than the key has.
  @inline(__always)
  mutating func replace(after shared: Int, with rest: RawSpan) {
    precondition(shared >= 0 && shared <= byteCount)
    byteCount = shared + rest.byteCount
    if byteCount > capacity { grow(keeping: shared) }
    unsafe rest.withUnsafeBytes { source in
      if let start = unsafe start, let first = source.baseAddress {
        unsafe (start + shared).copyMemory(from: first, byteCount: source.count)
      }
    }
  }

  /// The same with bytes of another buffer.
  @inline(__always)
  mutating func replace(after shared: Int, with range: Range<Int>, of other: borrowing KeyBuffer) {
    replace(after: shared, with: other.bytes.extracting(range))
  }

  /// Forgets the key; the memory stays.
  mutating func removeAll() {
    byteCount = 0
  }

  @inline(never)
  private mutating func grow(keeping count: Int) {
    // Keys grow little by little; what is large is a value, of which there may be one.
    capacity = byteCount < 1 << 16 ? max(64, 2 * byteCount) : byteCount
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    if let start = unsafe start {
      unsafe larger.copyMemory(from: start, byteCount: count)
      unsafe start.deallocate()
    }
    unsafe start = larger
  }
}
