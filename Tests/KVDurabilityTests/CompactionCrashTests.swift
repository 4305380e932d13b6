import KVTestSupport
import Testing

@testable import KVEngine

/// A crash at every operation of a workload that merges segments, and a fault in every call of a
/// merge.
@Suite struct CompactionCrashTests {
  private static let seed: UInt64 = 4

  @Test func theWorkloadReplacesSegments() throws {
    let workload = try DatabaseWorkload(seed: Self.seed, compacts: true)
    let removed = workload.files.operations.count {
      if case .unlink = $0.change { $0.path.hasSuffix(".seg") } else { false }
    }
    #expect(removed >= 20, "inputs that nobody needs any more")
    let published = workload.files.operations.count {
      if case .rename = $0.change { $0.path.hasSuffix("/MANIFEST") } else { false }
    }
    #expect(published >= 60)
  }

  @Test(.bug(id: "B31"), .bug(id: "B44"), .bug(id: "B47"), arguments: CrashVariant.allCases)
  func everyImageHoldsAPrefix(variant: CrashVariant) throws {
    let seeds = Thoroughness.seeds(Thoroughness.count(quick: 1, push: 1, nightly: 5))
    for seed in seeds {
      try check(try DatabaseWorkload(seed: Self.seed + seed, compacts: true), variant)
    }
  }

  private func check(_ workload: DatabaseWorkload, _ variant: CrashVariant) throws {
    let count = workload.files.operationCount
    var (imageCount, failureCount) = (0, 0)
    for boundary in Thoroughness.part(of: 0..<count + 1, step: 97, offset: variant.rawValue * 5) {
      let allowed = workload.allowedStates(after: boundary, isPowerCut: variant != .everything)
      let seeds = workload.seeds(of: variant, after: boundary)
      for seed in seeds.prefix(Thoroughness.isLarge ? 8 : 2) {
        let image = workload.files.image(after: boundary, variant: variant, seed: seed)
        imageCount += 1
        do {
          try StoreCheck(files: image, seed: seed).holds(oneOf: allowed, of: workload.states)
        } catch {
          failureCount += 1
          let last = boundary == 0 ? "start" : workload.files.operations[boundary - 1].description
          Issue.record(
            "workload \(workload.seed), \(variant), seed \(seed), after \(last): \(error)")
          if failureCount == 5 { return }
        }
      }
    }
    ProofTally.count("T1", "images", imageCount)
  }

  /// A store of some flushes, closed, and what it holds.
  private func makeStore() throws -> (tree: MemoryTree, content: StoreContent) {
    let files = MemoryFileSystem()
    let database = try TinyStore.open(in: files)
    var batches = BatchGenerator(seed: Self.seed)
    var content = StoreContent()
    for _ in 0..<5 {
      for _ in 0..<3 {
        let batch = batches.batch()
        try database.write(batch.writeBatch(on: content), durability: .lazy)
        content = batch.applied(to: content)
      }
      try database.flush()
    }
    try database.close()
    return (files.tree, content)
  }

  enum Kind: CaseIterable {
    case ioError, ioErrorAfterPart, falseError, full, fullFromNowOn

    func fault(at position: Int) -> Fault {
      let writing: Set<SystemError.Operation> = [.open, .write, .sync, .link, .rename]
      return switch self {
      case .ioError: Fault(.error(5), at: position)
      case .ioErrorAfterPart: Fault(.error(5, after: .part), at: position, of: [.write])
      case .falseError: Fault(.error(5, after: .everything), at: position)
      case .full: Fault(.error(28), at: position, of: writing)
      case .fullFromNowOn: Fault(.error(28), at: position, of: writing, isLasting: true)
      }
    }
  }

  @Test(arguments: Kind.allCases) func noFailingCallOfACompactionHarmsTheStore(kind: Kind) throws {
    let (tree, content) = try makeStore()
    for position in 1... {
      let recording = RecordingFileSystem(MemoryFileSystem(tree))
      let files = FaultFileSystem(recording)
      let database = try TinyStore.open(in: files)
      // Takes the lock and makes the log's end.
      let key = SpaceKey(space: 2, bytes: [7])
      try database.write(ModelBatch(operations: [(key, [7])]).writeBatch(on: nil))
      var content = content
      content[key] = [7]
      try database.flush()
      files.plan(kind.fault(at: position))
      var failure: DatabaseError?
      do throws(DatabaseError) {
        while try database.compactor.step(isRequested: true, isCancelled: { false }) {}
      } catch {
        failure = error
      }
      let wasHit = files.wasHit
      files.plan()
      let comment: Comment = "\(kind) at call \(position): \(failure.map { "\($0)" } ?? "none")"
      #expect(try database.countedContent() == content, comment)
      try? database.close()
      // What the process leaves, and what a power cut leaves.
      let strict = recording.image(after: recording.operationCount, variant: .strict)
      for left in [recording.base, strict] {
        let again = try TinyStore.open(in: left)
        #expect(try again.countedContent() == content, comment)
        #expect(try again.verify().damage == [], comment)
        try again.compact()
        #expect(try again.countedContent() == content, comment)
        #expect(try again.verify().damage == [], comment)
        try again.close()
      }
      if !wasHit {
        #expect(failure == nil && position > 3)
        return
      }
    }
  }
}
