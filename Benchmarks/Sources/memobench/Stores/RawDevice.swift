import Glibc

/// A file written without any engine: the floor under every durable insert.
final class RawDevice {
  private let descriptor: Int32
  private let byteCount: Int
  private var offset = 0

  /// Makes a file.
  ///
  /// - Parameters:
  ///   - path: Where; replaced when it is there.
  ///   - byteCount: Bytes of zeros written and synced ahead, which later writes overwrite; 0 makes
  ///     a file that grows with each write.
  /// - Throws: When the file cannot be written.
  init(_ path: String, overwriting byteCount: Int) throws(BenchmarkError) {
    descriptor = Glibc.open(path, O_CREAT | O_TRUNC | O_RDWR, 0o644)
    self.byteCount = byteCount
    guard descriptor >= 0 else { throw BenchmarkError("cannot make \(path)") }
    let zeros = [UInt8](repeating: 0, count: byteCount)
    if byteCount > 0, pwrite(descriptor, zeros, byteCount, 0) != byteCount {
      throw BenchmarkError("cannot write \(path)")
    }
    fsync(descriptor)
  }

  deinit {
    Glibc.close(descriptor)
  }

  /// What a durable insert has to write at least.
  static func bytes(of memo: NewMemo) -> [UInt8] {
    Record.value(memo) + Record.key(of: memo.id) + Record.key(of: memo.id)
  }

  /// Writes bytes behind the ones before and waits for the device.
  func write(_ bytes: [UInt8]) throws(BenchmarkError) {
    if byteCount > 0, offset + bytes.count > byteCount { offset = 0 }
    guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count,
      fdatasync(descriptor) == 0
    else { throw BenchmarkError("the raw write failed: error \(errno)") }
    // As a log would: aligned to eight.
    offset += (bytes.count + 7) & ~7
  }
}
