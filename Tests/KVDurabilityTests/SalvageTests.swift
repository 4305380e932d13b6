import Glibc
import KVSalvage
import KVTestSupport
import Testing

@testable import KVEngine

/// A salvage makes a store of what can be read, says what it did, and leaves the original alone.
@Suite struct SalvageTests {
  /// A store in which keys were deleted and everything was merged since: what was replaced is still
  /// in the folder.
  private static func compacted() throws -> (files: [String: [UInt8]], content: StoreContent) {
    let files = MemoryFileSystem()
    let database = try SmallStore.open(in: files)
    for round in 0..<3 as Range<UInt8> {
      try database.write { batch in
        for key in 0..<40 as Range<UInt8> { batch.put([key, round], forKey: [key]) }
      }
      try database.flush()
    }
    try database.write { batch in
      for key in 10..<20 as Range<UInt8> { batch.delete([key]) }
    }
    try database.compact()
    try database.compact()
    try database.close()
    return (try files.storeFiles(), try SmallStore.open(in: files).content())
  }

  private static func isManifest(_ name: String) -> Bool { name.hasPrefix("MANIFEST") }

  @Test(arguments: StoreVolume.allCases)
  func replacedSegmentsDoNotBringDeletedKeysBack(volume: StoreVolume) throws {
    let (files, content) = try Self.compacted()
    #expect(content.count == 30)
    let (report, found) = try SalvageBed(files, on: volume).salvage()
    #expect(found == content)
    #expect(report.isComplete && !report.mayHoldDeletedKeys)
    #expect(report.manifestName == "MANIFEST")
    #expect(report.files.contains { $0.name.hasSuffix(".seg") && $0.use == .none })
  }

  /// The replaced segments are merged in place of the one that is gone, tombstones included.
  @Test(.bug(id: "B47"), arguments: StoreVolume.allCases, [false, true])
  func aMissingSegmentIsReplacedByThoseItWasMadeOf(
    volume: StoreVolume, isEmpty: Bool
  ) throws {
    var (files, content) = try Self.compacted()
    let bytes = try #require(files["MANIFEST"])
    let manifest = try Manifest.decode(bytes.rawBytes, fileName: "MANIFEST")
    for segment in manifest.segments { files[segment.fileName] = isEmpty ? [] : nil }
    let (report, found) = try SalvageBed(files, on: volume).salvage()
    #expect(found == content)
    #expect(!report.isComplete && report.mayHoldDeletedKeys)
    #expect(report.losses.map(\.fileName) == manifest.segments.map(\.fileName))
    #expect(report.losses.allSatisfy { $0.lowerKey == [64, 0] && $0.upperKey == [64, 39] })
    #expect(report.files.contains { $0.use == .filler })
  }

  /// Replaced files are asked for lost keys only: elsewhere nothing would hide what was deleted.
  @Test(.bug(id: "B13")) func aLostBlockBringsNoOtherKeysBack() throws {
    var (files, content) = try Self.compacted()
    let bytes = try #require(files["MANIFEST"])
    let manifest = try Manifest.decode(bytes.rawBytes, fileName: "MANIFEST")
    let live = manifest.segments.map(\.fileName)
    // Of the files that were replaced only the first is left, from before the deletions.
    let old = files.keys.filter { $0.hasSuffix(".seg") && !live.contains($0) }.sorted()
    for name in old.dropFirst() { files[name] = nil }
    for name in files.keys where name.hasSuffix(".log") {
      if name != manifest.logs.map({ FileName.log($0).text }).last { files[name] = nil }
    }
    files[live[0]]?[FileHeader.byteCount + FrameHead.byteCount] ^= 1
    let (report, found) = try SalvageBed(files).salvage()
    #expect(found.keys == content.keys)
    #expect(found != content, "the lost block holds older values")
    #expect(report.losses.count == 1, "\(report)")
    #expect(report.mayHoldDeletedKeys)
  }

  @Test(.bug(id: "B01"), arguments: StoreVolume.allCases)
  func withoutAnyManifestAllFilesAreMerged(volume: StoreVolume) throws {
    var (files, content) = try Self.compacted()
    files = files.filter { !Self.isManifest($0.key) }
    let bed = try SalvageBed(files, on: volume)
    let (report, found) = try bed.salvage()
    // Here the tombstones are still in the files that were replaced.
    #expect(found == content)
    #expect(report.manifestName == nil && report.mayHoldDeletedKeys && !report.isComplete)
    // Without them the keys are back, and the report has said so.
    var old = files
    for name in files.keys.sorted() where name.hasSuffix(".log") { old[name] = nil }
    for name in old.keys.filter({ $0.hasSuffix(".seg") }).sorted().dropFirst(3) { old[name] = nil }
    let (oldReport, oldContent) = try SalvageBed(old, on: volume).salvage()
    #expect(oldReport.mayHoldDeletedKeys && oldContent.count == 40)
  }

