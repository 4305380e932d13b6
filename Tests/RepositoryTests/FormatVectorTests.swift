import MemoCore
import Testing

@testable import KVEngine

/// The bytes that FORMAT.md shows decode to the values of `FormatExample`, and those encode to the
/// same bytes.
@Suite struct FormatVectorTests {
  private typealias Example = FormatExample

  /// The bytes of a vector.
  private func bytes(_ name: String) throws -> [UInt8] {
    try #require(FormatDocument.shared.vector(name), "\(name) is not there or no hexadecimal")
  }

  /// Every vector that a test below decodes.
  static let tested = [
    "file-header", "log-head", "batch-payload", "log-record", "manifest-copy", "frame-head",
    "data-block", "index-entry", "filter-block", "properties", "footer", "segment", "lz4-frame",
    "dictionary-frame", "dense-frame",
    "memo-key", "id-key", "memo-record", "memo-record-changed", "id-text", "id-integer",
    "id-bytes", "id-uuid", "memo-record-payload", "name-key", "name-value", "payload",
    "trash-key", "deleted-memo", "unique-key", "ordered-key", "index-table", "collection-key",
    "collection-value", "feed-key", "feed-entry",
  ]

  @Test func everyVectorIsTested() {
    #expect(FormatDocument.shared.vectorNames.sorted() == Self.tested.sorted())
  }

  // MARK: - Log

  @Test func fileHeader() throws {
    let header = FileHeader(kind: .log, identity: Example.store, number: Example.logNumber)
    let vector = try bytes("file-header")
    #expect(try FileHeader.read(vector.rawBytes, kind: .log, fileName: "000007.log") == header)
    #expect(header.encode() == vector)
  }

  @Test func logHead() throws {
    let vector = try bytes("log-head")
    let (preamble, chain) = try LogPreamble.decode(vector.rawBytes)
    #expect(preamble == Example.preamble)
    #expect(chain == Example.logChain)
    #expect(Example.logHead == vector)
    #expect(try vector.starts(with: bytes("file-header")))
  }

  @Test func batchPayload() throws {
    let vector = try bytes("batch-payload")
    var reader = OperationReader(vector.rawBytes, count: 2)
    var found: [(kind: RecordKind, key: String, value: String)] = []
    while let operation = try reader.next() {
      found.append(
        (
          operation.kind, String(decoding: vector[operation.key], as: UTF8.self),
          String(decoding: vector[operation.value], as: UTF8.self)
        ))
    }
    #expect(found.map(\.kind) == [.put, .tombstone])
    #expect(found.map(\.key) == ["@milk", "@tea"])
    #expect(found.map(\.value) == ["soy", ""])
    #expect(Example.batch.bytes == vector)
  }

  @Test func logRecord() throws {
    let vector = try bytes("log-record")
    let decoded = RecordHead.decode(vector.rawBytes, at: Example.recordPlace)
    let (head, _) = try #require(decoded)
    #expect(head == Example.recordHead)
    #expect(head.recordByteCount == vector.count)
    #expect(Example.record == vector)
    let log = try bytes("log-head") + vector
    let contents = try LogReader.contents(
      of: ByteBuffer(copying: log), number: Example.logNumber, store: Example.store)
    #expect(contents.records.map(\.head) == [head])
    #expect(contents.acceptedByteCount == log.count)
    #expect(contents.isCleanlyEnded)
    let payload = try #require(contents.records.first?.payload)
    #expect(try Array(log[payload]) == bytes("batch-payload"))
  }

  // MARK: - MANIFEST

  @Test func manifest() throws {
    let copy = try bytes("manifest-copy")
    let file = copy + copy
    let manifest = try Example.manifest()
    #expect(try Manifest.decode(file.rawBytes, fileName: "MANIFEST") == manifest)
    #expect(Manifest.damagedCopies(file.rawBytes, fileName: "MANIFEST") == [])
    #expect(manifest.encode() == file)
    #expect(copy.count % 512 == 0)
  }

  // MARK: - Segment

