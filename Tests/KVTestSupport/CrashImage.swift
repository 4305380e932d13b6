import KVEngine

// Every choice comes from a generator of its own, by seed and number of the file, and names are
// decided in the order of their changes: an image depends on its arguments and nothing else.

extension CrashState {
  /// The tree that a power cut leaves.
  func image(_ variant: CrashVariant, seed: UInt64) -> MemoryTree {
    let lost = lostNameChanges(variant, seed)
    var tree = MemoryTree()
    var open = [MemoryTree.root]
    while let number = open.popLast() {
      guard let folder = folders[number] else { continue }
      var names = folder.flushed
      for change in folder.unflushed where !lost.contains(change.serial) { names.apply(change) }
      tree.folders[number] = names
      for child in names.values {
        if let file = files[child] {
          tree.files[child] = file.content(variant, seed: seed, number: child)
        } else {
          open.append(child)
        }
      }
    }
    return tree
  }

  /// Every subset of up to 6 pending changes; of more, each one alone and 64 random subsets.
  var nameSeeds: Range<UInt64> {
    let count = UInt64(pendingNameSerials.count)
    return 0..<(count <= 6 ? 1 << count : count + 64)
  }

  /// The unflushed changes of names, oldest first.
  private var pendingNameSerials: [Int] {
    folders.values.flatMap { $0.unflushed.map(\.serial) }.sorted()
  }

  private func lostNameChanges(_ variant: CrashVariant, _ seed: UInt64) -> Set<Int> {
    let pending = pendingNameSerials
    var generator = SeededGenerator(seed: seed)
    let lost: [Int]
    switch variant {
    case .strict:
      lost = pending
    case .names where pending.count <= 6:
      lost = pending.enumerated().filter { seed >> UInt64($0.offset) & 1 == 0 }.map(\.element)
    case .names where seed < UInt64(pending.count):
      lost = pending.filter { $0 != pending[Int(seed)] }
    case .names, .mixedFiles, .mixedWrites:
      lost = pending.filter { _ in generator.coin() }
    default:
      lost = []
    }
    return Set(lost)
  }
}

extension CrashState.File {
  /// The file's bytes after a power cut.
  fileprivate func content(_ variant: CrashVariant, seed: UInt64, number: UInt64) -> PagedBytes {
    guard let newest = unflushed.last else { return flushed }
    var generator = SeededGenerator(seed: seed, stream: number)
    var bytes = flushed
    switch variant {
    case .strict:
      break
    case .everything, .names:
      return visible
    case .newestWriteOnly:
      bytes.apply(newest)
    case .allButNewestWrite:
      for write in unflushed.dropLast() { bytes.apply(write) }
    case .halfOfSectors:
      addSectors(of: 512, to: &bytes, &generator)
    case .halfOfPages:
      addSectors(of: 4096, to: &bytes, &generator)
    case .sizeWithZeros:
      bytes.extend(to: visible.byteCount)
    case .sizeWithGarbage:
      let garbage = generator.bytes(visible.byteCount - flushed.byteCount)
      bytes.write(garbage[...], at: flushed.byteCount)
    case .tornWrite:
      for write in unflushed.dropLast() { bytes.apply(write) }
      let tornCount = newest.bytes.count * (Int(seed % 7) + 1) / 8
      bytes.write(newest.bytes.prefix(tornCount), at: newest.offset)
    case .mixedFiles:
      let other = CrashVariant.allCases.prefix { $0 != .names }.randomElement(using: &generator)
      return content(other ?? .strict, seed: generator.next(), number: number)
    case .mixedWrites:
      for write in unflushed { write.addParts(to: &bytes, &generator) }
      if generator.coin() { bytes.extend(to: visible.byteCount) }
    }
    return bytes
  }

  /// Copies a random half of the sectors that were written to.
  private func addSectors(
    of byteCount: Int, to bytes: inout PagedBytes, _ generator: inout SeededGenerator
  ) {
    var written: Set<Int> = []
    for write in unflushed {
      written.formUnion(write.offset / byteCount...(write.end - 1) / byteCount)
    }
    for sector in written.sorted() where generator.coin() {
      let start = sector * byteCount
      let content = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
        count = visible.read(at: start, into: UnsafeMutableRawBufferPointer(buffer))
      }
      bytes.write(content[...], at: start)
    }
    if generator.coin() { bytes.extend(to: visible.byteCount) }
  }
}

extension CrashState.UnflushedWrite {
  /// Writes none, all, the front or a random half of the sectors.
  fileprivate func addParts(to bytes: inout PagedBytes, _ generator: inout SeededGenerator) {
    switch generator.next() % 4 {
    case 0:
      break
    case 1:
      bytes.apply(self)
    case 2:
      let count = Int.random(in: 0...self.bytes.count, using: &generator)
      bytes.write(self.bytes.prefix(count), at: offset)
    default:
      var start = offset
      while start < end {
        let next = min(end, (start / 512 + 1) * 512)
        if generator.coin() {
          let first = self.bytes.startIndex
          bytes.write(self.bytes[first + start - offset..<first + next - offset], at: start)
        }
        start = next
      }
    }
  }
}
