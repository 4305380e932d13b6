import KVTestSupport

@testable import KVEngine

/// A small store with one change of the structure of its files, made after the other.
struct DamagedStore {
  /// A change, and what may be found after it.
  struct Case {
    let name: String
    let files: [String: [UInt8]]
    /// Whether earlier states may be found: where commits in the log are missing without a trace,
    /// or a state of the past was put back as a whole.
    let isRollback: Bool
  }

  let store: SmallStore
  /// The same content under another identity, and another content.
  private let twin: SmallStore
  private let stranger: SmallStore
  private let files: [String: [UInt8]]
  private let names: [String]

  init() throws {
    store = try SmallStore()
    twin = try SmallStore()
    stranger = try SmallStore(seed: 88)
    files = try store.files.storeFiles()
    names = files.keys.sorted()
  }

  private var logName: String { FileName.log(store.logNumber).text }

  /// Whether a change up to the end of the last record, or of what comes after it, looks like a
  /// torn end.
  private func isTorn(_ name: String, _ range: Range<Int>) -> Bool {
    guard name == logName, let end = store.recordEnds.last else { return false }
    let last = store.recordEnds.dropLast().last ?? LogFormat.headByteCount
    return range.upperBound > last && range.lowerBound < end
  }

  private func change(
    _ what: String, _ name: String, _ range: Range<Int>, _ body: (inout [UInt8]) -> Void
  ) -> Case {
    var changed = files
    body(&changed[name, default: []])
    return Case(
      name: "\(name): \(what) \(range)", files: changed, isRollback: isTorn(name, range))
  }

  // MARK: Bytes

  /// Stretches of zeros, of other bytes and of a neighbour's bytes, at each place.
  func overwritten(_ body: (Case) throws -> Void) rethrows {
    for name in names {
      let bytes = files[name] ?? []
      for (size, step) in [(512, 512), (4096, 4096), (64, 24), (8, 16)] {
        for start in stride(from: 0, to: bytes.count, by: step) {
          let range = start..<min(start + size, bytes.count)
          try body(
            change("zeros in", name, range) { bytes in
              for index in range { bytes[index] = 0 }
            })
          if size != 64 && size != 512 { continue }
          try body(
            change("garbage in", name, range) { bytes in
              var generator = SeededGenerator(seed: UInt64(start), stream: UInt64(size))
              bytes.replaceSubrange(range, with: generator.bytes(range.count))
            })
          let source = (start + size..<start + 2 * size).clamped(to: 0..<bytes.count)
          try body(
            change("the next \(size) bytes in", name, range.prefix(source.count)) { bytes in
              bytes.replaceSubrange(start..<start + source.count, with: bytes[source])
            })
        }
      }
    }
  }

  /// Bytes behind the end of each file: zeros, garbage, the file again.
  func extended(_ body: (Case) throws -> Void) rethrows {
    for name in names {
      let bytes = files[name] ?? []
      let end = bytes.count..<bytes.count
      for count in [1, 7, 8, 40, 72, 512, 4096] {
        var generator = SeededGenerator(seed: UInt64(count))
        let garbage = generator.bytes(count)
        try body(change("zeros behind", name, end) { $0 += [UInt8](repeating: 0, count: count) })
        try body(change("garbage behind", name, end) { $0 += garbage })
        try body(change("its end behind", name, end) { $0 += bytes.suffix(count) })
      }
      try body(change("twice", name, end) { $0 += bytes })
      // Without some bytes in the middle, everything behind is in the wrong place.
      for start in stride(from: 0, to: bytes.count, by: 64) {
        let range = start..<min(start + 8, bytes.count)
        try body(
          change("removed", name, start..<bytes.count) { $0.removeSubrange(range) })
        try body(
          change("twice", name, start..<bytes.count) {
            $0.insert(contentsOf: bytes[range], at: start)
          })
      }
    }
  }

  // MARK: Blocks and records

  /// Parts of a file in each other's places, twice, or left out; and those of other stores.
  func rearranged(_ body: (Case) throws -> Void) rethrows {
    let segments = store.segmentNumbers.map { FileName.segment($0).text }
    for name in segments + [logName] {
      let bytes = files[name] ?? []
      let parts = name == logName ? store.records : SmallStore.frames(of: bytes)
      for (index, part) in parts.enumerated() {
        for other in parts[..<index] {
          let behind = other.lowerBound..<bytes.count
          try body(
            change("swapped with \(other)", name, part.lowerBound..<bytes.count) { changed in
              changed.replaceSubrange(part, with: bytes[other])
              changed.replaceSubrange(other, with: bytes[part])
            })
          try body(
            change("again at \(other)", name, behind) { changed in
              changed.replaceSubrange(other, with: bytes[part])
            })
          try body(
            change("\(other) again at", name, part.lowerBound..<bytes.count) { changed in
              changed.replaceSubrange(part, with: bytes[other])
            })
        }
        try body(
          change("left out", name, part.lowerBound..<bytes.count) { $0.removeSubrange(part) })
        try body(
          change("twice", name, part.upperBound..<bytes.count) {
            $0.insert(contentsOf: bytes[part], at: part.upperBound)
          })
        for other in [twin, stranger] {
          guard let foreign = other.versions.last?[name], foreign.count >= part.upperBound else {
            continue
          }
          try body(
            change("of another store", name, part) { $0.replaceSubrange(part, with: foreign[part]) }
          )
        }
      }
    }
  }

  // MARK: Files

  /// Files under each other's names, missing, of another store, or of an earlier moment.
  func exchanged(_ body: (Case) throws -> Void) rethrows {
    for (index, name) in names.enumerated() {
      for other in names[..<index] {
        var changed = files
        (changed[name], changed[other]) = (files[other], files[name])
        try body(Case(name: "\(name) and \(other) swapped", files: changed, isRollback: true))
        changed = files
        changed[name] = files[other]
        try body(Case(name: "\(other) as \(name)", files: changed, isRollback: true))
        changed = files
        changed[other] = files[name]
        try body(Case(name: "\(name) as \(other)", files: changed, isRollback: true))
      }
      for (kind, other) in [("twin", twin), ("stranger", stranger)] {
        var changed = files
        changed[name] = other.versions.last?[name]
        try body(Case(name: "\(name) of a \(kind)", files: changed, isRollback: true))
      }
    }
    // All but one file of another moment, and each pair of moments for MANIFEST and the rest.
    for (earlier, old) in store.versions.enumerated() {
      for (later, new) in store.versions.enumerated() {
        var changed = new
        changed["MANIFEST"] = old["MANIFEST"]
        try body(
          Case(name: "MANIFEST of \(earlier) in \(later)", files: changed, isRollback: true))
        for name in old.keys.sorted() where name.hasSuffix(".log") {
          changed = new
          changed[name] = old[name]
          try body(
            Case(name: "\(name) of \(earlier) in \(later)", files: changed, isRollback: true))
        }
      }
    }
  }
}
