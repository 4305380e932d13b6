import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// Stores of earlier builds of this format: they are read as they were then, without changing a
/// byte, and written on, whatever happens meanwhile: T16 of the test plan.
///
/// `MEMOKV_MAKE_GOLDEN_STORES=1 swift test --filter GoldenStoreTests` makes them anew, which is
/// right as long as the format version is 0, and never again from 1 on.
@Suite(.serialized) struct GoldenStoreTests {
  private static let isMaking =
    ProcessInfo.processInfo.environment["MEMOKV_MAKE_GOLDEN_STORES"] != nil

  @Test(
    .enabled(if: isMaking, "the stores are kept, not made"), arguments: GoldenStore.allCases)
  func makeAnew(store: GoldenStore) throws {
    try #require(FormatVersion.current == 0, "stores of a released format stay as they are")
    try store.make()
  }

  @Test(arguments: GoldenStore.allCases)
  func readingGivesWhatWasWrittenAndChangesNothing(store: GoldenStore) throws {
    let before = try TestStore.contents(of: store.folder.path)
    #expect(before.count > 1)
    let scan = try InspectorRun("scan", store.folder.path, "--json")
    #expect(scan.code == .fine && scan.errors.isEmpty)
    #expect(try Data(scan.output) == Data(contentsOf: store.scanFile))
    let report = try InspectorRun("verify", store.folder.path)
    #expect(report.code == .fine)
    #expect(try Data(report.output) == Data(contentsOf: store.reportFile))
    for words in [["summary"], ["space"], ["segments"], ["log"], ["manifest"], ["latest"]] {
      #expect(try InspectorRun(words + [store.folder.path]).code == .fine, "\(words)")
    }
    #expect(try TestStore.contents(of: store.folder.path) == before)
  }

  /// The stores are there for their differences; a generator that makes all alike is no use.
  @Test func theStoresDiffer() throws {
    func number(_ store: GoldenStore, _ name: String) throws -> Int {
      let run = try InspectorRun("summary", store.folder.path, "--json")
      return try run.outputObjects().first?[name] as? Int ?? -1
    }
    #expect(try number(.empty, "memos") == 0)
    #expect(try number(.tiny, "memos") == 3 && number(.tiny, "segments") == 0)
    #expect(try number(.levels, "segments") > 3 && number(.levels, "logEntries") > 30)
    #expect(try number(.edge, "memos") > 350)
    let logs = try InspectorRun("log", GoldenStore.torn.folder.path)
    #expect(logs.outputText.contains("what a crash left"))
    let space = try InspectorRun("space", GoldenStore.snapshot.folder.path, "--json")
    let unneeded = try space.outputObjects().first.map { object in
      ["retiredBytes", "unfinishedBytes", "pinnedBytes"].compactMap { object[$0] as? Int }
    }
    #expect((unneeded ?? []).reduce(0, +) > 10_000)
    let segments = try InspectorRun("segments", GoldenStore.levels.folder.path)
    #expect(segments.outputText.contains("dense"))
  }

  private static let path = "/store"

  private func open(_ files: any FileSystem) throws -> MemoTimeline {
    var options = DatabaseOptions()
    options.worksInBackground = false
    return try MemoTimeline(at: Self.path, in: files, options: options)
  }

  /// Opening, writing, flushing and merging an old store, with a crash at every operation.
  @Test(arguments: GoldenStore.allCases)
  func writingOnSurvivesACrashAtEveryOperation(store: GoldenStore) throws {
    let recording = RecordingFileSystem(try store.load(at: Self.path))
    let latest = MemoTimestamp(microseconds: MemoTimestamp.supportedMicroseconds.upperBound)
    let added = Memo(
      id: try MemoID("added"), createdAt: try #require(latest), body: "written by a later build")
    let timeline = try open(recording)
    let old = try timeline.allMemos()
    #expect(try old.count == Fixture.lines(store.scanFile.path).count)
    try timeline.insert(added)
    let written = recording.operationCount
    try timeline.flush()
    try timeline.database.compact()
    #expect(try timeline.allMemos() == [added] + old)
    #expect(try timeline.verify().isSound)
    try timeline.close()

    let end = recording.operationCount
    let variants: [CrashVariant] = [.strict, .everything, .halfOfSectors, .names]
    var imageCount = 0
    for count in Thoroughness.part(of: 0..<end + 1, step: 7) {
      for variant in variants {
        let image = recording.image(after: count, variant: variant, seed: UInt64(count))
        let comment: Comment = "\(store), \(variant) after \(count) of \(end) operations"
        let again = try open(image.process(2))
        let found = try again.allMemos()
        #expect(found == [added] + old || (count < written && found == old), comment)
        #expect(try again.verify().isSound, comment)
        try again.close()
        imageCount += 1
      }
    }
    ProofTally.count("T16", "images", imageCount)
  }
}
