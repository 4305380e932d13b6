package import KVEngine

extension FileSystem {
  /// All bytes of a file.
  package func bytes(of path: String) throws -> [UInt8] {
    try open(path, .read).bytes()
  }

  /// Makes a file of some bytes, which are not synced.
  @discardableResult
  package func create(_ path: String, _ bytes: [UInt8] = []) throws -> any File {
    let file = try open(path, .create)
    try file.write(bytes, at: 0)
    return file
  }
}

extension File {
  /// All bytes of the file.
  package func bytes() throws -> [UInt8] {
    try bytes(at: 0, count: status().byteCount)
  }

  /// Bytes of the file from an offset, fewer when it ends before.
  package func bytes(at offset: Int, count: Int) throws -> [UInt8] {
    let buffer = try readBytes(at: offset, count: count)
    let bytes = buffer.bytes
    return bytes.withUnsafeBytes { Array($0) }
  }

  /// Writes all bytes at an offset.
  package func write(_ bytes: [UInt8], at offset: Int) throws {
    try writeBytes(bytes.rawBytes, at: offset)
  }
}