  @Test(arguments: StoreVolume.allCases)
  func theResultIsAStoreOfItsOwn(volume: StoreVolume) throws {
    let files = MemoryFileSystem()
    let database = try SmallStore.open(in: files)
    let (side, other) = (try database.space("side"), try database.space("other"))
    for space in [side, other] {
      try database.write { $0.put([space.code], forKey: [1], in: space) }
    }
    try database.flush()
    try database.write { $0.put([9], forKey: [2], in: side) }
    try database.close()
    let identity = try SmallStore.open(in: files).storeSummary().identity

    let bed = try SalvageBed(try files.storeFiles(), on: volume)
    let (report, _) = try bed.salvage(countingAll: false)
    let rescued = try Database(at: bed.target, in: bed.files, options: SmallStore.options)
    #expect(try rescued.storeSummary().identity != identity)
    #expect(try rescued.space("side") == side)
    #expect(try rescued.space("other") == other)
    #expect(try rescued.value(forKey: [2], in: side) == [9])
    #expect(try rescued.write { $0.put([3], forKey: [3], in: other) } == report.sequence + 1)
    #expect(report.inventedSpaceNames == [])
    try rescued.close()

    // Without names the spaces are there all the same.
    let nameless = try SalvageBed(
      try files.storeFiles().filter { !Self.isManifest($0.key) }, on: volume)
    let names = try nameless.salvage(countingAll: false).report.inventedSpaceNames
    #expect(names == ["recovered-65", "recovered-66"])
    let found = try Database(at: nameless.target, in: nameless.files, options: SmallStore.options)
    #expect(try found.value(forKey: [2], in: found.space("recovered-65")) == [9])
  }

  @Test(arguments: StoreVolume.allCases)
  func aTargetThatIsNotFreeIsNotTouched(volume: StoreVolume) throws {
    let bed = try SalvageBed(try SmallStore().files.storeFiles(), on: volume)
    try bed.files.makeDirectory(bed.target)
    let (_, content) = try bed.salvage()
    #expect(content == (try SmallStore().states.last))
    let before = try Set(bed.files.list(bed.target))
    try bed.files.create(bed.root + "/file", [1])
    for target in [bed.target, bed.root + "/file", bed.store, bed.store + "/inside"] {
      #expect(throws: DatabaseError.self, "\(target)") {
        try Database.salvage(
          storeAt: bed.store, to: target, in: bed.files, options: SmallStore.options)
      }
    }
    #expect(try Set(bed.files.list(bed.target)) == before)
    #expect(try !bed.files.list(bed.store).contains("inside"))
    try bed.files.makeDirectory(bed.root + "/empty")
    for source in ["/empty", "/missing"] {
      #expect(throws: DatabaseError.notFound(fileName: bed.root + source)) {
        try Database.salvage(
          storeAt: bed.root + source, to: bed.root + "/new", in: bed.files,
          options: SmallStore.options)
      }
    }
    #expect(try !bed.files.list(bed.root).contains("new"))
  }

  @Test(arguments: StoreVolume.allCases)
  func aLockThatIsTakenOrMissingIsNoObstacle(volume: StoreVolume) throws {
    let store = try SmallStore()
    let bed = try SalvageBed(try store.files.storeFiles(), on: volume)
    let lock = try bed.files.lock(bed.store + "/LOCK")
    let (report, content) = try bed.salvage()
    #expect(report.wasBeingWritten && content == store.states.last)
    lock.unlock()
    try bed.files.unlink(bed.store + "/LOCK")
    let again = try Database.salvage(
      storeAt: bed.store, to: bed.root + "/second", in: bed.files, options: SmallStore.options)
    #expect(!again.wasBeingWritten)
    #expect(try !bed.files.list(bed.store).contains("LOCK"))
  }

  /// A record that is torn in its payload, whatever stands there, is left out and named.
  @Test(.bug(id: "B11"), .bug(id: "B02"), arguments: [0, 1, 2])
  func aTornRecordIsNeverKept(record: Int) throws {
    let store = try SmallStore()
    let oracle = try SalvageOracle(store.files)
    let log = FileName.log(store.logNumber).text
    let parts = oracle.parts.filter { $0.fileName == log }
    let torn = parts[parts.count - 1 - record]
    for filling in [[0], [0xA5], [0x4D, 0x4B, 0x56, 0x52]] as [[UInt8]] {
      var files = oracle.live
      for offset in torn.range.dropFirst(RecordHead.byteCount) {
        files[log]?[offset] = filling[offset % filling.count]
      }
      let (report, content) = try SalvageBed(files).salvage()
      let start = torn.range.lowerBound
      #expect(content == oracle.content { $0.fileName == log && $0.range.lowerBound >= start })
      #expect(report.losses.first?.offsets?.lowerBound == start)
    }
  }

  @Test func aStoreOfANewerLibraryIsRefused() throws {
    var header = FileHeader(
      kind: .manifest, identity: StoreIdentity(high: 1, low: 2), number: 1
    ).encode()
    header[8] = 9
    header.removeLast(4)
    header.append(u32: CRC32C.checksum(header.rawBytes))
    let newer = header + [UInt8](repeating: 0, count: 464)
    let bed = try SalvageBed(["MANIFEST": newer + newer])
    #expect(
      throws: DatabaseError.unsupportedFormat(fileName: "MANIFEST", found: 9, known: 0)
    ) { try bed.salvage() }
    #expect(try bed.files.list(bed.root) == ["store"])
  }
}