  @Test func frameHead() throws {
    let vector = try bytes("frame-head")
    let limit = Example.dataHandle.range.upperBound
    let offset = Example.dataHandle.offset
    let head = try FrameHead.decode(
      vector.rawBytes, at: offset, of: Example.segment, limit: limit)
    #expect(head == Example.frameHead)
    #expect(head.encode(at: offset, of: Example.segment) == vector)
    #expect(throws: FormatError.self, "in another place") {
      try FrameHead.decode(vector.rawBytes, at: offset + 1, of: Example.segment, limit: limit + 1)
    }
  }

  @Test func dataBlock() throws {
    let vector = try bytes("data-block")
    let entries = try entries(of: vector)
    #expect(entries.map(\.key) == Example.entries.map(\.key))
    #expect(entries.map(\.tag) == Example.entries.map(\.tag))
    #expect(entries.map(\.value) == Example.entries.map(\.value))
    #expect(Example.block == vector)
  }

  private func entries(
    of block: [UInt8]
  ) throws -> [(key: String, tag: EntryTag, value: String)] {
    var reader = BlockReader()
    reader.take(try Block(ByteBuffer(copying: block), structure: "data block"))
    try reader.seekToFirst()
    var found: [(key: String, tag: EntryTag, value: String)] = []
    while reader.isValid {
      let (key, value) = ([UInt8](copying: reader.key), [UInt8](copying: reader.value))
      found.append(
        (String(decoding: key, as: UTF8.self), reader.tag, String(decoding: value, as: UTF8.self)))
      try reader.next()
    }
    return found
  }

  @Test func indexEntry() throws {
    let vector = try bytes("index-entry")
    let limit = Example.dataHandle.range.upperBound
    #expect(try IndexEntry.decode(vector.rawBytes, limit: limit) == Example.indexEntry)
    #expect(Example.indexEntry.encode() == vector)
  }

  @Test func filterBlock() throws {
    let vector = try bytes("filter-block")
    let filter = try BloomFilter(ByteBuffer(copying: vector), prefixByteCount: 0)
    let keys = ["@cocoa", "@milk", "@mint", "@tea", "@water"].filter { key in
      let bytes = Array(key.utf8)
      return filter.mayContain(key: bytes.rawBytes)
    }
    #expect(keys == ["@milk", "@mint", "@tea", "@water"])
    #expect(Example.filter == vector)
  }

  @Test func properties() throws {
    let vector = try bytes("properties")
    #expect(try Properties.decode(vector.rawBytes, limit: 261) == Example.properties)
    #expect(Example.properties.encode() == vector)
  }

  @Test func footer() throws {
    let vector = try bytes("footer")
    let (_, summary) = try Example.wholeSegment()
    guard
      case .footer(let footer) = try SegmentFooter.decode(
        vector.rawBytes, of: summary.reference)
    else {
      Issue.record("footer of another version")
      return
    }
    #expect(footer.identity == Example.segment)
    #expect(footer.fileByteCount == 333)
    #expect(footer.index == BlockHandle(offset: 213, byteCount: 48))
    #expect(footer.properties == BlockHandle(offset: 159, byteCount: 54))
    #expect(footer.encode() == vector)
  }

  @Test func wholeSegmentIsMadeOfTheOtherVectors() throws {
    let vector = try bytes("segment")
    #expect(try Example.wholeSegment().bytes == vector)
    #expect(try Array(vector[48..<72]) == bytes("frame-head"))
    #expect(try Array(vector[72..<126]) == bytes("data-block"))
    #expect(try Array(vector[150..<159]) == bytes("filter-block"))
    #expect(try Array(vector[183..<213]) == bytes("properties"))
    #expect(try Array(vector[261...]) == bytes("footer"))
  }

  @Test func aCompressedFrameDecodes() throws {
    var buffer = ByteBuffer(byteCount: 0)
    try decode("lz4-frame", .data, .lz4, into: &buffer)
    #expect([UInt8](copying: buffer.bytes) == Example.compressedBlock)
  }

  @Test func aDictionaryAndABlockThatRefersToItDecode() throws {
    var text = ByteBuffer(byteCount: 0)
    try decode("dictionary-frame", .dictionary, .lz4, into: &text)
    let pattern = Array("milk and tea, ".utf8)
    let expected = (0..<Limits.Block.dictionaryByteCount).map { pattern[$0 % pattern.count] }
    #expect([UInt8](copying: text.bytes) == expected)
    let memory = ByteBuffer(byteCount: text.byteCount + Limits.Block.dictionaryBlockByteCount)
    memory.storage.copyBytes(from: expected)
    var block = ByteBuffer(byteCount: 0)
    try decode("dense-frame", .data, .lz4WithDictionary, behind: memory, into: &block)
    #expect([UInt8](copying: block.bytes) == Example.compressedBlock)
  }

  private func decode(
    _ name: String, _ kind: BlockKind, _ codec: BlockCodecID, behind dictionary: ByteBuffer? = nil,
    into buffer: inout ByteBuffer
  ) throws {
    let vector = try bytes(name)
    let head = try FrameHead.decode(
      vector.rawBytes, at: 48, of: Example.segment, limit: 48 + vector.count)
    #expect(head.kind == kind && head.codec == codec && head.frameByteCount == vector.count)
    let stored = Array(vector.dropFirst(FrameHead.byteCount))
    try BlockCodec.decode(head, stored.rawBytes, behind: dictionary, into: &buffer)
  }

  // MARK: - Memos

  @Test func memoKeys() throws {
    let memoKey = try bytes("memo-key")
    #expect(try MemoKey.decode(memoKey.rawBytes) == Example.memoKey)
    #expect(Example.memoKey.encode() == memoKey)
    let idKey = try bytes("id-key")
    #expect(try IDKey.decode(idKey.rawBytes) == Example.idKey)
    #expect(Example.idKey.encode() == idKey)
  }

  @Test(arguments: [("memo-record", false), ("memo-record-changed", true)])
  func memoRecord(name: String, isChanged: Bool) throws {
    let vector = try bytes(name)
    let memo = Example.memo(isChanged: isChanged)
    #expect(try MemoRecord.decode(vector.rawBytes, key: Example.memoKey) == memo)
    #expect(MemoRecord.encode(memo) == vector)
  }

  @Test func memoRecordWithPayload() throws {
    let vector = try bytes("memo-record-payload")
    let memo = Example.memoWithPayload
    #expect(try MemoRecord.decode(vector.rawBytes, key: Example.memoKey) == memo)
    #expect(MemoRecord.encode(memo) == vector)
    let key = try bytes("name-key")
    #expect(try MemoNames.number(ofKey: key.rawBytes) == 1)
    #expect(MemoNames.key(of: 1) == key)
    #expect(try bytes("name-value") == Array("sent".utf8))
  }

  @Test func payload() throws {
    let vector = try bytes("payload")
    #expect(try MemoPayload(encoded: vector.rawBytes) == Example.payload)
    #expect(Example.payload.encoded == vector)
  }

  @Test func deletedMemo() throws {
    let deleted = DeletedMemo(
      key: TrashKey(
        deletedAt: Example.memoKey.microseconds + 1_000_000, arrival: Example.memoKey.arrival),
      memo: Example.memo(isChanged: false), undoMicroseconds: 3_000_000,
      trashMicroseconds: 30 * 86_400_000_000)
    let key = try bytes("trash-key")
    #expect(try TrashKey.decode(key.rawBytes) == deleted.key)
    #expect(deleted.key.encode() == key)
    let vector = try bytes("deleted-memo")
    #expect(try DeletedMemo.decode(vector.rawBytes, key: deleted.key) == deleted)
    #expect(deleted.encode() == vector)
  }

  @Test func indexes() throws {
    let unique = try bytes("unique-key")
    #expect(try MemoIndexKey.decode(unique.rawBytes) == Example.uniqueKey)
    #expect(Example.uniqueKey.encode() == unique)
    let ordered = try bytes("ordered-key")
    let decoded = try MemoIndexKey.decodeOrdered(ordered.rawBytes)
    #expect(decoded.key == Example.orderedKey && decoded.memoKey == Example.memoKey)
    #expect(Example.orderedKey.encode() + Example.memoKey.encode() == ordered)
    let table = try bytes("index-table")
    #expect(try MemoIndexTable.decode(table.rawBytes) == Example.indexTable)
    #expect(Example.indexTable.encode() == table)
  }

  @Test func valueOfACollection() throws {
    let key = try bytes("collection-key")
    #expect(try CollectionRecord.id(ofKey: key.rawBytes) == MemoID(1))
    #expect(try CollectionRecord.key(of: MemoID(1), in: "drafts") == key)
    let vector = try bytes("collection-value")
    #expect(try CollectionRecord.decode(vector.rawBytes) == Example.collectionPayload)
    #expect(CollectionRecord.encode(Example.collectionPayload) == vector)
  }

  @Test func changeOfAMemo() throws {
    let key = try bytes("feed-key")
    #expect(try FeedKey.decode(key.rawBytes) == 2)
    #expect(FeedKey.encode(2) == key)
    let entry = FeedEntry(
      kind: .updated, microseconds: Example.memoKey.microseconds, id: MemoID(1), origin: "phone")
    let vector = try bytes("feed-entry")
    #expect(try FeedEntry.decode(vector.rawBytes) == entry)
    #expect(entry.encode() == vector)
  }

  @Test(arguments: zip(["id-text", "id-integer", "id-bytes", "id-uuid"], MemoID.Kind.allCases))
  func memoID(name: String, kind: MemoID.Kind) throws {
    let vector = try bytes(name)
    let id = try #require(Example.ids[name])
    #expect(id.kind == kind)
    #expect(try MemoID(encoded: vector.rawBytes) == id)
    #expect(id.encoded == vector)
  }
}
