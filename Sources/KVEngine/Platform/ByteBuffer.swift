/// A fixed stretch of memory for bytes read from disk or decoded, shared without copies.
///
/// `@unchecked Sendable`: filled by its maker before anyone else sees it, never changed after.
@safe
package final class ByteBuffer: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  private let capacity: Int
  // Changed by the maker only, before others see it: the dynamic check would cost every read.
  @exclusivity(unchecked) private var count: Int

  /// Allocates room for that many bytes, not initialised.
  package init(byteCount: Int) {
    capacity = max(byteCount, 1)
    // A larger alignment would take the slow way through posix_memalign.
    unsafe start = .allocate(byteCount: capacity, alignment: 8)
    unsafe count = byteCount
  }

  /// No bytes: what a place for a buffer holds first, without an allocation of its own.
  package static let empty = ByteBuffer(byteCount: 0)

  /// Makes `buffer` hold `byteCount` bytes, not initialised, in the memory it has where possible.
  ///
  /// A fresh page costs 2.4 us, about as much as decoding a block. Memory that somebody else can
  /// see is left to them, and the memory of one huge value is not kept for small blocks.
  package static func renew(_ buffer: inout ByteBuffer, byteCount: Int) {
    let isOversized = buffer.capacity > max(4 * byteCount, Limits.Block.reusedByteCount)
    if byteCount <= buffer.capacity, !isOversized, isKnownUniquelyReferenced(&buffer) {
      unsafe buffer.count = byteCount
    } else {
      buffer = ByteBuffer(byteCount: byteCount)
    }
  }

  /// Copies the bytes of an array.
  package convenience init(copying bytes: [UInt8]) {
    self.init(copying: bytes.rawBytes)
  }

  /// Copies bytes.
  package convenience init(copying bytes: RawSpan) {
    self.init(byteCount: bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      unsafe storage.copyMemory(from: source)
    }
  }

  /// Makes `buffer` hold a copy of bytes, in the memory it has where possible.
  package static func assign(_ bytes: RawSpan, to buffer: inout ByteBuffer) {
    renew(&buffer, byteCount: bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      unsafe buffer.storage.copyMemory(from: source)
    }
  }

  deinit {
    unsafe start.deallocate()
  }

  /// Number of bytes.
  package var byteCount: Int { unsafe count }

  /// The bytes, for the maker only.
  package var storage: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  /// Gives up the bytes behind `byteCount`, which is at most what there is.
  ///
  /// For the maker only.
  package func truncate(to byteCount: Int) {
    unsafe precondition(byteCount >= 0 && byteCount <= count)
    unsafe count = byteCount
  }

  /// The bytes, for as long as the buffer is borrowed.
  package var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let span = unsafe RawSpan(_unsafeStart: start, byteCount: count)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Part of the bytes, for as long as `owner`, which keeps this buffer, is borrowed.
  ///
  /// Traps when the range is not inside the buffer: ranges are checked when they are decoded.
  @_lifetime(borrow owner)
  package func bytes<Owner: AnyObject>(
    _ range: Range<Int>, keptBy owner: borrowing Owner
  ) -> RawSpan {
    unsafe precondition(range.lowerBound >= 0 && range.upperBound <= count)
    let span = unsafe RawSpan(_unsafeStart: start + range.lowerBound, byteCount: range.count)
    return unsafe _overrideLifetime(span, borrowing: owner)
  }

  /// All bytes, for as long as `owner`, which keeps this buffer, is borrowed.
  @_lifetime(borrow owner)
  package func bytes<Owner: AnyObject>(keptBy owner: borrowing Owner) -> RawSpan {
    bytes(0..<byteCount, keptBy: owner)
  }
}
