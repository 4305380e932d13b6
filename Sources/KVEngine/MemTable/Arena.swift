/// Memory that is handed out in pieces and given back all at once.
///
/// Pieces never move, so a reader may hold a pointer to one while others are made. Chunks grow from
/// 16 KiB to 256 KiB: a process that writes one memo touches few pages.
@safe
struct Arena: ~Copyable {
  private var chunks: [UnsafeMutableRawPointer] = unsafe []
  private var free: UnsafeMutableRawPointer?
  private var freeByteCount = 0
  /// Bytes of all chunks.
  private(set) var byteCount = 0

  private static let smallestChunk = 16 << 10
  private static let largestChunk = 256 << 10

  init() {}

  deinit {
    unsafe chunks.forEach { unsafe $0.deallocate() }
  }

  /// A piece of memory aligned to 8 bytes, not initialised.
  mutating func allocate(byteCount wanted: Int) -> UnsafeMutableRawPointer {
    let rounded = (wanted + 7) / 8 * 8
    if let start = unsafe free, rounded <= freeByteCount {
      unsafe free = start + rounded
      freeByteCount -= rounded
      return unsafe start
    }
    let chunkByteCount = max(
      rounded, min(Self.largestChunk, max(Self.smallestChunk, byteCount)))
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkByteCount, alignment: 8)
    unsafe chunks.append(chunk)
    byteCount += chunkByteCount
    if chunkByteCount - rounded > freeByteCount {
      unsafe free = chunk + rounded
      freeByteCount = chunkByteCount - rounded
    }
    return unsafe chunk
  }
}
