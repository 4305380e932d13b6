package import KVEngine

/// One change of a file system, as ``RecordingFileSystem`` saw it.
///
/// Files and folders are given by number, since names change hands.
package struct RecordedOperation: Sendable, CustomStringConvertible {
  /// What was changed.
  package enum Change: Sendable {
    /// A file, also one made by a lock.
    case create(MemoryTree.Place, file: UInt64)
    case makeDirectory(MemoryTree.Place, folder: UInt64)
    case write(file: UInt64, offset: Int, bytes: [UInt8])
    case sync(file: UInt64)
    /// A sync that was reported as failed: what was dirty is now clean but not durable.
    case failedSync(file: UInt64)
    case rename(MemoryTree.Place, to: MemoryTree.Place, number: UInt64)
    case link(MemoryTree.Place, file: UInt64)
    case unlink(MemoryTree.Place)
    case syncDirectory(folder: UInt64)
  }

  /// Counts from 1.
  package let serial: Int
  package let change: Change
  /// The path of the call; of two paths the second.
  package let path: String

  /// One line for failure messages.
  package var description: String {
    let name = path.split(separator: "/").last ?? "/"
    let text =
      switch change {
      case .create: "create"
      case .makeDirectory: "make folder"
      case .write(_, let offset, let bytes): "write \(bytes.count) bytes at \(offset) of"
      case .sync: "sync"
      case .failedSync: "fail to sync"
      case .rename(let old, _, _): "rename \(String(decoding: old.name, as: UTF8.self)) to"
      case .link: "link to"
      case .unlink: "unlink"
      case .syncDirectory: "sync folder"
      }
    return "\(serial): \(text) \(name)"
  }
}
