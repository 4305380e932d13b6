import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// What a failed sync means to a database: the end of the handle, and nothing that is trusted again
/// without being written again (rules F4, F5).
@Suite struct FailedSyncDatabaseTests {
  private static let seed: UInt64 = 6

  /// Commits, flushes and closes on a file system of which one sync fails.
  private struct Run {
    let recording = RecordingFileSystem()
    let files: FaultFileSystem
    let database: Database
    var batches = BatchGenerator(seed: seed)
    /// What was acknowledged.
    var content = StoreContent()
    var isClosed = false
    /// With the commit whose outcome is unknown.
    var alternative: StoreContent?

    init() throws {
      files = FaultFileSystem(recording)
      database = try TinyStore.open(in: files)
    }

    mutating func commit(_ durability: Durability? = nil) throws {
      var batch = batches.batch()
      batch.operations.append((batches.key(), [UInt8](repeating: 7, count: 300)))
      let durability = durability ?? batches.durability()
      do {
        try database.write(batch.writeBatch(on: nil), durability: durability)
        content = batch.applied(to: content)
      } catch {
        if case .outcomeUnknown = error { alternative = batch.applied(to: content) }
        throw error
      }
    }
  }

  /// Plans the failure of the n-th sync of a kind and runs until a call throws.
  ///
  /// - Returns: The run and the error, `nil` when there are fewer syncs.
  private func run(
    failing kind: SystemError.Operation, at position: Int
  ) throws -> (Run, DatabaseError?) {
    var run = try Run()
    run.files.plan(Fault(.error(EIO), at: position, of: [kind]))
    do {
      for number in 1...25 {
        try run.commit()
        if number % 10 == 4 { try run.database.flush() }
      }
      try run.commit(.lazy)
      run.isClosed = true
      try run.database.close()
    } catch let error as DatabaseError {
      return (run, error)
    }
    return (run, nil)
  }

  @Test(
    .bug(id: "B14"), .bug(id: "B46"), .bug(id: "B65"),
    arguments: [SystemError.Operation.sync, .syncDirectory])
  func nothingIsBuiltOnWhatAFailedSyncLeft(kind: SystemError.Operation) throws {
    var position = 0
    var unknownCount = 0
    var ballastCount = 0
    while true {
      position += 1
      let (run, error) = try run(failing: kind, at: position)
      let name: Comment = "seed \(Self.seed), \(kind) \(position), \(String(describing: error))"
      guard run.files.wasHit else {
        #expect(error == nil, name)
        break
      }
      // Nothing is stored in the ballast, so a sync of it that fails ends nothing.
      if error == nil, kind == .sync {
        ballastCount += 1
        continue
      }
      if case .outcomeUnknown = error { unknownCount += 1 }
      try expectFinished(run, error, name)
      try expectRecovery(run, name)
    }
    #expect(position > (kind == .sync ? 25 : 6))
    #expect(ballastCount <= 2)
    #expect(unknownCount > 10 || kind == .syncDirectory)
  }

  /// The handle refuses to write and shows what was committed, and its close writes nothing.
  private func expectFinished(_ run: Run, _ error: DatabaseError?, _ name: Comment) throws {
    let error = try #require(error, name)
    #expect(error == .failed || error.failure?.code == EIO, name)
    let count = run.recording.operationCount
    // The sync of the last lazy commit fails in close().
    if run.isClosed { return }
    #expect(try run.database.content() == run.content, name)
    if case .notWritten = error {
      // The store was not open for writing yet: the handle has written nothing that it could lose.
      #expect(run.content == StoreContent(), name)
      return
    }
    for durability in [Durability.full, .lazy] {
      var copy = run
      #expect(throws: DatabaseError.failed, name) { try copy.commit(durability) }
    }
    #expect(throws: DatabaseError.failed, name) { try run.database.flush() }
    try run.database.close()
    #expect(run.recording.operationCount == count, name)
  }

  /// The next open in the same boot may see the last commit or not; one more full commit makes what
  /// it sees durable.
  private func expectRecovery(_ run: Run, _ name: Comment) throws {
    try run.database.close()
    let reopened = try TinyStore.open(in: run.recording)
    let seen = try reopened.content()
    #expect(seen == run.content || seen == run.alternative, name)
    var batches = BatchGenerator(seed: Self.seed, stream: 9)
    let batch = batches.batch()
    try reopened.write(batch.writeBatch(on: nil))
    let expected = batch.applied(to: seen)
    let count = run.recording.operationCount
    for variant in CrashVariant.allCases {
      for seed in (0..<4 as Range<UInt64>) {
        let image = run.recording.image(after: count, variant: variant, seed: seed)
        let recovered = try TinyStore.open(in: image)
        #expect(try recovered.content() == expected, "\(name), \(variant), image seed \(seed)")
      }
    }
  }

  @Test(.bug(id: "B14"))
  func aHandleThatIsReleasedAfterAFailureLeavesNoTrace() throws {
    let recording = RecordingFileSystem()
    let files = FaultFileSystem(recording)
    var count = 0
    do {
      let database = try TinyStore.open(in: files)
      try database.write { $0.put([1], forKey: [1]) }
      files.plan(Fault(.error(EIO), at: 1, of: [.sync]))
      #expect(throws: DatabaseError.self) { try database.write { $0.put([2], forKey: [2]) } }
      count = recording.operationCount
    }
    #expect(recording.operationCount == count)
    let image = recording.image(after: count, variant: .strict)
    #expect(try TinyStore.open(in: image).value(forKey: [1]) == [1])
    #expect(try TinyStore.open(in: image.process(2)).value(forKey: [2]) == nil)
    #expect(try TinyStore.open(in: recording).value(forKey: [1]) == [1])
  }
}
