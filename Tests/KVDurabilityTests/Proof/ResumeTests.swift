import Foundation
import KVTestSupport
import Testing

@testable import KVEngine

/// After a fault has passed, the store takes commits again, and keeps them through a crash: T7 of
/// the test plan (promises P2 to P4, P9).
@Suite struct ResumeTests {
  private static let codes = [EIO, ENOSPC, EACCES, EROFS, EMFILE, EINTR, EFBIG]
  /// Every how many calls one fails.
  private static let step = Thoroughness.step(quick: 29, push: 4)
  private static let seeds = Thoroughness.seeds(Thoroughness.count(quick: 1, push: 1, nightly: 5))

  /// What a run went through.
  private struct Run {
    let recording = RecordingFileSystem()
    var batches: BatchGenerator
    /// What the store may hold: more than one state once a commit has an unknown outcome.
    var candidates = [StoreContent()]
    var database: Database?
    var process: Int32 = 1
  }

  /// Commits, flushes and merges while calls fail as planned; only what is unknown stays open.
  private func liveThrough(_ fault: Fault, _ run: inout Run) throws -> Bool {
    let files = FaultFileSystem(run.recording, process: 1)
    var isPlanned = false
    for _ in 0..<3 {
      do {
        let database = try run.database ?? TinyStore.open(in: files)
        run.database = database
        for number in 0..<6 {
          if number == 2, !isPlanned {
            files.plan(fault)
            isPlanned = true
          }
          try commit(to: database, &run)
          if number == 3 { try database.flush() }
          if number == 4 { try database.compact() }
        }
        try database.suspend()
        try database.resume()
        break
      } catch let error as DatabaseError {
        switch error {
        case .failed, .outcomeUnknown: run.database = nil
        default: break
        }
      }
    }
    let wasHit = files.wasHit
    files.plan()
    return wasHit
  }

  private func commit(to database: Database, _ run: inout Run) throws {
    let batch = run.batches.batch()
    let applied = run.candidates.map { batch.applied(to: $0) }
    do {
      try database.write(batch.writeBatch(on: nil))
      run.candidates = applied
    } catch {
      if case .outcomeUnknown = error { run.candidates += applied }
      throw error
    }
  }

  /// Goes on with the same handle where that is possible, else with a new one.
  private func goOn(_ run: inout Run, isResumed: Bool) throws {
    let database: Database
    if isResumed, let held = run.database {
      try held.suspend()
      try held.resume()
      database = held
    } else {
      run.database = nil
      database = try TinyStore.open(in: run.recording.process(2))
      run.candidates = try [settled(database.content(), run.candidates)]
    }
    for number in 0..<20 {
      try commit(to: database, &run)
      if number == 10 { try database.flush() }
    }
    let expected = try settled(database.content(), run.candidates)
    let end = run.recording.operationCount
    for variant in [CrashVariant.strict, .everything, .mixedWrites, .names] {
      let image = run.recording.image(after: end, variant: variant, seed: 1)
      let recovered = try TinyStore.open(in: image)
      guard try recovered.content() == expected else { throw Problem("\(variant) lost commits") }
      guard try recovered.verify().isSound else { throw Problem("\(variant) is damaged") }
    }
  }

  private func settled(
    _ content: StoreContent, _ candidates: [StoreContent]
  ) throws -> StoreContent {
    guard candidates.contains(content) else { throw Problem("holds a state of no commit") }
    return content
  }

  @Test(arguments: codes, [Fault.Progress.nothing, .part, .everything])
  func commitsGoOnAfterAFault(code: Int32, progress: Fault.Progress) throws {
    var count = 0
    for seed in Self.seeds {
      for isLasting in [false, true] {
        for position in stride(from: 1, through: .max, by: Self.step) {
          var run = Run(batches: BatchGenerator(seed: seed, stream: 7))
          var wasHit = false
          do {
            let fault = Fault(.error(code, after: progress), at: position, isLasting: isLasting)
            wasHit = try liveThrough(fault, &run)
            try goOn(&run, isResumed: count % 2 == 0)
          } catch {
            Issue.record(
              "seed \(seed), \(code) after \(progress) at call \(position), \(isLasting): \(error)")
            return
          }
          guard wasHit else { break }
          count += 1
        }
      }
    }
    #expect(count > 4)
    ProofTally.count("T7", "faults", count)
  }
}
