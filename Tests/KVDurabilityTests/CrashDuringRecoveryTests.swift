import KVTestSupport
import Testing

@testable import KVEngine

/// A crash during the recovery from a crash changes nothing for the next one (promise P9).
@Suite struct CrashDuringRecoveryTests {
  private static let variants: [CrashVariant] = [.strict, .everything, .names, .mixedWrites]

  /// A crash image of the workload, the state it holds, and the operations that recovered it.
  private struct Recovery {
    let files: RecordingFileSystem
    /// The state that was found, and that after each commit of the recovering process.
    var states: [StoreContent] = []
    /// Operations recorded when each of these states was durable.
    var ends = [0]

    /// Opens, commits, flushes, commits, closes.
    init(_ image: MemoryFileSystem, seed: UInt64) throws {
      files = RecordingFileSystem(image)
      let database = try TinyStore.open(in: files.process(1))
      states = [try database.countedContent()]
      var batches = BatchGenerator(seed: seed)
      for _ in 0..<2 {
        let content = states[states.count - 1]
        let batch = batches.batch()
        try database.write(batch.writeBatch(on: content))
        states.append(batch.applied(to: content))
        ends.append(files.operationCount)
        if states.count == 2 { try database.flush() }
      }
      try database.close()
    }

    /// The states that a crash after some operations may leave: what the first open found stays.
    func allowedStates(after count: Int) -> ClosedRange<Int> {
      let durable = ends.lastIndex { $0 <= count } ?? 0
      return durable...min(durable + 1, states.count - 1)
    }
  }

  @Test(arguments: 0..<8)
  func recoveryMayBeCutShortAnywhere(part: Int) throws {
    let workload = try DatabaseWorkload(seed: 2 + Thoroughness.seedBase)
    var generator = SeededGenerator(seed: 3 + Thoroughness.seedBase, stream: UInt64(part))
    let outerCount = Thoroughness.count(quick: 1, push: 8, nightly: 50)
    var imageCount = 0
    for _ in 0..<outerCount {
      let boundary = Int.random(in: 0...workload.files.operationCount, using: &generator)
      let variant = CrashVariant.allCases.randomElement(using: &generator) ?? .strict
      let seed = workload.seeds(of: variant, after: boundary)[0]
      let outer = "workload \(workload.seed), \(variant), seed \(seed), after \(boundary)"
      let image = workload.files.image(after: boundary, variant: variant, seed: seed)
      let recovery = try Recovery(image, seed: seed)
      let allowed = workload.allowedStates(after: boundary, isPowerCut: variant != .everything)
      #expect(workload.states[allowed].contains(recovery.states[0]), "\(outer)")
      for count in 0...recovery.files.operationCount {
        for inner in Self.variants {
          check(recovery, after: count, inner, seed: generator.next(), outer: outer)
          imageCount += 1
        }
      }
    }
    ProofTally.count("T3", "images", imageCount)
  }

  private func check(
    _ recovery: Recovery, after count: Int, _ variant: CrashVariant, seed: UInt64, outer: String
  ) {
    let names = recovery.files.nameSeeds(after: count)
    let seed = variant == .names ? seed % UInt64(names.count) : seed
    let image = recovery.files.image(after: count, variant: variant, seed: seed)
    do {
      try StoreCheck(files: image, seed: seed)
        .holds(
          oneOf: recovery.allowedStates(after: count), of: recovery.states,
          isUsed: count % 4 == variant.rawValue % 4)
    } catch {
      Issue.record("\(outer); then \(variant), seed \(seed), after \(count): \(error)")
    }
  }
}
