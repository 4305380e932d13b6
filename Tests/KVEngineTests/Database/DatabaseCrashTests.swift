import KVTestSupport
import Testing

@testable import KVEngine

/// The power fails after every change of the disk, in every way that the crash model knows.
@Suite struct DatabaseCrashTests {
  /// A recorded history, and how many batches were durable after how many changes.
  private struct History {
    let recording = RecordingFileSystem()
    /// Changes when a full commit returned, and its number; a later one covers all before it.
    var durable: [(operationCount: Int, number: UInt8)] = []
    /// Changes before a batch was begun, and its number.
    var begun: [(operationCount: Int, number: UInt8)] = []

    var store: StoreSample { StoreSample(recording, isTiny: true) }

    mutating func commit(_ numbers: ClosedRange<UInt8>, to database: Database) throws {
      for number in numbers {
        begun.append((recording.operationCount, number))
        let durability: Durability = number % 3 == 1 ? .lazy : .full
        try database.write(NumberedCommits.batch(number), durability: durability)
        if durability == .full { durable.append((recording.operationCount, number)) }
      }
    }

    /// What an image after so many changes may hold: the last of a run of batches.
    func allowed(after count: Int) -> ClosedRange<UInt8> {
      let least = durable.last { $0.operationCount <= count }?.number ?? 0
      let most = begun.last { $0.operationCount < count }?.number ?? 0
      return least...max(least, most)
    }
  }

  /// A history with a lazy commit that a close makes durable, flushes, a second process, and a
  /// handle that was let go without a close.
  private func makeHistory() throws -> History {
    var history = History()
    do {
      let database = try history.store.open()
      try history.commit(1...1, to: database)
      try database.close()
      history.durable.append((history.recording.operationCount, 1))
    }
    do {
      let database = try history.store.open()
      try history.commit(2...6, to: database)
      try database.flush()
      history.durable.append((history.recording.operationCount, 6))
      try history.commit(7...7, to: database)
    }
    let database = try history.store.open(in: history.recording.process(2))
    try history.commit(8...11, to: database)
    return history
  }

  private func check(_ image: MemoryFileSystem, _ allowed: ClosedRange<UInt8>) throws -> String? {
    let store = StoreSample(image, isTiny: true)
    let found: [UInt8]
    do throws(DatabaseError) {
      let database = try store.open()
      guard let numbers = try? NumberedCommits.numbers(in: database) else { return "a part" }
      found = numbers
      guard found == (0..<found.count).map({ UInt8($0 + 1) }) else {
        return "a hole: \(found)"
      }
      guard allowed.contains(UInt8(found.count)) else { return "\(found.count) of \(allowed)" }
      // What was found is durable once the store was written to.
      let recording = RecordingFileSystem(image)
      try database.close()
      let writing = try StoreSample(recording, isTiny: true).open()
      try writing.write(NumberedCommits.batch(UInt8(found.count + 1)))
      let strict = recording.image(after: recording.operationCount, variant: .strict)
      let again = try StoreSample(strict, isTiny: true).open()
      let last = try? NumberedCommits.numbers(in: again)
      return last == found + [UInt8(found.count + 1)] ? nil : "not durable again"
    } catch {
      return "\(error)"
    }
  }

  @Test(
    .bug(id: "B01"), .bug(id: "B04"), .bug(id: "B40"), .bug(id: "B41"), .bug(id: "B44"),
    .bug(id: "B46"), .bug(id: "B47"), arguments: CrashVariant.allCases)
  func everyImageHoldsARunOfWholeBatches(variant: CrashVariant) throws {
    let history = try makeHistory()
    let recording = history.recording
    var imageCount = 0
    for count in 0...recording.operationCount {
      let allowed = history.allowed(after: count)
      let seeds: Range<UInt64> =
        switch variant {
        case .names: 0..<min(12, recording.nameSeeds(after: count).upperBound)
        case .halfOfSectors, .mixedWrites, .mixedFiles: 0..<2
        default: UInt64(count % 7)..<UInt64(count % 7 + 1)
        }
      for seed in seeds {
        imageCount += 1
        let image = recording.image(after: count, variant: variant, seed: seed)
        let finding = try check(image, allowed)
        let last = count > 0 ? "\(recording.operations[count - 1])" : "nothing"
        #expect(finding == nil, "\(variant) seed \(seed) after \(last)")
      }
    }
    ProofTally.count("T1", "images", imageCount)
  }

  /// Commits after a fault, in the same boot, are as durable as any.
  @Test(
    .bug(id: "B46"),
    arguments: [
      // The n-th sync or flush of names fails in a history of a commit, a flush and commits.
      (SystemError.Operation.sync, 1), (.sync, 2), (.sync, 3), (.sync, 4), (.sync, 5), (.sync, 6),
      (.syncDirectory, 1), (.syncDirectory, 2),
    ])
  func whatIsCommittedAfterAFailedSyncIsDurable(kind: SystemError.Operation, position: Int) throws {
    let recording = RecordingFileSystem()
    let files = FaultFileSystem(recording)
    let store = StoreSample(files, isTiny: true)
    // What was acknowledged, and after how many changes.
    var durable: [(operationCount: Int, numbers: Set<UInt8>)] = [(0, [])]
    var database = try store.open()
    try database.write(NumberedCommits.batch(1))
    files.plan(Fault(.error(5), at: position, of: [kind]))
    for number in 2...8 as ClosedRange<UInt8> {
      if number == 5 { try? database.flush() }
      do throws(DatabaseError) {
        try database.write(NumberedCommits.batch(number))
        let numbers = durable[durable.count - 1].numbers.union([number])
        durable.append((recording.operationCount, numbers))
      } catch {
        try? database.close()
        database = try store.open()
      }
    }
    #expect(files.wasHit)
    #expect(durable.count > 5)
    for (count, numbers) in durable.dropFirst() {
      for variant in CrashVariant.allCases {
        let image = recording.image(after: count, variant: variant)
        let found = try NumberedCommits.numbers(in: StoreSample(image, isTiny: true).open())
        let comment = "\(variant) after \(numbers)"
        #expect(Set(try #require(found, "\(comment)")).isSuperset(of: numbers), "\(comment)")
      }
    }
  }
}
