package import KVEngine

/// A copy of a store's folder, made as a backup does it.
///
/// The folder is listed at some moment, and the files of the list are copied in random order, one
/// after the other and piece by piece, each as it is when its turn comes. A file that is gone by
/// then is skipped.
package struct FolderCopy {
  /// The copy, on a volume of its own under the same path.
  package let tree: MemoryTree
  /// Operations recorded before the listing.
  package let start: Int
  /// Operations recorded before the last piece was read.
  package let end: Int

  /// Copies a folder out of a record: of what it was after each operation.
  ///
  /// - Parameters:
  ///   - recording: What was done to the folder.
  ///   - path: The folder, directly below the root.
  ///   - start: How many operations come before the listing.
  ///   - pause: How many operations may at most come between two pieces; 0 for an idle store.
  ///   - seed: Chooses order, pieces and moments.
  /// - Throws: What a file system throws.
  package init(
    of recording: RecordingFileSystem, _ path: String, listedAfter start: Int, pause: Int,
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed, stream: 1907)
    let count = recording.operationCount
    var now = start
    var seen = recording.image(after: now, variant: .everything)
    func pass(atMost pause: Int) {
      let next = min(count, now + Int.random(in: 0...pause, using: &generator))
      if next > now { seen = recording.image(after: next, variant: .everything) }
      now = next
    }
    let names = try seen.list(path).sorted().shuffled(using: &generator)
    let copy = MemoryFileSystem()
    try copy.makeDirectory(path)
    for name in names {
      pass(atMost: pause)
      guard var file = try? seen.open(path + "/" + name, .read) else { continue }
      let number = try file.status().identity.inode
      let isLog = name.hasSuffix(".log")
      let pieceByteCount = isLog ? Int.random(in: 100...1000, using: &generator) : 1 << 20
      var bytes: [UInt8] = []
      while true {
        let piece = try file.bytes(at: bytes.count, count: pieceByteCount)
        bytes += piece
        if piece.isEmpty { break }
        pass(atMost: pause / 3)
        // The same file, whatever its name is by now; without one it does not change any more.
        file = Self.open(number, in: seen, path) ?? file
      }
      try copy.create(path + "/" + name, bytes)
    }
    (tree, self.start, end) = (copy.tree, start, now)
  }

  private static func open(
    _ number: UInt64, in volume: MemoryFileSystem, _ path: String
  ) -> (any File)? {
    let folder = (try? volume.status(path).identity.inode).flatMap { volume.tree.folders[$0] }
    guard let name = folder?.first(where: { $0.value == number })?.key else { return nil }
    return try? volume.open(path + "/" + String(decoding: name, as: UTF8.self), .read)
  }

  /// Copies a folder while it may be written to.
  package static func copy(
    _ source: String, to target: String, in files: any FileSystem,
    using generator: inout SeededGenerator
  ) throws {
    let names = try files.list(source).sorted().shuffled(using: &generator)
    try files.makeDirectory(target)
    for name in names {
      guard let file = try? files.open(source + "/" + name, .read) else { continue }
      let copy = try files.create(target + "/" + name)
      let pieceByteCount = Int.random(in: 100...10_000, using: &generator)
      var offset = 0
      while true {
        let piece = try file.bytes(at: offset, count: pieceByteCount)
        if piece.isEmpty { break }
        try copy.write(piece, at: offset)
        offset += piece.count
      }
    }
  }
}
