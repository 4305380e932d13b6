package import KVEngine

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#else
  #error("kvinspect needs the C library of Linux or an Apple system")
#endif

/// Reads a file or a pipe line by line, of any size, in bounded memory.
package struct LineReader: ~Copyable {
  /// One line without its line feed.
  package struct Line: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
      case bytes([UInt8])
      /// The line is longer than the reader's limit; its bytes were skipped.
      case tooLong(byteCount: Int)
    }

    /// Counts from 1.
    package let number: Int
    package let content: Content
  }

  /// Twice the bytes of the largest memo, which leaves room for the escapes of ordinary text.
  package static let standardLineByteCount = 128 << 20

  private let descriptor: Int32
  private let ownsDescriptor: Bool
  /// What to call the source in errors.
  private let name: String
  private let maximumLineByteCount: Int

  private var chunk: [UInt8]
  private var position = 0
  private var filled = 0
  private var isAtEnd = false
  private var lineCount = 0
  private var consumedByteCount = 0
  /// Bytes of the source, 0 when it is no regular file.
  private let totalByteCount: Int

  /// Reads from a descriptor, which stays open.
  package init(
    descriptor: Int32, name: String, maximumLineByteCount: Int = standardLineByteCount,
    chunkByteCount: Int = 256 << 10
  ) {
    self.init(
      descriptor: descriptor, ownsDescriptor: false, name: name,
      maximumLineByteCount: maximumLineByteCount, chunkByteCount: chunkByteCount)
  }

  /// Opens a file for reading.
  package init(
    path: String, maximumLineByteCount: Int = standardLineByteCount,
    chunkByteCount: Int = 256 << 10
  ) throws(SystemError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError(.open, path, code: errno) }
    self.init(
      descriptor: descriptor, ownsDescriptor: true, name: path,
      maximumLineByteCount: maximumLineByteCount, chunkByteCount: chunkByteCount)
  }

  private init(
    descriptor: Int32, ownsDescriptor: Bool, name: String, maximumLineByteCount: Int,
    chunkByteCount: Int
  ) {
    self.descriptor = descriptor
    self.ownsDescriptor = ownsDescriptor
    self.name = name
    self.maximumLineByteCount = maximumLineByteCount
    chunk = [UInt8](repeating: 0, count: chunkByteCount)
    var status = stat()
    let isRegular =
      unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    totalByteCount = isRegular ? Int(status.st_size) : 0
  }

  /// How much of the source was read, from 0 to 1; `nil` for one without a known end.
  package var fraction: Double? {
    guard totalByteCount > 0 else { return nil }
    return min(1, Double(consumedByteCount - filled + position) / Double(totalByteCount))
  }

  deinit {
    if ownsDescriptor { close(descriptor) }
  }

  /// The next line, `nil` at the end; bytes behind the last line feed are a line too.
  package mutating func next() throws(SystemError) -> Line? {
    var line: [UInt8] = []
    var byteCount = 0
    while true {
      if position == filled {
        try fill()
        if isAtEnd {
          guard byteCount > 0 else { return nil }
          break
        }
      }
      let rest = chunk[position..<filled]
      let lineFeed = rest.firstIndex(of: UInt8(ascii: "\n"))
      let part = rest[..<(lineFeed ?? filled)]
      byteCount += part.count
      if byteCount <= maximumLineByteCount { line.append(contentsOf: part) } else { line = [] }
      position = part.endIndex
      if lineFeed != nil {
        position += 1
        break
      }
    }
    lineCount += 1
    let isTooLong = byteCount > maximumLineByteCount
    return Line(
      number: lineCount, content: isTooLong ? .tooLong(byteCount: byteCount) : .bytes(line))
  }

  /// Replaces the chunk, which was used up, by the next bytes of the source.
  private mutating func fill() throws(SystemError) {
    if isAtEnd { return }
    position = 0
    filled = 0
    while true {
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count > 0 { filled = count } else if count == 0 { isAtEnd = true }
      consumedByteCount += max(count, 0)
      if count >= 0 { return }
      switch errno {
      case EINTR: continue
      case EAGAIN: waitUntilReady(descriptor, for: POLLIN)
      default: throw SystemError(.read, name, code: errno)
      }
    }
  }
}
