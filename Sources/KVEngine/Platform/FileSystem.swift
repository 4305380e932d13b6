// The one door to the disk. Everything above this protocol is the same code on a real volume, in
// memory, and on a file system that loses what was not flushed.
//
// What is durable when (FORMAT.md section 3):
//  - bytes of a file: after `sync` of that file returned; before that, any part of them, in any
//    order, sector by sector;
//  - a name (create, rename, link, unlink, makeDirectory): after `syncDirectory` of its folder
//    returned; before that, each change may or may not survive;
//  - `sync` of a file does not make its name durable.
// Nothing else is assumed: no order of unflushed writes, no atomic write of any size.

/// What identifies a file or folder on this machine while it exists.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// What the file system knows about a name or an open file.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: Sendable { case file, directory, other }

  package let kind: Kind
  package let byteCount: Int
  package let identity: FileIdentity

  package init(kind: Kind, byteCount: Int, identity: FileIdentity) {
    self.kind = kind
    self.byteCount = byteCount
    self.identity = identity
  }
}

/// How a file is opened.
///
/// No mode follows a symbolic link at the last component.
package enum OpenMode: Sendable {
  /// For reading; the file must exist.
  case read
  /// For reading and writing; the file must exist.
  case update
  /// For reading and writing; the name must be free. Mode 0600.
  case create
}

/// A set of files and folders.
package protocol FileSystem: AnyObject, Sendable {
  /// The number of the process as this file system sees it now; it differs after a fork.
  var processNumber: Int32 { get }

  /// Opens or creates a regular file; anything else under the name is an error.
  func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File

  /// What a name stands for, without following a symbolic link at the end.
  func status(_ path: String) throws(SystemError) -> FileStatus

  /// The names in a folder, in no order, without "." and "..".
  func list(_ path: String) throws(SystemError) -> [String]

  /// Makes a folder, mode 0700; its parent must exist.
  func makeDirectory(_ path: String) throws(SystemError)

  /// Gives a file another name in one step; what had that name loses it.
  func rename(_ source: String, to target: String) throws(SystemError)

  /// Gives a file a second name; the name must be free.
  func link(_ source: String, to target: String) throws(SystemError)

  /// Takes a file's name away; its bytes stay readable to those who have it open.
  func unlink(_ path: String) throws(SystemError)

  /// Makes the names in a folder durable.
  func syncDirectory(_ path: String) throws(SystemError)

  /// Locks a file of that name for one owner, creating it (mode 0600) when it is missing.
  ///
  /// Throws at once when another owner has it (``SystemError/isLocked``). The lock ends when the
  /// returned value is released or its `unlock()` is called, and with the process.
  func lock(_ path: String) throws(SystemError) -> any FileLock

  /// Bytes that can still be written to the volume of a folder.
  func freeByteCount(_ path: String) throws(SystemError) -> Int
}

/// An open file.
///
/// Calls are positioned, so threads may share it.
package protocol File: AnyObject, Sendable {
  /// Reads up to `buffer.count` bytes at an offset; fewer at the end of the file, 0 behind it.
  ///
  /// May return fewer bytes at any place: ``File/readBytes(at:count:)`` repeats.
  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int

  /// Writes up to `buffer.count` bytes at an offset, returning how many were taken.
  ///
  /// May take fewer at any place: ``File/writeBytes(_:at:)`` repeats.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int

  /// Makes the file's bytes and its length durable. A failure is final: see rule F4.
  func sync() throws(SystemError)

  /// The file's length, kind and identity.
  func status() throws(SystemError) -> FileStatus
}

/// A lock that is held until it is given up.
package protocol FileLock: AnyObject, Sendable {
  /// Gives the lock up. Does nothing the second time.
  func unlock()
}

/// How far a write that failed had come.
package struct WriteFailure: Error {
  /// Bytes that the file took before the failure.
  package let writtenByteCount: Int
  package let cause: SystemError
}

extension File {
  /// Reads `count` bytes at an offset, or fewer when the file ends before.
  ///
  /// - Complexity: O(`count`); one system call unless the file system returns less.
  package func readBytes(at offset: Int, count: Int) throws(SystemError) -> ByteBuffer {
    let buffer = ByteBuffer(byteCount: count)
    try fill(buffer, at: offset)
    return buffer
  }

  /// The same into memory that is used again: see ``ByteBuffer/renew(_:byteCount:)``.
  package func readBytes(
    at offset: Int, count: Int, into buffer: inout ByteBuffer
  ) throws(SystemError) {
    ByteBuffer.renew(&buffer, byteCount: count)
    try fill(buffer, at: offset)
  }

  /// The same into memory of the caller's.
  ///
  /// - Returns: How many bytes were read.
  package func readBytes(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let got = try unsafe read(
        at: offset + filled, into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      if got <= 0 { break }
      filled += got
    }
    return filled
  }

  private func fill(_ buffer: ByteBuffer, at offset: Int) throws(SystemError) {
    buffer.truncate(to: try unsafe readBytes(at: offset, into: buffer.storage))
  }

  /// Writes all bytes at an offset (rule F1: a short count continues, a count of 0 is an error).
  package func writeBytes(_ bytes: RawSpan, at offset: Int) throws(WriteFailure) {
    var written = 0
    while written < bytes.byteCount {
      let rest = bytes.extracting(droppingFirst: written)
      let taken: Int
      do {
        taken = try unsafe rest.withUnsafeBytes { buffer throws(SystemError) in
          try unsafe write(buffer, at: offset + written)
        }
      } catch {
        throw WriteFailure(writtenByteCount: written, cause: error)
      }
      guard taken > 0 else {
        throw WriteFailure(writtenByteCount: written, cause: .noProgress(.write, "file"))
      }
      written += taken
    }
  }
}
