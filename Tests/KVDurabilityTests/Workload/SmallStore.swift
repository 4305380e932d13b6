import KVTestSupport

@testable import KVEngine

/// A store of a few kilobytes with everything in it: two segments, a log, replaced files.
struct SmallStore {
  let files = MemoryFileSystem()
  /// The content before the first commit and after each.
  private(set) var states = [StoreContent()]
  /// The sequence that belongs to each state.
  private(set) var sequences: [UInt64] = [0]
  /// The last state that is in segments.
  private(set) var flushedIndex = 0
  /// The live log, and where its records end.
  let logNumber: UInt64
  let recordEnds: [Int]
  private let payloadEnds: [Int]
  let generation: UInt64
  /// The live segments.
  let segmentNumbers: [UInt64]
  /// Names and bytes of all files after each commit, and in the end.
  private(set) var versions: [[String: [UInt8]]] = []

  /// The clock stands, so that replaced files stay.
  static var options: DatabaseOptions {
    var options = TinyStore.options
    options.wallClock = { 1_700_000_000_000_000 }
    return options
  }

  init(seed: UInt64 = 8) throws {
    let database = try Self.open(in: files)
    var batches = BatchGenerator(seed: seed)
    for number in 1...13 {
      let batch = batches.batch()
      let content = states[states.count - 1]
      sequences.append(try database.write(batch.writeBatch(on: content)))
      states.append(batch.applied(to: content))
      if number == 5 || number == 9 {
        try database.flush()
        flushedIndex = number
      }
      versions.append(try files.storeFiles())
    }
    try database.close()
    versions.append(try files.storeFiles())
    let location = StoreLocation(files: files, folder: TinyStore.path)
    guard case .store(let found) = try Recovery.find(at: location), let log = found.logs.last else {
      throw Problem("there is no small store")
    }
    logNumber = log.number
    generation = found.manifest.generation
    recordEnds = log.records.map { $0.offset + $0.head.recordByteCount }
    payloadEnds = log.records.map(\.payload.upperBound)
    segmentNumbers = found.manifest.segments.map(\.number)
  }

  static func open(in files: any FileSystem) throws -> Database {
    try TinyStore.open(in: files, options: options)
  }

  var lastIndex: Int { states.count - 1 }

  /// Where the records of the live log are.
  var records: [Range<Int>] {
    zip([LogFormat.headByteCount] + recordEnds, recordEnds).map { $0..<$1 }
  }

  /// Where the frames of a segment are.
  static func frames(of bytes: [UInt8]) -> [Range<Int>] {
    var frames: [Range<Int>] = []
    let limit = bytes.count - SegmentFooter.byteCount
    var offset = FileHeader.byteCount
    while offset + FrameHead.byteCount <= limit {
      let stored = bytes[offset + 8..<offset + 12].reversed().reduce(0) { $0 << 8 | Int($1) }
      let end = offset + FrameHead.byteCount + stored
      guard end <= limit else { break }
      frames.append(offset..<end)
      offset = end
    }
    return frames
  }

  /// Whether a byte of the live log is between a record's payload and the next record: no checksum
  /// covers it and nothing reads it.
  func isPadding(_ offset: Int) -> Bool {
    zip(payloadEnds, recordEnds).contains { ($0..<$1).contains(offset) }
  }

  /// What became of a changed copy of the store.
  enum Outcome {
    /// All reads gave the right data of a state.
    case state(Int)
    /// Some reads gave right data, the others said that the store is damaged.
    case damaged
  }

  /// Reads everything from a changed copy: right data of an allowed state or `damaged`, nothing
  /// else.
  func read(_ files: MemoryFileSystem, allowed: ClosedRange<Int>) throws -> Outcome {
    do {
      let database = try Self.open(in: files)
      let snapshot = try database.snapshot()
      guard let index = sequences.lastIndex(of: snapshot.sequence), allowed.contains(index) else {
        throw Problem("opens at sequence \(snapshot.sequence)")
      }
      var isDamaged = false
      for space in StoreContent.spaces.indices {
        let expected = states[index].entries[space]
        for isBackward in [false, true] {
          try Self.noting(&isDamaged) {
            try scan(snapshot, space, isBackward ? expected.reversed() : expected, isBackward)
          }
        }
      }
      for key in states[lastIndex].keys + [SpaceKey(space: 1, bytes: [9, 9])] {
        try Self.noting(&isDamaged) {
          let space = StoreContent.spaces[key.space]
          let value = try snapshot.value(forKey: key.bytes, in: space)
          guard value == states[index][key] else { throw Problem("wrong value") }
        }
      }
      return isDamaged ? .damaged : .state(index)
    } catch let error as DatabaseError {
      guard Self.isDamage(error) else { throw error }
      return .damaged
    }
  }

  /// Everything that a scan shows must be right up to where it ends or fails.
  private func scan(
    _ snapshot: Snapshot, _ space: Int, _ expected: [Cursor.Entry], _ isBackward: Bool
  ) throws {
    var cursor = try snapshot.cursor(space: StoreContent.spaces[space])
    for entry in expected {
      let found = try isBackward ? cursor.previous() : cursor.next()
      guard found == entry else { throw Problem("a scan shows something else") }
    }
    guard try (isBackward ? cursor.previous() : cursor.next()) == nil else {
      throw Problem("a scan shows more")
    }
  }

  private static func noting(_ isDamaged: inout Bool, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as DatabaseError {
      guard isDamage(error) else { throw error }
      isDamaged = true
    }
  }

  private static func isDamage(_ error: DatabaseError) -> Bool {
    switch error {
    case .damaged, .unsupportedFormat: true
    default: false
    }
  }

  /// Commits and flushes a store that showed a state, and looks at what the next open shows.
  func use(_ files: MemoryFileSystem, at index: Int) throws {
    let database = try Self.open(in: files.process(2))
    try database.write { $0.put([1], forKey: [7, 7, 7]) }
    try database.flush()
    try database.close()
    var expected = states[index]
    expected[SpaceKey(space: 2, bytes: [7, 7, 7])] = [1]
    guard try Self.open(in: files.process(3)).content() == expected else {
      throw Problem("shows something else after a commit")
    }
  }
}
