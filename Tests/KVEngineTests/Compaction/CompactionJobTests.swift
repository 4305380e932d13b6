import KVTestSupport
import Testing

@testable import KVEngine

/// What a merge makes of its inputs, whichever they are.
@Suite struct CompactionJobTests {
  /// Makes files in a folder of its own.
  private struct Sink: SegmentSink {
    let files = MemoryFileSystem()
    var numbers: [UInt64] = []

    mutating func begin() throws(JobFailure) -> (file: any File, number: UInt64) {
      let number = UInt64(1000 + numbers.count)
      numbers.append(number)
      do throws(SystemError) {
        return (try files.open("/" + FileName.segment(number).text, .create), number)
      } catch {
        throw .output(error)
      }
    }

    func entries(_ descriptor: SegmentDescriptor) throws -> [SegmentTestEntry] {
      let file = try files.open("/" + descriptor.fileName, .read)
      let reader = SegmentReader(
        file: file, fileName: descriptor.fileName, reference: descriptor.reference, cache: nil)
      return try CompactionJobTests.entries(reader)
    }
  }

  private static func entries(_ reader: SegmentReader) throws -> [SegmentTestEntry] {
    var cursor = SegmentCursor(reader)
    try cursor.seekToFirst()
    return try cursor.forward()
  }

  /// A store of many flushes.
  private func makeStore(
    seed: UInt64, flushCount: Int
  ) throws -> (Database, CompactionSample.Model) {
    var model = CompactionSample.Model(seed: seed)
    let database = try CompactionSample.store().open()
    for _ in 0..<flushCount {
      try database.write(model.batch(), durability: .lazy)
      try database.flush()
    }
    return (database, model)
  }

  private func job(
    _ database: Database, _ inputs: [SegmentHandle], horizon: SequenceNumber = 0,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) -> CompactionJob {
    let numbers = Set(inputs.map(\.descriptor.number))
    return CompactionJob(
      inputs: inputs, reason: .requested, session: 1,
      outside: database.liveSegments.filter { !numbers.contains($0.number) },
      policy: CompactionPolicy(segmentByteCount: 4096), options: database.options,
      horizon: horizon, now: 7, isCancelled: isCancelled)
  }

  private func newest(_ entries: [SegmentTestEntry]) -> [[UInt8]: SegmentTestEntry] {
    entries.reduce(into: [:]) { newest, entry in
      if let other = newest[entry.key], other.sequence > entry.sequence { return }
      newest[entry.key] = entry
    }
  }

  /// Any set of segments may be merged: no read and no count changes.
  @Test(.bug(id: "B31"), arguments: 0..<25 as Range<UInt64>) func anySetOfSegmentsCanBeMerged(
    seed: UInt64
  ) throws {
    let (database, model) = try makeStore(seed: seed, flushCount: 9)
    let segments = database.state.readView.version.segments
    var random = SeededGenerator(seed: seed, stream: 5)
    for round in 0..<6 {
      let inputs = segments.filter { _ in random.coin() }
      if inputs.isEmpty { continue }
      var sink = Sink()
      let output = try job(database, inputs).run(&sink)
      let outside = segments.filter { segment in !inputs.contains { $0 === segment } }
      let rest = try outside.flatMap { try Self.entries($0.reader()) }
      let made = try output.flatMap { try sink.entries($0) }
      let comment: Comment = "seed \(seed) round \(round)"
      for (index, space) in CompactionSample.spaces.enumerated() {
        let seen = newest((rest + made).filter { $0.key[0] == space.code })
        let live = seen.filter { $0.value.kind.isPut }.mapValues(\.value)
        #expect(Set(live.keys.map { Array($0.dropFirst()) }) == Set(model.contents[index].keys))
        for (key, value) in model.contents[index] {
          #expect(live[[space.code] + key] == value, comment)
        }
      }
      let before = segments.reduce(0) { $0 + change(of: $1.descriptor) }
      let after = (outside.map(\.descriptor) + output).reduce(0) { $0 + change(of: $1) }
      #expect(before == after && after == model.contents[0].count, comment)
      #expect(output.allSatisfy { $0.spaces.count == 1 }, comment)
      for descriptor in output {
        let entries = try sink.entries(descriptor)
        let largest = entries.map(\.value.count).max() ?? 0
        #expect(descriptor.byteCount < 4096 + largest + 1200, comment)
      }
    }
  }

  private func change(of descriptor: SegmentDescriptor) -> Int {
    descriptor.bounds(ofSpace: 1)?.change ?? 0
  }

