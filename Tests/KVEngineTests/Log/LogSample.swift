import KVTestSupport
import Testing

@testable import KVEngine

/// A log that is written in memory, and the batches that went into it.
struct LogSample {
  static let store = StoreIdentity(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)

  let files: MemoryFileSystem
  let number: UInt64
  let preamble: LogPreamble
  var writer: LogWriter
  private(set) var batches: [WriteBatch] = []
  /// Where the log ended after the head and after each batch.
  private(set) var ends: [Int]

  init(
    number: UInt64 = 3, lastSequence: SequenceNumber = 0, step: Int = 64,
    files: MemoryFileSystem = MemoryFileSystem()
  ) throws {
    self.files = files
    self.number = number
    preamble = LogPreamble(
      lastSequence: lastSequence, predecessor: 0, predecessorByteCount: 0,
      predecessorLastSequence: 0, predecessorChain: 0)
    let path = "/" + FileName.log(number).text
    let empty = LogWriter.emptyLog(number: number, store: Self.store, preamble: preamble)
    let file = try files.create(path, empty)
    writer = LogWriter(
      beginning: number, file: file, store: Self.store, preamble: preamble, step: step)
    ends = [writer.offset]
  }

  var path: String { "/" + FileName.log(number).text }

  /// The sequence of the newest operation.
  var lastSequence: SequenceNumber {
    preamble.lastSequence + UInt64(batches.reduce(0) { $0 + $1.operationCount })
  }

  mutating func append(_ batch: WriteBatch, syncing: Bool = true) throws {
    try writer.append(
      batch.bytes, operationCount: batch.operationCount, firstSequence: lastSequence + 1)
    if syncing { try writer.sync() }
    batches.append(batch)
    ends.append(writer.offset)
  }

  /// A batch of `count` puts whose keys and values are made from `seed`.
  static func batch(_ seed: Int, count: Int = 2, valueByteCount: Int = 5) -> WriteBatch {
    var batch = WriteBatch()
    for index in 0..<count {
      let value = [UInt8](repeating: UInt8(truncatingIfNeeded: seed + 1), count: valueByteCount)
      batch.put(value, forKey: [UInt8(truncatingIfNeeded: seed), UInt8(index)])
    }
    return batch
  }

  var bytes: [UInt8] {
    get throws { try files.bytes(of: path) }
  }

  /// What the reader makes of some bytes under this log's name.
  func read(
    _ bytes: [UInt8], number: UInt64? = nil, store: StoreIdentity = LogSample.store
  ) throws(DatabaseError) -> LogContents {
    try LogReader.contents(
      of: ByteBuffer(copying: bytes), number: number ?? self.number, store: store)
  }

  /// How many of this log's batches the bytes hold; fails the test when they hold anything else.
  func batchCount(in bytes: [UInt8], _ comment: @autoclosure () -> String = "") throws -> Int {
    let contents = try read(bytes)
    let found = contents.records.map { Array(bytes[$0.payload]) }
    let isPrefix = zip(found, batches).allSatisfy { $0 == $1.bytes } && found.count <= batches.count
    #expect(isPrefix, "\(comment())")
    #expect(
      contents.lastSequence
        == preamble.lastSequence
        + UInt64(batches.prefix(found.count).reduce(0) { $0 + $1.operationCount }),
      "\(comment())")
    let image = try LogImage(contents)
    #expect(
      image.entryCount == batches.prefix(found.count).reduce(0) { $0 + $1.operationCount },
      "\(comment())")
    return found.count
  }
}

/// Whether an error says that a log is damaged.
func isDamaged(_ error: DatabaseError?) -> Bool {
  if case .damaged = error { return true }
  return false
}
