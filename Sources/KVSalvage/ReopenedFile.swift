internal import KVEngine

/// A file that is opened for each read, so that any number of files can be merged.
final class ReopenedFile: File {
  private let files: any FileSystem
  private let path: String

  init(_ files: any FileSystem, _ path: String) {
    self.files = files
    self.path = path
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try unsafe files.open(path, .read).read(at: offset, into: buffer)
  }

  func status() throws(SystemError) -> FileStatus { try files.open(path, .read).status() }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    throw .noProgress(.write, path)
  }

  func sync() throws(SystemError) {}
}
