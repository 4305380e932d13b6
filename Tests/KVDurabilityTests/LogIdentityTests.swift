import KVTestSupport
import Testing

@testable import KVEngine

/// Records count only in the log, the store and the place they were written for, and logs only in
/// an unbroken row.
@Suite struct LogIdentityTests {
  private static let path = TinyStore.path + "/000001.log"

  /// A store of one log with some commits of equal size.
  private func makeStore(_ count: Int) throws -> (MemoryFileSystem, [LogContents.Record]) {
    let files = MemoryFileSystem()
    let database = try TinyStore.open(in: files)
    for number in 1...UInt8(count) { try database.write { $0.put([number], forKey: [number]) } }
    try database.close()
    let location = StoreLocation(files: files, folder: TinyStore.path)
    guard case .store(let store) = try Recovery.find(at: location), let log = store.logs.last
    else { throw Problem("no store") }
    return (files, log.records)
  }

  @Test(.bug(id: "B05"), arguments: ["another store", "another place"])
  func recordsOfAnEarlierLifeAreRefused(origin: String) throws {
    let (files, records) = try makeStore(3)
    let (other, otherRecords) = try makeStore(8)
    #expect(records[2].offset == otherRecords[2].offset)
    var bytes = try files.bytes(of: Self.path)
    let end = records[2].offset + records[2].head.recordByteCount
    let source = try origin == "another store" ? other.bytes(of: Self.path) : bytes
    let first = origin == "another store" ? end : records[1].offset
    let tail = source[first..<min(source.count, first + 80)]
    bytes.replaceSubrange(end..<end + tail.count, with: tail)
    let image = try files.replacing(Self.path, with: bytes)
    let database = try TinyStore.open(in: image)
    #expect(try database.content().count == 3)
    try database.write { $0.put([9], forKey: [9]) }
    try database.close()
    #expect(try TinyStore.open(in: image).content().count == 4)
    #expect(try image.bytes(of: Self.path) == bytes, "a log with a torn end gets no further byte")
  }

  /// Two live logs, the first not flushed: commits 1 to 5 and 6 to 8.
  private func makeTwoLogs() throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    try files.makeDirectory(TinyStore.path)
    let store = StoreIdentity.random()
    var preamble = LogPreamble(
      lastSequence: 0, predecessor: 0, predecessorByteCount: 0, predecessorLastSequence: 0,
      predecessorChain: 0)
    for (number, sequences) in [(1, 1...5), (2, 6...8)] as [(UInt64, ClosedRange<UInt64>)] {
      let path = TinyStore.path + "/" + FileName.log(number).text
      let head = LogWriter.emptyLog(number: number, store: store, preamble: preamble)
      let file = try files.create(path, head)
      var log = LogWriter(
        beginning: number, file: file, store: store, preamble: preamble, step: 512)
      for sequence in sequences {
        var batch = WriteBatch()
        batch.put([UInt8(sequence)], forKey: [UInt8(sequence)])
        try log.append(
          batch.filledBytes(firstSequence: sequence), operationCount: 1, firstSequence: sequence)
      }
      preamble = log.preambleOfSuccessor
    }
    let manifest = Manifest(
      store: store, generation: 1, publishedAt: 0, flushedSequence: 0, nextFileNumber: 3,
      logs: [1, 2], segments: [], spaces: [])
    _ = try ManifestFile(files: files, folder: TinyStore.path).publish(manifest)
    return files
  }

  @Test(.bug(id: "B02"))
  func noLogIsReadBehindAGapInTheOneBefore() throws {
    let files = try makeTwoLogs()
    #expect(try TinyStore.open(in: files).content().count == 8)
    let bytes = try files.bytes(of: Self.path)
    let end = try #require(bytes.lastIndex { $0 != 0 }) / 8 * 8
    for offset in stride(from: LogFormat.headByteCount, to: end, by: 3) {
      var changed = bytes
      changed[offset] ^= 0x10
      let image = try files.replacing(Self.path, with: changed)
      do {
        #expect(try TinyStore.open(in: image).content().count == 8, "padding at \(offset)")
      } catch {
        guard case DatabaseError.damaged(let corruption) = error else { throw error }
        #expect(corruption.fileName == "000001.log" || corruption.fileName == "000002.log")
      }
    }
  }
}
