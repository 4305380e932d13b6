import MemoCore

@testable import KVEngine

/// The store that the test vectors of FORMAT.md show, as values; nothing in it is random.
enum FormatExample {
  static let store = StoreIdentity(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
  static let segment = StoreIdentity(high: 0xF0E1_D2C3_B4A5_9687, low: 0x7869_5A4B_3C2D_1E0F)
  /// 2026-01-01T00:00:00Z in microseconds since 1970.
  static let clock: Int64 = 1_767_225_600_000_000

  static func checksum(of bytes: [UInt8]) -> UInt32 { CRC32C.checksum(bytes.rawBytes) }
  static func hash(of bytes: [UInt8]) -> UInt64 { XXH64.hash(bytes.rawBytes) }

  // MARK: Log

  static let logNumber: UInt64 = 7
  static let preamble = LogPreamble(
    lastSequence: 44, predecessor: 5, predecessorByteCount: 65_632, predecessorLastSequence: 44,
    predecessorChain: 0xC0DE_CAFE)

  static var batch: WriteBatch {
    var batch = WriteBatch()
    batch.put(Array("soy".utf8), forKey: Array("milk".utf8))
    batch.delete(Array("tea".utf8))
    return batch
  }

  static var logHead: [UInt8] {
    LogWriter.emptyLog(number: logNumber, store: store, preamble: preamble)
  }

  /// The checksum at the end of the log's head, which the first record names.
  static let logChain = checksum(of: Array(logHead.dropLast(4)))

  static let recordPlace = LogPlace(
    store: store, log: logNumber, offset: LogFormat.headByteCount)
  static let recordHead = RecordHead(
    payloadByteCount: batch.bytes.count, previous: logChain, operationCount: 2,
    firstSequence: 45, durableSequence: 44, payloadChecksum: checksum(of: batch.bytes))

  static var record: [UInt8] {
    var bytes = recordHead.encode(at: recordPlace) + batch.bytes
    bytes.pad(toMultipleOf: LogFormat.alignment)
    return bytes
  }

  // MARK: Segment

  static let segmentNumber: UInt64 = 6

  /// Entries in internal order: every kind, shared key bytes, two versions of one key.
  static let entries: [(key: String, tag: EntryTag, value: String)] = [
    ("@milk", EntryTag(sequence: 44, kind: .put), "oat"),
    ("@milk", EntryTag(sequence: 40, kind: .insertion), "cow"),
    ("@mint", EntryTag(sequence: 43, kind: .removal), ""),
    ("@tea", EntryTag(sequence: 41, kind: .put), "mint"),
    ("@water", EntryTag(sequence: 42, kind: .tombstone), ""),
  ]

  static var block: [UInt8] { block(of: entries) }

  static let frameHead = FrameHead(
    kind: .data, codec: .stored, spaceCode: 64, storedByteCount: block.count,
    decodedByteCount: block.count, bodyChecksum: checksum(of: block))

  static let dataHandle = BlockHandle(
    offset: FileHeader.byteCount, byteCount: frameHead.frameByteCount)
  static let indexEntry = IndexEntry(handle: dataHandle, entryCount: entries.count, change: 0)

  static var filter: [UInt8] {
    let keys = ["@milk", "@mint", "@tea", "@water"]
    return BloomFilter.encode(hashes: keys.map { hash(of: Array($0.utf8)) })
  }

  static var properties: Properties {
    var space = SpaceSummary(code: 64, firstKey: Array("@milk".utf8))
    space.lastKey = Array("@water".utf8)
    space.entryCount = entries.count
    space.tombstoneCount = 2
    space.byteCount = dataHandle.byteCount
    let filter = BlockHandle(
      offset: dataHandle.range.upperBound, byteCount: FrameHead.byteCount + Self.filter.count)
    return Properties(
      lowestSequence: 40, highestSequence: 44, spaces: [space],
      filters: [FilterHandle(spaceCode: 64, prefixByteCount: 0, handle: filter)])
  }

  /// The whole segment; too little is in it for LZ4 to make any block smaller.
  static func wholeSegment() throws -> (bytes: [UInt8], summary: SegmentSummary) {
    let files = MemoryFileSystem()
    let file = try files.open("/segment", .create)
    var writer = SegmentWriter(file: file, number: segmentNumber, identity: segment)
    for entry in entries {
      let (key, value) = (Array(entry.key.utf8), Array(entry.value.utf8))
      try writer.append(key: key.rawBytes, tag: entry.tag, value: value.rawBytes)
    }
    let summary = try writer.finish()
    let bytes = try file.readBytes(at: 0, count: summary.byteCount + 1)
    return ([UInt8](copying: bytes.bytes), summary)
  }

  static func block(of entries: [(key: String, tag: EntryTag, value: String)]) -> [UInt8] {
    var builder = BlockBuilder()
    for entry in entries {
      let (key, value) = (Array(entry.key.utf8), Array(entry.value.utf8))
      _ = builder.append(key: key.rawBytes, tag: entry.tag, value: value.rawBytes)
    }
    var bytes: [UInt8] = []
    builder.finish(into: &bytes)
    return bytes
  }

  /// The block that the LZ4 frame of the vectors holds.
  static let compressedBlock = block(of: [
    ("@list", EntryTag(sequence: 40, kind: .put), String(repeating: "milk and tea, ", count: 6))
  ])

  // MARK: MANIFEST

  static func manifest() throws -> Manifest {
    let summary = try wholeSegment().summary
    return Manifest(
      store: store, generation: 3, publishedAt: clock, flushedSequence: 44, nextFileNumber: 8,
      logs: [logNumber], segments: [SegmentDescriptor(summary, tier: 0)],
      spaces: [NamedSpace(code: 65, name: Array("drafts".utf8))])
  }

  // MARK: Memos

  static let memoKey = MemoKey(microseconds: clock, arrival: 42)
  static let ids: [String: MemoID] = [
    "id-text": (try? MemoID("caf\u{E9}")) ?? MemoID(0),
    "id-integer": MemoID(-2),
    "id-bytes": (try? MemoID(bytes: [0x00, 0xFF, 0x10])) ?? MemoID(0),
    "id-uuid": MemoID(uuid: (0x0011_2233_4455_6677, 0x8899_AABB_CCDD_EEFF)),
  ]
  static let idKey = IDKey(hash: MemoID(1).hash64, memoKey: memoKey)

  static func memo(isChanged: Bool) -> Memo {
    let createdAt = MemoTimestamp(microseconds: clock, offsetSeconds: 3600)
    let changedAt = MemoTimestamp(microseconds: clock + 1_500_000, offsetSeconds: 7200)
    return Memo(
      id: MemoID(1), createdAt: createdAt ?? .now, changedAt: isChanged ? changedAt : nil,
      body: isChanged ? "oat milk" : "milk")
  }

  /// The memo as one of an app's type, with its text and one flag.
  static var memoWithPayload: Memo {
    var memo = memo(isChanged: false)
    let fields = record([.reference(.text), .bool(true)])
    memo.payload = MemoPayload(schemaVersion: 1, record: fields).encoded
    return memo
  }

  static let uniqueKey = MemoIndexKey(
    number: 2,
    values: [true, -2, 1.5, .timestamp(MemoTimestamp(microseconds: clock) ?? .now)])
  static let orderedKey = MemoIndexKey(
    number: 3,
    values: [
      "c\u{0}a", .bytes([0x00, 0xFF]),
      .uuid(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
    ])

  static var indexTable: MemoIndexTable {
    var table = MemoIndexTable()
    var state = MemoIndexState(number: 2, isUnique: true, schemaVersion: 1)
    state.phase = .ready
    state.conflictCount = 3
    table.set(state)
    state = MemoIndexState(number: 3, isUnique: false, schemaVersion: 1)
    state.phase = .building
    state.position = memoKey.encode()
    table.set(state)
    return table
  }

  /// Fields with the numbers from 0 on.
  private static func record(_ values: [PayloadValue]) -> PayloadRecord {
    PayloadRecord(
      values.enumerated().map { PayloadRecord.Field(number: $0.offset, value: $0.element) })
  }

  /// A value of a collection, with one flag.
  static let collectionPayload = MemoPayload(
    schemaVersion: 0,
    record: PayloadRecord([PayloadRecord.Field(number: 1, value: .bool(true))]))

  /// One value of every kind.
  static let payload = MemoPayload(
    schemaVersion: 2,
    record: record([
      .null, .bool(false), .bool(true), .unsigned(300), .negative(-300), .float(1.5), .double(1.5),
      .text("milk"), .bytes([0x00, 0xFF]), .list([.bool(true), .null]),
      .record(PayloadRecord([PayloadRecord.Field(number: 300, value: .null)])),
      .map([PayloadValue.Entry(key: "a", value: .unsigned(1))]),
      .uuid(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
      .timestamp(MemoTimestamp(microseconds: clock, offsetSeconds: 3600) ?? .now),
      .reference(.text), .reference(.id), .reference(.createdAt),
    ]))
}
