import KVSalvage
import KVTestSupport

@testable import KVEngine

/// A copy of a store's files on some file system, to be damaged and salvaged.
struct SalvageBed {
  let files: any FileSystem
  let root: String
  var store: String { root + "/store" }
  var target: String { root + "/rescued" }

  init(_ contents: [String: [UInt8]], on volume: StoreVolume = .memory) throws {
    let folder = try StoreFolder(on: volume)
    (files, root) = (folder.files, folder.path)
    try files.makeDirectory(store)
    for (name, bytes) in contents { try files.create(store + "/" + name, bytes) }
  }

  /// Names and bytes of the damaged store's files.
  func bytes() throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in try files.list(store) { found[name] = try files.bytes(of: store + "/" + name) }
    return found
  }

  /// Salvages the store, which must not change by it, and reads the result, which must verify.
  ///
  /// `countingAll` says whether the store has no other spaces than those of the model.
  func salvage(
    countingAll: Bool = true
  ) throws -> (report: SalvageReport, content: StoreContent) {
    let before = try bytes()
    var options = SmallStore.options
    options.wallClock = nil
    let report = try Database.salvage(storeAt: store, to: target, in: files, options: options)
    guard try bytes() == before else { throw Problem("the damaged store was changed") }
    options.createIfMissing = false
    let rescued = try Database(at: target, in: files, options: options)
    let check = try rescued.verify()
    guard check.isSound else { throw Problem("the result is damaged: \(check.damage)") }
    let content = try rescued.countedContent()
    guard !countingAll || report.entryCount == content.count else {
      throw Problem("entries are miscounted")
    }
    guard try rescued.snapshot().sequence == report.sequence else {
      throw Problem("another sequence")
    }
    return (report, content)
  }
}

/// What the parts of an undamaged store hold, found by its own indexes, and so what is left when
/// some of the parts are gone.
struct SalvageOracle {
  struct Part {
    let fileName: String
    let range: Range<Int>
    let entries: [(key: [UInt8], tag: EntryTag, value: [UInt8])]
  }

  private(set) var parts: [Part] = []
  /// MANIFEST, live segments and live log, without what was replaced.
  let live: [String: [UInt8]]

  init(_ files: MemoryFileSystem) throws {
    let location = StoreLocation(files: files, folder: TinyStore.path)
    guard case .store(let store) = try Recovery.find(at: location), let log = store.logs.last else {
      throw Problem("no store")
    }
    let names = Set(store.manifest.fileNames.map(\.text)).union(["MANIFEST", "LOCK"])
    live = try files.storeFiles().filter { names.contains($0.key) }
    for descriptor in store.manifest.segments {
      let reader = SegmentReader(
        file: try files.open(location.path(.segment(descriptor.number)), .read),
        fileName: descriptor.fileName, reference: descriptor.reference)
      let index = try reader.index()
      var indexReader = BlockReader()
      indexReader.take(index.block)
      try indexReader.seekToFirst()
      while indexReader.isValid {
        let handle = try index.decode(indexReader.value).handle
        var block = BlockReader()
        block.take(try reader.block(at: handle))
        try block.seekToFirst()
        var entries: [(key: [UInt8], tag: EntryTag, value: [UInt8])] = []
        while block.isValid {
          entries.append(([UInt8](copying: block.key), block.tag, [UInt8](copying: block.value)))
          try block.next()
        }
        parts.append(Part(fileName: descriptor.fileName, range: handle.range, entries: entries))
        try indexReader.next()
      }
    }
    for record in log.records {
      var entries: [(key: [UInt8], tag: EntryTag, value: [UInt8])] = []
      let bytes = log.bytes.bytes.extracting(record.payload)
      var operations = OperationReader(bytes, count: record.head.operationCount)
      while let operation = try operations.next() {
        let sequence = record.head.firstSequence + UInt64(entries.count)
        entries.append(
          (
            [UInt8](copying: bytes.extracting(operation.key)),
            EntryTag(sequence: sequence, kind: operation.kind),
            [UInt8](copying: bytes.extracting(operation.value))
          ))
      }
      parts.append(
        Part(
          fileName: FileName.log(log.number).text,
          range: record.offset..<record.payload.upperBound, entries: entries))
    }
  }

  /// The newest value of each key in the parts of which nothing is gone.
  func content(without isGone: (Part) -> Bool) -> StoreContent {
    var newest: [[UInt8]: (tag: EntryTag, value: [UInt8])] = [:]
    for entry in parts.filter({ !isGone($0) }).flatMap(\.entries) {
      if let known = newest[entry.key], known.tag.sequence >= entry.tag.sequence { continue }
      newest[entry.key] = (entry.tag, entry.value)
    }
    var content = StoreContent()
    for (key, entry) in newest where entry.tag.kind.isPut {
      guard let space = StoreContent.spaces.firstIndex(where: { $0.code == key[0] }) else {
        continue
      }
      content[SpaceKey(space: space, bytes: Array(key.dropFirst()))] = entry.value
    }
    return content
  }
}
