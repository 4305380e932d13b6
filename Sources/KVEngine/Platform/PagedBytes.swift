/// The bytes of a file in pages, so that copies share every page that none of them changes.
///
/// A write copies the pages it touches at most, whatever the length. An empty array stands for a
/// page of zeros; every other page has `pageByteCount` bytes, those behind the end being zero.
package struct PagedBytes: Sendable {
  /// Bytes of a page.
  package static let pageByteCount = 4096
  /// The longest file, 64 GiB: bounds the list of pages of a file that is mostly a hole.
  package static let maximumByteCount = 1 << 36

  private var pages: [[UInt8]] = []
  /// Bytes up to the end of the file.
  package private(set) var byteCount = 0

  /// Makes an empty file.
  package init() {}

  /// Copies bytes from an offset, at least 0, into a buffer, and returns how many there were.
  package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard offset < byteCount else { return 0 }
    let count = min(buffer.count, byteCount - offset)
    Self.forEachPage(of: offset, count: count) { page, start, range in
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[range])
      if pages[page].isEmpty {
        unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
      } else {
        unsafe pages[page].withUnsafeBytes { bytes in
          let source = unsafe bytes[start..<start + range.count]
          unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
        }
      }
    }
    return count
  }

  /// Copies bytes to an offset; zeros fill what lies between the old end and the offset.
  ///
  /// The end must not lie behind `maximumByteCount`.
  package mutating func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) {
    guard buffer.count > 0 else { return }
    extend(to: offset + buffer.count)
    Self.forEachPage(of: offset, count: buffer.count) { page, start, range in
      if pages[page].isEmpty {
        pages[page] = [UInt8](repeating: 0, count: Self.pageByteCount)
      }
      unsafe pages[page].withUnsafeMutableBytes { bytes in
        let target = unsafe UnsafeMutableRawBufferPointer(
          rebasing: bytes[start..<start + range.count])
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[range]))
      }
    }
  }

  /// Moves the end behind, over zeros; a longer file stays as it is.
  package mutating func extend(to byteCount: Int) {
    guard byteCount > self.byteCount else { return }
    precondition(byteCount <= Self.maximumByteCount)
    self.byteCount = byteCount
    let pageCount = (byteCount + Self.pageByteCount - 1) / Self.pageByteCount
    while pages.count < pageCount { pages.append([]) }
  }

  /// Splits a stretch at the borders of pages: page, offset in it, range of the stretch.
  private static func forEachPage(
    of offset: Int, count: Int, _ body: (Int, Int, Range<Int>) -> Void
  ) {
    var done = 0
    while done < count {
      let (page, start) = (offset + done).quotientAndRemainder(dividingBy: pageByteCount)
      let step = min(count - done, pageByteCount - start)
      body(page, start, done..<done + step)
      done += step
    }
  }
}
