/// The folders that this process has open for writing.
///
/// Locks of the operating system do not keep two handles of one process apart, and two of them
/// would ruin the log (rule F18). The process number is part of the key, so that a child after fork
/// does not see its parent's handles.
package enum HandleTable {
  fileprivate struct Key: Equatable {
    let process: Int32
    let folder: FileIdentity
  }

  /// A place in the table, given up when nobody holds it any more.
  package final class Entry: Sendable {
    private let key: Key

    fileprivate init(_ key: Key) {
      self.key = key
    }

    deinit {
      HandleTable.open.withLock { [key] open in open.removeAll { $0 == key } }
    }
  }

  // Of few folders: making the first set of a kind takes a process 0.1 ms.
  private static let open = Lock<[Key]>([])

  /// Enters a folder; `nil` when it is there already.
  package static func enter(process: Int32, folder: FileIdentity) -> Entry? {
    let key = Key(process: process, folder: folder)
    return open.withLock { open in
      if open.contains(key) { return nil }
      open.append(key)
      return Entry(key)
    }
  }
}
