import Testing

@testable import KVEngine

/// A file in an array that notes every read and can be told to fail.
final class SegmentTestFile: File {
  private struct State {
    var bytes: [UInt8] = []
    var reads: [Range<Int>] = []
    var remainingReads = Int.max
    var remainingWrites = Int.max
  }

  private let state = Lock(State())

  init(_ bytes: [UInt8] = []) {
    state.withLock { $0.bytes = bytes }
  }

  var bytes: [UInt8] {
    get { state.withLock { $0.bytes } }
    set { state.withLock { $0.bytes = newValue } }
  }

  /// What was asked for since the last time.
  func takeReads() -> [Range<Int>] {
    state.withLock { state in
      defer { state.reads = [] }
      return state.reads
    }
  }

  /// Lets that many reads and writes work and then none.
  func failAfter(reads: Int = .max, writes: Int = .max) {
    state.withLock { state in
      state.remainingReads = reads
      state.remainingWrites = writes
    }
  }

  func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try state.withLock { state throws(SystemError) in
      guard state.remainingReads > 0 else { throw SystemError(.read, "/s/000007.seg", code: 5) }
      state.remainingReads -= 1
      state.reads.append(offset..<offset + buffer.count)
      let found = state.bytes.dropFirst(offset).prefix(buffer.count)
      buffer.copyBytes(from: found)
      return found.count
    }
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try state.withLock { state throws(SystemError) in
      guard state.remainingWrites > 0 else { throw SystemError(.write, "/s/000007.seg", code: 28) }
      state.remainingWrites -= 1
      let missing = offset + buffer.count - state.bytes.count
      if missing > 0 { state.bytes.append(contentsOf: repeatElement(0, count: missing)) }
      for (index, byte) in buffer.enumerated() { state.bytes[offset + index] = byte }
      return buffer.count
    }
  }

  func sync() throws(SystemError) {}

  func status() throws(SystemError) -> FileStatus {
    FileStatus(
      kind: .file, byteCount: bytes.count, identity: FileIdentity(device: 1, inode: 1))
  }
}

/// Reproducible numbers (splitmix64).
struct SegmentTestRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

struct SegmentTestEntry: Equatable, CustomStringConvertible {
  var key: [UInt8]
  var sequence: SequenceNumber
  var kind = RecordKind.put
  var value: [UInt8] = []

  var tag: EntryTag { EntryTag(sequence: sequence, kind: kind) }
  var description: String { "\(key.prefix(24))@\(sequence) \(kind) \(value.count) B" }
}

/// Entries in internal order and the segment that was written of them.
struct SegmentTestModel {
  let entries: [SegmentTestEntry]
  let file: SegmentTestFile
  let summary: SegmentSummary

  static func policy(code: UInt8) -> SpacePolicy {
    switch code {
    case 2: SpacePolicy(filter: .prefix(4))
    case 3: SpacePolicy(filter: .wholeKey)
    default: .standard(code: code)
    }
  }

  init(
    _ entries: [SegmentTestEntry], blockByteCount: Int = 4096,
    compression: SegmentWriter.Compression = .plain
  ) throws {
    self.entries = entries.sorted { left, right in
      if left.key == right.key { return left.sequence > right.sequence }
      return left.key.lexicographicallyPrecedes(right.key)
    }
    file = SegmentTestFile()
    var writer = SegmentWriter(
      file: file, number: 7, identity: StoreIdentity(high: 0x0123_4567_89AB_CDEF, low: 42),
      blockByteCount: blockByteCount, policy: Self.policy, compression: compression)
    for entry in self.entries { try writer.append(entry) }
    summary = try writer.finish()
  }

  /// Random entries of several spaces, with several entries of some keys.
  init(seed: UInt64, count: Int, blockByteCount: Int = 4096) throws {
    var random = SegmentTestRandom(seed: seed)
    var entries: [SegmentTestEntry] = []
    for sequence in 1...UInt64(count) {
      var key: [UInt8] = [[1, 2, 3, 64].randomElement(using: &random) ?? 1]
      for _ in 0..<Int.random(in: 0...9, using: &random) {
        key.append([0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0)
      }
      if let other = entries.randomElement(using: &random), Bool.random(using: &random) {
        key = other.key
      }
      let kind = RecordKind.allCases.randomElement(using: &random) ?? .put
      let length = kind.isPut ? Int.random(in: 0...40, using: &random) : 0
      let value = (0..<length).map { _ in UInt8.random(in: 0x61...0x64, using: &random) }
      entries.append(
        SegmentTestEntry(key: key, sequence: sequence * 3, kind: kind, value: value))
    }
    try self.init(entries, blockByteCount: blockByteCount)
  }

  func reader(cache: BlockCache? = nil, bytes: [UInt8]? = nil) -> SegmentReader {
    SegmentReader(
      file: bytes.map { SegmentTestFile($0) } ?? file, fileName: "000007.seg",
      reference: summary.reference, cache: cache)
  }

  /// The position of the first entry at or after a key and sequence; the count if there is none.
  func position(atOrAfter key: [UInt8], _ sequence: SequenceNumber) -> Int {
    entries.firstIndex { entry in
      if entry.key == key { return entry.sequence <= sequence }
      return key.lexicographicallyPrecedes(entry.key)
    } ?? entries.count
  }
}

extension SegmentWriter {
  mutating func append(_ entry: SegmentTestEntry) throws(SystemError) {
    let (key, value) = (entry.key, entry.value)
    try append(key: key.rawBytes, tag: entry.tag, value: value.rawBytes)
  }
}

extension SegmentReader {
  func find(
    _ key: [UInt8], atOrBelow sequence: SequenceNumber = Limits.Sequence.maximum
  ) throws(DatabaseError) -> Found? {
    try find(key: key.rawBytes, atOrBelow: sequence)
  }
}

extension SegmentCursor {
  var current: SegmentTestEntry? {
    guard isValid else { return nil }
    return SegmentTestEntry(
      key: [UInt8](copying: key), sequence: tag.sequence, kind: tag.kind,
      value: [UInt8](copying: value))
  }

  mutating func seek(
    atOrAfter key: [UInt8], _ sequence: SequenceNumber = Limits.Sequence.maximum
  ) throws(DatabaseError) {
    try seek(toFirstAtOrAfter: key.rawBytes, sequence)
  }

  mutating func seek(before key: [UInt8]) throws(DatabaseError) {
    try seek(toLastBefore: key.rawBytes)
  }

  /// All entries from here on.
  mutating func forward() throws(DatabaseError) -> [SegmentTestEntry] {
    var found: [SegmentTestEntry] = []
    while let current {
      found.append(current)
      try next()
    }
    return found
  }

  /// All entries from here back.
  mutating func backward() throws(DatabaseError) -> [SegmentTestEntry] {
    var found: [SegmentTestEntry] = []
    while let current {
      found.append(current)
      try previous()
    }
    return found
  }
}