  /// Between two insertions of a key lies its removal, wherever that is.
  @Test func insertionsWithoutTheRemovalBetweenThemBothStay() throws {
    let database = try CompactionSample.store().open()
    for kind in [RecordKind.insertion, .removal, .insertion] {
      var batch = WriteBatch()
      if kind.isPut {
        batch.put([1], forKey: [1], in: CompactionSample.spaces[0], kind: kind)
      } else {
        batch.delete([1], in: CompactionSample.spaces[0], kind: kind)
      }
      try database.write(batch)
      try database.flush()
    }
    let segments = database.state.readView.version.segments
    var sink = Sink()
    let output = try job(database, [segments[0], segments[2]], horizon: 3).run(&sink)
    let entries = try output.flatMap { try sink.entries($0) }
    #expect(entries.map(\.sequence) == [3, 1])
    #expect(entries.map(\.kind) == [.insertion, .insertion])
    var all = Sink()
    let whole = try job(database, segments, horizon: 3).run(&all)
    let one = try whole.flatMap { try all.entries($0) }
    #expect(one.map(\.sequence) == [0])
    #expect(one.map(\.kind) == [.insertion])
  }

  @Test(.bug(id: "B34"), arguments: 0..<10 as Range<UInt64>)
  func onlySequencesThatNobodyComparesAreDropped(seed: UInt64) throws {
    let (database, _) = try makeStore(seed: seed, flushCount: 6)
    let segments = database.state.readView.version.segments
    let before = newest(try segments.flatMap { try Self.entries($0.reader()) })
    for horizon in [0, 10, 1000] as [SequenceNumber] {
      var sink = Sink()
      let output = try job(database, segments, horizon: horizon).run(&sink)
      let after = try output.flatMap { try sink.entries($0) }
      // Everything is merged: no tombstone stays but what a snapshot may ask about.
      #expect(after.allSatisfy { $0.kind.isPut || $0.sequence > horizon }, "seed \(seed)")
      for entry in after {
        let old = try #require(before[entry.key]?.sequence)
        #expect(entry.sequence == (old <= horizon ? 0 : old), "seed \(seed)")
      }
      // Beside a segment that overlaps, all stay.
      var other = Sink()
      let part = try job(database, Array(segments.dropLast()), horizon: horizon).run(&other)
      let kept = try part.flatMap { try other.entries($0) }
      let outside = segments[segments.count - 1].descriptor
      for entry in kept where outside.bounds(ofSpace: entry.key[0]) != nil {
        let isZero = entry.sequence == 0
        #expect(!isZero || !part.contains { $0.overlaps(outside) }, "seed \(seed)")
      }
    }
  }

  @Test(.bug(id: "B38")) func tombstonesGoUnlessSomethingOlderMayLieBelow() throws {
    let database = try CompactionSample.store().open()
    try database.put([1], [5])
    try database.put([1], [9])
    try database.flush()
    for key in [4, 6, 10] as [UInt8] { try database.remove([key]) }
    try database.flush()
    let segments = database.state.readView.version.segments
    var sink = Sink()
    let output = try job(database, [segments[0]], horizon: 1000).run(&sink)
    #expect(try output.flatMap { try sink.entries($0) }.map(\.key) == [[64, 6]])
    // An older segment is not there for newer entries: the other way round nothing is dropped.
    var other = Sink()
    let below = try job(database, [segments[1]], horizon: 1000).run(&other)
    #expect(below.map(\.entryCount) == [2])
    // A snapshot from before the deletions may be what a condition names.
    var held = Sink()
    #expect(try job(database, [segments[0]], horizon: 2).run(&held).map(\.entryCount) == [3])
  }

  @Test func aJobThatIsCancelledEnds() throws {
    let database = try CompactionSample.store().open()
    for key in 0..<100 as Range<UInt8> {
      var batch = WriteBatch()
      for other in 0..<10 as Range<UInt8> { batch.put([1], forKey: [key, other]) }
      try database.write(batch, durability: .lazy)
    }
    try database.flush()
    let segments = database.state.readView.version.segments
    let calls = Lock(0)
    var sink = Sink()
    #expect {
      _ = try job(database, segments) {
        calls.withLock { calls in
          calls += 1
          return calls == 3
        }
      }.run(&sink)
    } throws: { error in
      guard case .input(.cancelled)? = error as? JobFailure else { return false }
      return true
    }
    #expect(calls.withLock { $0 } == 3)
  }
}
