import KVEngine
import KVTestSupport
import Testing

/// Reads of what was recovered from a log and is in no segment yet.
@Suite struct RecoveredLogTests {
  /// The end of a space's range is the bare code of the next space, which no key of the log begins
  /// with.
  @Test func aRecoveredLogReadsTheSameInBothDirections() throws {
    let files = MemoryFileSystem()
    let database = try TinyStore.open(in: files)
    var content = StoreContent()
    for space in StoreContent.spaces.indices {
      for byte in [0x00, 0x01, 0x7F, 0x80, 0xFF] as [UInt8] {
        var batch = ModelBatch()
        batch.operations.append((SpaceKey(space: space, bytes: [byte]), [byte]))
        batch.operations.append((SpaceKey(space: space, bytes: [byte, byte]), []))
        try database.write(batch.writeBatch(on: content))
        content = batch.applied(to: content)
      }
    }
    try database.close()
    #expect(try TinyStore.open(in: files).countedContent() == content)
  }

  /// The file may end in the padding behind the last record's payload, and the next record begins
  /// behind the padding.
  @Test(arguments: 0..<24)
  func aLogThatEndsInARecordsPaddingIsContinuedBehindIt(cut: Int) throws {
    let files = MemoryFileSystem()
    let first = SpaceKey(space: 2, bytes: [1])
    var content = StoreContent()
    let database = try TinyStore.open(in: files)
    for value in [[1], [2]] as [[UInt8]] {
      var batch = ModelBatch()
      batch.operations.append((first, value))
      try database.write(batch.writeBatch(on: content))
      content = batch.applied(to: content)
    }
    try database.close()
    let path = TinyStore.path + "/000001.log"
    let written = try files.bytes(of: path)
    let end = try #require(written.lastIndex { $0 != 0 }) + 1
    let image = try files.replacing(path, with: Array(written.prefix(end - 8 + cut)))

    let reopened = try TinyStore.open(in: image)
    content = try reopened.content()
    #expect([[1], [2]].contains(content[first]))
    try StoreCheck(files: image, seed: 1).takesCommits(1, to: reopened, from: content)
  }
}
