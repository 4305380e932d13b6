import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// `segments` and `segment`.
@Suite struct InspectorSegmentsTests {
  private func segments(_ store: TestStore) throws -> [[String: Any]] {
    let object = try #require(
      try InspectorRun("segments", store.path, "--json").outputObjects().first)
    return try #require(object["segments"] as? [[String: Any]])
  }

  private func layout(_ path: String, _ options: String...) throws -> [String: Any] {
    let run = try InspectorRun(["segment", path, "--json"] + options)
    return try #require(try run.outputObjects().first)
  }

  private func parts(_ layout: [String: Any]) throws -> [[String: Any]] {
    try #require(layout["parts"] as? [[String: Any]])
  }

  @Test func theNumbersAreThoseOfTheEngine() throws {
    let store = try TestStore(memos(0..<600), segments: 4, logged: memos(600..<610))
    let timeline = try MemoTimeline(at: store.path)
    let statistics = try timeline.database.statistics()
    let count = try timeline.count()
    try timeline.close()
    let listed = try segments(store)
    #expect(listed.count == statistics.segmentCount && listed.count == 4)
    #expect(
      listed.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) } == statistics.segmentByteCount)
    let spaces = listed.flatMap { $0["spaces"] as? [[String: Any]] ?? [] }
    let changes = spaces.filter { $0["name"] as? String == "memos" }.map { $0["change"] as? Int }
    #expect(changes == [150, 150, 150, 150] && count == 610)
    let sequences = listed.compactMap { $0["highestSequence"] as? Int }
    #expect(sequences == sequences.sorted(by: >))
    let text = try InspectorRun("segments", store.path).outputText
    #expect(
      text.hasSuffix("4 segments, \(Inspector.bytes(statistics.segmentByteCount)), 1200 entries\n"))
  }

  @Test func partsCoverTheFileFromItsFirstByteToItsLast() throws {
    let store = try TestStore(memos(0..<2000))
    let name = try #require(try store.names(".seg").first)
    let path = store.path + "/" + name
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let layout = try layout(path, "--hex")
    #expect(layout["state"] as? String == "live")
    #expect(layout["bytes"] as? Int == bytes.count)
    let parts = try parts(layout)
    var end = 0
    for part in parts {
      #expect(part["offset"] as? Int == end && part["sound"] as? Bool == true)
      end += part["bytes"] as? Int ?? 0
    }
    #expect(end == bytes.count)
    let hex = parts.compactMap { $0["hex"] as? String }.joined()
    #expect([UInt8](hexadecimal: hex.utf8) == [UInt8](bytes))
    let kinds = parts.compactMap { $0["kind"] as? String }
    #expect(kinds.first == "header" && kinds.last == "footer")
    #expect(Set(kinds) == ["header", "data", "filter", "properties", "index", "footer"])
    let entries = parts.reduce(0) { $0 + ($1["entries"] as? Int ?? 0) }
    #expect(entries == 4000 && layout["entries"] as? Int == 4000)
    let properties = try #require(layout["properties"] as? [String: Any])
    #expect((properties["spaces"] as? [Any])?.count == 2)
  }

  @Test func bytesAreShownSixteenALine() throws {
    let store = try TestStore(memos(0..<3))
    let name = try #require(try store.names(".seg").first)
    let run = try InspectorRun("segment", store.path + "/" + name, "--hex")
    let first = "00000000 4d 65 6d 6f 4b 56 1a 53  00 00 00 00 00 00 00 00  MemoKV.S........"
    #expect(run.outputLines.contains(first))
  }

  /// One damaged block: it is marked, and all others are there as before.
  @Test(arguments: [1, 5, 20])
  func aDamagedBlockDoesNotHideTheOthers(position: Int) throws {
    let store = try TestStore(memos(0..<2000))
    let name = try #require(try store.names(".seg").first)
    let path = store.path + "/" + name
    let sound = try parts(try layout(path))
    let offset = try #require(sound[position]["offset"] as? Int)
    try store.patch(name) { $0[offset + 40] ^= 1 }
    let run = try InspectorRun("segment", path)
    #expect(run.code == .damage && run.errors.isEmpty)
    #expect(run.outputText.contains("damaged: \(name) at byte \(offset): "))
    #expect(!run.outputText.contains(secret))
    let layout = try layout(path)
    let damaged = try parts(layout)
    #expect((layout["damage"] as? [[String: Any]])?.map { $0["offset"] as? Int } == [offset])
    #expect(damaged.map { $0["offset"] as? Int } == sound.map { $0["offset"] as? Int })
    for (index, part) in damaged.enumerated() {
      #expect(part["sound"] as? Bool == (index != position), "part \(index)")
      if index == position { continue }
      #expect(part["entries"] as? Int == sound[index]["entries"] as? Int, "part \(index)")
    }
  }

  /// With the head of a frame gone the way goes on at the next block that the index names.
  @Test func aDamagedHeadLeavesAGapOfItsSize() throws {
    let store = try TestStore(memos(0..<2000))
    let name = try #require(try store.names(".seg").first)
    let path = store.path + "/" + name
    let sound = try parts(try layout(path))
    let offset = try #require(sound[3]["offset"] as? Int)
    try store.patch(name) { $0[offset + 8] ^= 0xFF }
    let damaged = try parts(try layout(path))
    #expect(damaged.map { $0["offset"] as? Int } == sound.map { $0["offset"] as? Int })
    #expect(damaged[3]["kind"] as? String == "unreadable")
    #expect(damaged.filter { $0["sound"] as? Bool == false }.count == 1)
  }

  /// Anything cut or overwritten: no trap, exit code 1, the file is covered, no memo in messages.
  @Test func damageAnywhereIsShown() throws {
    let store = try TestStore(memos(0..<400))
    let name = try #require(try store.names(".seg").first)
    let path = store.path + "/" + name
    let original = try Data(contentsOf: URL(fileURLWithPath: path))
    for step in 0..<30 {
      let cut = original.count * step / 30
      try store.patch(name) { $0 = original.prefix(cut) }
      let layout = try layout(path)
      let end = try parts(layout).reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) }
      #expect(end == cut, "cut at \(cut)")
      #expect((layout["damage"] as? [Any])?.isEmpty == false, "cut at \(cut)")
      try store.patch(name) { bytes in
        bytes = original
        bytes[bytes.startIndex + cut] ^= 0x10
      }
      let run = try InspectorRun("segment", path)
      #expect(run.code == .damage && !run.outputText.contains(secret), "byte \(cut)")
      let listing = try InspectorRun("segments", store.path)
      #expect([.fine, .damage].contains(listing.code) && listing.outputText.contains(name))
    }
    for cut in [0, original.count - 1] {
      try store.patch(name) { $0 = original.prefix(cut) }
      let listing = try InspectorRun("segments", store.path)
      #expect(listing.code == .damage && listing.outputText.contains("damaged: \(name)"))
    }
  }

  @Test func aFileNeedNotBeInAStore() throws {
    let store = try TestStore(memos(0..<100))
    let name = try #require(try store.names(".seg").first)
    let copy = store.directory.path("copy of a segment")
    try FileManager.default.copyItem(atPath: store.path + "/" + name, toPath: copy)
    let alone = try layout(copy)
    #expect(alone["state"] as? String == "alone" && alone["entries"] as? Int == 200)
    let unnamed = store.path + "/000099.seg"
    try Data(count: 500).write(to: URL(fileURLWithPath: unnamed))
    // It may be what a writer is at.
    let run = try InspectorRun("segment", unnamed)
    #expect(run.code == .fine && run.outputText.contains("000099.seg, unnamed\n"))
  }

  @Test func whatIsNoSegmentIsWrongUsage() throws {
    let store = try TestStore(memos(0..<10))
    for name in ["MANIFEST", "LOCK"] {
      let run = try InspectorRun("segment", store.path + "/" + name)
      #expect(run.code == .usage && run.output.isEmpty && run.errorText.contains("is no segment"))
    }
    #expect(try InspectorRun("segment", store.path).code == .system)
  }
}
