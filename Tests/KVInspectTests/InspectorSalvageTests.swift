import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// `salvage`: a damaged store becomes a sound one somewhere else.
@Suite struct InspectorSalvageTests {
  private static func rescued(_ store: TestStore) throws -> [Memo] {
    var options = DatabaseOptions()
    options.createIfMissing = false
    let timeline = try MemoTimeline(at: store.directory.path("rescued"), options: options)
    #expect(try timeline.verify().isSound)
    var cursor = try timeline.cursor()
    var memos: [Memo] = []
    while let (_, memo) = try cursor.next() {
      memos.append(memo)
      #expect(try timeline.memo(for: memo.id) == memo)
    }
    return memos
  }

  @Test func aSoundStoreIsKeptWhole() throws {
    let store = try TestStore(memos(0..<50), segments: 2, logged: memos(50..<60))
    let before = try store.contents()
    let run = try InspectorRun("salvage", store.path, store.directory.path("rescued"))
    #expect(run.code == .fine)
    #expect(run.outputLines.last?.hasPrefix("kept: 60 memos, 120 entries in all") == true)
    #expect(!run.outputText.contains("lost"))
    #expect(try Self.rescued(store) == store.memos())
    #expect(try store.contents() == before)
    let again = try InspectorRun("salvage", store.path, store.directory.path("rescued"))
    #expect(again.code == .system && again.errorLines.count == 1 && again.output.isEmpty)
  }

  /// Memos and ids are in step afterwards, whichever of the two was lost.
  @Test(arguments: stride(from: 60, to: 12_000, by: 900).map { $0 })
  func whatIsLostIsSaidAndTheRestCanBeUsed(offset: Int) throws {
    let store = try TestStore(memos(0..<300), segments: 1)
    for name in try store.names(".log") where name != (try store.names(".log").last) {
      try FileManager.default.removeItem(atPath: store.path + "/" + name)
    }
    let segment = try #require(try store.names(".seg").last)
    try store.patch(segment) { $0[offset % $0.count] ^= 1 }
    let run = try InspectorRun("salvage", store.path, store.directory.path("rescued"), "--json")
    let objects = try run.outputObjects()
    let found = try Self.rescued(store)
    #expect(objects.last?["memos"] as? Int == found.count)
    let isLost = objects.contains { $0["lost"] != nil }
    #expect(run.code == (isLost ? .damage : .fine))
    #expect(objects.last?["complete"] as? Bool == !isLost)
    #expect(isLost || found.count == 300)
    #expect(found.count > 100)
    #expect(!run.outputText.contains(secret))
    let timeline = try MemoTimeline(at: store.directory.path("rescued"))
    for memo in memos(0..<300) { _ = try timeline.upsert(memo, durability: .lazy) }
    #expect(try timeline.count() == 300)
    #expect(try timeline.verify().isSound)
  }

  @Test func withoutAnyManifestTheNoteSaysWhatMayBeBack() throws {
    let store = try TestStore(memos(0..<40), segments: 2)
    for name in try FileManager.default.contentsOfDirectory(atPath: store.path)
    where name.hasPrefix("MANIFEST") {
      try FileManager.default.removeItem(atPath: store.path + "/" + name)
    }
    let run = try InspectorRun("salvage", store.path, store.directory.path("rescued"))
    #expect(run.code == .damage)
    #expect(run.outputText.contains("lost: MANIFEST: is missing\n"))
    #expect(run.outputText.contains("deleted memos may be back"))
    #expect(try Self.rescued(store).count == 40)
  }
}
