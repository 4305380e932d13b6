import KVEngine
import KVTestSupport

extension MemoryFileSystem {
  /// A volume with a store's folder that has these files.
  convenience init(storeFiles: [String: [UInt8]]) throws {
    self.init()
    try makeDirectory(TinyStore.path)
    for (name, bytes) in storeFiles { try create(TinyStore.path + "/" + name, bytes) }
  }

  /// A volume of its own on which one file has other bytes.
  func replacing(_ path: String, with bytes: [UInt8]) throws -> MemoryFileSystem {
    var tree = tree
    var content = PagedBytes()
    bytes.withUnsafeBytes { content.write($0, at: 0) }
    tree.files[try tree.number(path, for: .open)] = content
    return MemoryFileSystem(tree)
  }

  /// A volume of its own with the same files.
  func copy() -> MemoryFileSystem { MemoryFileSystem(tree) }

  /// Names and bytes of all files in the store's folder.
  func storeFiles() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try list(TinyStore.path) {
      files[name] = try bytes(of: TinyStore.path + "/" + name)
    }
    return files
  }
}
