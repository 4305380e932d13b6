import KVEngine

/// A bound of the bytes that the files of some folders have together, as a small volume has.
struct Quota: Sendable {
  let byteCount: Int
  let folders: [String]

  /// Bytes that are free; a file with two names counts once.
  func freeByteCount(in files: any FileSystem) -> Int {
    var sizes: [FileIdentity: Int] = [:]
    for folder in folders {
      // What is gone by now takes no room.
      for name in (try? files.list(folder)) ?? [] {
        guard let status = try? files.status(folder + "/" + name), status.kind == .file else {
          continue
        }
        sizes[status.identity] = status.byteCount
      }
    }
    return max(0, byteCount - sizes.values.reduce(0, +))
  }
}
