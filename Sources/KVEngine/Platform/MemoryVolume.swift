#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The state of a memory file system: a tree, who uses its files, and who locks them.
///
/// Errors are those of POSIX, as `FileSystemTests` checks on both file systems.
struct MemoryVolume {
  /// Who holds a lock.
  struct Holder {
    let token: UInt64
    let process: Int32
  }

  private(set) var tree: MemoryTree
  /// Bytes that all files together may have, holes included.
  let capacity: Int
  private(set) var usedByteCount = 0
  /// Names and open files of each file; at 0 it is gone.
  private var uses: [UInt64: Int] = [:]
  private var holders: [UInt64: Holder] = [:]
  /// The newest number given to a file, folder or lock; none is given twice.
  private var newestNumber = MemoryTree.root

  init(_ tree: MemoryTree, capacity: Int) {
    self.tree = tree
    self.capacity = capacity
    for number in tree.folders.values.flatMap(\.values) where tree.files[number] != nil {
      uses[number, default: 0] += 1
    }
    self.tree.files = tree.files.filter { uses[$0.key] != nil }
    usedByteCount = self.tree.files.values.reduce(0) { $0 + $1.byteCount }
    newestNumber = max(tree.files.keys.max() ?? 0, tree.folders.keys.max() ?? 0, newestNumber)
  }

  private mutating func makeNumber() -> UInt64 {
    newestNumber += 1
    return newestNumber
  }

  // MARK: Files

  /// Opens or creates a file, which counts as a use until ``release(_:)``.
  mutating func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> UInt64 {
    let file: UInt64
    if mode == .create {
      file = try create(path, for: .open)
    } else {
      file = try tree.number(path, for: .open)
      guard tree.files[file] != nil else { throw SystemError(.open, path, code: EISDIR) }
    }
    uses[file, default: 0] += 1
    return file
  }

  private mutating func create(
    _ path: String, for operation: SystemError.Operation
  ) throws(SystemError) -> UInt64 {
    let place = try tree.place(path, for: operation)
    guard tree[place] == nil else { throw SystemError(operation, path, code: EEXIST) }
    let file = makeNumber()
    tree.files[file] = PagedBytes()
    tree[place] = file
    uses[file] = 1
    return file
  }

  /// Ends one use of a file; the last one takes its bytes away.
  ///
  /// Does nothing for a folder.
  mutating func release(_ file: UInt64) {
    guard let count = uses[file] else { return }
    uses[file] = count > 1 ? count - 1 : nil
    guard count == 1, let bytes = tree.files.removeValue(forKey: file) else { return }
    usedByteCount -= bytes.byteCount
  }

  /// Writes what the capacity allows, at least one byte, and returns how many those are.
  mutating func write(
    _ buffer: UnsafeRawBufferPointer, at offset: Int, to file: UInt64, _ path: String
  ) throws(SystemError) -> Int {
    guard offset >= 0 else { throw SystemError(.write, path, code: EINVAL) }
    guard let byteCount = tree.files[file]?.byteCount, buffer.count > 0 else { return 0 }
    guard offset < PagedBytes.maximumByteCount else {
      throw SystemError(.write, path, code: EFBIG)
    }
    let end = min(byteCount + capacity - usedByteCount, PagedBytes.maximumByteCount)
    guard offset < end else { throw SystemError(.write, path, code: ENOSPC) }
    let taken = min(buffer.count, end - offset)
    unsafe tree.files[file]?.write(UnsafeRawBufferPointer(rebasing: buffer[..<taken]), at: offset)
    usedByteCount += max(0, offset + taken - byteCount)
    return taken
  }

  // MARK: Names

  mutating func makeDirectory(_ path: String) throws(SystemError) {
    let place = try tree.place(path, for: .makeDirectory)
    guard tree[place] == nil else { throw SystemError(.makeDirectory, path, code: EEXIST) }
    let folder = makeNumber()
    tree.folders[folder] = [:]
    tree[place] = folder
  }

  mutating func rename(_ source: String, to target: String) throws(SystemError) {
    let (old, new) = (
      try tree.place(source, for: .rename), try tree.place(target, for: .rename)
    )
    guard let number = tree[old] else { throw SystemError(.rename, source, code: ENOENT) }
    // Two names of one file: POSIX leaves both.
    if tree[new] == number { return }
    let isFolder = tree.folders[number] != nil
    if isFolder && MemoryTree.names(target).starts(with: MemoryTree.names(source)) {
      throw SystemError(.rename, source, code: EINVAL)
    }
    if let replaced = tree[new] {
      if let names = tree.folders[replaced] {
        guard isFolder else { throw SystemError(.rename, source, code: EISDIR) }
        guard names.isEmpty else { throw SystemError(.rename, source, code: ENOTEMPTY) }
        tree.folders[replaced] = nil
      } else if isFolder {
        throw SystemError(.rename, source, code: ENOTDIR)
      }
      release(replaced)
    }
    tree[old] = nil
    tree[new] = number
  }

  mutating func link(_ source: String, to target: String) throws(SystemError) {
    let number = try tree.number(source, for: .link)
    let place = try tree.place(target, for: .link)
    guard tree.files[number] != nil else { throw SystemError(.link, source, code: EPERM) }
    guard tree[place] == nil else { throw SystemError(.link, source, code: EEXIST) }
    tree[place] = number
    uses[number, default: 0] += 1
  }

  mutating func unlink(_ path: String) throws(SystemError) {
    let place = try tree.place(path, for: .unlink)
    guard let number = tree[place] else { throw SystemError(.unlink, path, code: ENOENT) }
    guard tree.files[number] != nil else { throw SystemError(.unlink, path, code: EISDIR) }
    tree[place] = nil
    release(number)
  }

  // MARK: Locks

  /// Locks a file for a process, creating it when missing, and returns what gives the lock up.
  mutating func lock(
    _ path: String, process: Int32
  ) throws(SystemError) -> (file: UInt64, token: UInt64) {
    let file: UInt64
    if let found = tree[try tree.place(path, for: .lock)] {
      guard tree.files[found] != nil else { throw SystemError(.lock, path, code: EISDIR) }
      file = found
    } else {
      file = try create(path, for: .lock)
    }
    guard holders[file] == nil else { throw SystemError(.lock, path, code: EWOULDBLOCK) }
    let token = makeNumber()
    holders[file] = Holder(token: token, process: process)
    return (file, token)
  }

  /// Gives a lock up, unless it ended before.
  mutating func unlock(_ file: UInt64, token: UInt64) {
    if holders[file]?.token == token { holders[file] = nil }
  }

  /// Gives up all locks of a process.
  mutating func unlockAll(of process: Int32) {
    holders = holders.filter { $0.value.process != process }
  }
}
