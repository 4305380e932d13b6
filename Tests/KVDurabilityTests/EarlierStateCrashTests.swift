import KVTestSupport
import Testing

@testable import KVEngine

/// The first write at an earlier state: a crash at each of its operations, a fault in each call.
@Suite struct EarlierStateCrashTests {
  private static let key = SpaceKey(space: 2, bytes: [7, 7])

  /// A store that has lost its newest segment, and what is left of it.
  private struct Bed {
    let tree: MemoryTree
    /// The earlier state, and that after the first write.
    let contents: [StoreContent]

    init() throws {
      let store = try SmallStore()
      let newest = try #require(store.segmentNumbers.last)
      try store.files.unlink(TinyStore.path + "/" + FileName.segment(newest).text)
      tree = store.files.tree
      let earlier = store.states[store.flushedIndex]
      var later = earlier
      later[EarlierStateCrashTests.key] = [1]
      contents = [earlier, later]
    }
  }

  private func open(_ files: any FileSystem) throws -> Database {
    var options = SmallStore.options
    options.onDamage = .openEarlierState
    return try TinyStore.open(in: files, options: options)
  }

  private func write(to database: Database) throws {
    var batch = ModelBatch()
    batch.operations.append((Self.key, [1]))
    try database.write(batch.writeBatch(on: nil))
  }

  @Test(arguments: CrashVariant.allCases)
  func aCrashLeavesTheEarlierStateOrTheNewOne(variant: CrashVariant) throws {
    let bed = try Bed()
    let recording = RecordingFileSystem(MemoryFileSystem(bed.tree))
    let database = try open(recording)
    #expect(try database.countedContent() == bed.contents[0])
    try write(to: database)
    let end = recording.operationCount
    #expect(try database.countedContent() == bed.contents[1])
    try database.close()
    #expect(end > 15)
    for count in Thoroughness.part(of: 0..<end + 1, step: 3, offset: variant.rawValue) {
      let seeds = variant == .names ? recording.nameSeeds(after: count) : 0..<4
      for seed in seeds.prefix(24) {
        let image = recording.image(after: count, variant: variant, seed: seed)
        let last = recording.operations.prefix(count).last.map { "\($0)" } ?? "start"
        let comment: Comment = "\(variant), seed \(seed), after \(last)"
        do {
          let again = try open(image.process(1))
          let content = try again.countedContent()
          let allowed = count == end ? bed.contents.suffix(1) : bed.contents[...]
          #expect(allowed.contains(content), comment)
          #expect(content == bed.contents[1] || again.earlierState != nil || count > 15, comment)
          try StoreCheck(files: image, seed: seed).takesCommits(2, to: again, from: content)
        } catch {
          Issue.record("\(comment): \(error)")
          return
        }
      }
    }
  }

  private static let faults: [(code: Int32, progress: Fault.Progress)] = [
    (5, .nothing), (28, .nothing), (28, .part), (5, .everything),
  ]

  @Test(arguments: faults)
  func noFailingCallHarmsTheStore(code: Int32, progress: Fault.Progress) throws {
    let bed = try Bed()
    for position in 1... {
      let recording = RecordingFileSystem(MemoryFileSystem(bed.tree))
      let files = FaultFileSystem(recording)
      let database = try open(files)
      files.plan(Fault(.error(code, after: progress), at: position))
      var failure: (any Error)?
      do {
        try write(to: database)
      } catch {
        failure = error
      }
      let wasHit = files.wasHit
      files.plan()
      let comment: Comment = "call \(position): \(failure.map { "\($0)" } ?? "none")"
      let shown = try database.countedContent()
      #expect(shown == bed.contents[failure == nil ? 1 : 0], comment)
      try? database.close()
      // What the process leaves, and what a power cut leaves.
      let strict = recording.image(after: recording.operationCount, variant: .strict)
      for left in [recording.base, strict] {
        let again = try open(left.process(2))
        let content = try again.countedContent()
        #expect(bed.contents.contains(content), comment)
        #expect(failure != nil || content == bed.contents[1], comment)
        try StoreCheck(files: left, seed: 1).takesCommits(3, to: again, from: content)
      }
      if !wasHit {
        #expect(failure == nil && position > 20)
        return
      }
    }
  }
}
