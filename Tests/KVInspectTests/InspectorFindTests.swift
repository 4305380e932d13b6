import Foundation
import KVEngine
import MemoCore
import Testing

@testable import KVInspectCore

/// `find`: one key's way through log and segments.
@Suite struct InspectorFindTests {
  private func searches(_ words: String...) throws -> [[String: Any]] {
    let object = try #require(try InspectorRun(words + ["--json"]).outputObjects().first)
    return try #require(object["searches"] as? [[String: Any]])
  }

  private func places(_ search: [String: Any]) throws -> [[String: Any]] {
    try #require(search["places"] as? [[String: Any]])
  }

  private func entries(_ search: [String: Any]) throws -> [[String: Any]] {
    try places(search).flatMap { $0["entries"] as? [[String: Any]] ?? [] }
  }

  /// Every memo is found by its id in exactly the segment or log that holds it.
  @Test func aMemoIsFoundByItsIDWhereItIs() throws {
    let store = try TestStore(memos(0..<300), segments: 3, logged: memos(300..<310))
    let names = try store.names(".seg").filter { $0 != "RESERVE" }
    let log = try #require(try store.names(".log").last)
    for (id, file) in [(0, names[0]), (150, names[1]), (299, names[2]), (305, log)] {
      let found = try searches("find", store.path, "\(id)")
      #expect(found.map { $0["name"] as? String } == ["ids", "memos"], "\(id)")
      for search in found {
        let holding = try places(search).filter { ($0["entries"] as? [Any])?.isEmpty == false }
        #expect(holding.map { $0["file"] as? String } == [file], "\(id)")
        #expect(try places(search).count == 4, "\(id)")
      }
      #expect(found[1]["live"] as? Bool == true)
      #expect(try entries(found[1]).map { $0["kind"] as? String } == ["insertion"])
      #expect(try entries(found[0]).map { $0["valueBytes"] as? Int } == [0])
    }
  }

  /// The offset of an entry in a segment is that of a block which `segment` lists.
  @Test func theBlockOfAnEntryIsTheOneThatSegmentShows() throws {
    let store = try TestStore(memos(0..<2000))
    let name = try #require(try store.names(".seg").first)
    let layout = try #require(
      try InspectorRun("segment", store.path + "/" + name, "--json").outputObjects().first)
    let parts = try #require(layout["parts"] as? [[String: Any]])
    for id in [0, 777, 1999] {
      for search in try searches("find", store.path, "\(id)") {
        let entry = try #require(try entries(search).first)
        let key = try #require(entry["key"] as? String)
        let part = try #require(parts.first { $0["offset"] as? Int == entry["offset"] as? Int })
        let first = try #require(part["firstKey"] as? String)
        let last = try #require(part["lastKey"] as? String)
        #expect(first <= key && key <= last && part["kind"] as? String == "data", "\(id)")
      }
    }
  }

  @Test func aReplacedAndADeletedMemoShowTheirWay() throws {
    let store = try TestStore(memos(0..<100))
    let timeline = try MemoTimeline(at: store.path)
    try timeline.upsert(memo(MemoID(5), at: 5, "\(secret) new"))
    try timeline.flush()
    _ = try timeline.delete(MemoID(5))
    try timeline.close()
    let found = try searches("find", store.path, "5")
    #expect(found.count == 2 && found[1]["live"] as? Bool == false)
    #expect(
      try entries(found[1]).map { $0["kind"] as? String } == ["removal", "put", "insertion"])
    let run = try InspectorRun("find", store.path, "5")
    #expect(run.code == .fine && run.outputText.contains("  deleted with sequence "))
    #expect(!run.outputText.contains(secret))
  }

  @Test func keysOfUserSpacesAreTextOrHexadecimal() throws {
    let store = try UserSpaces.store()
    for word in ["b", "0x62"] {
      for space in [[], ["--space", "default"], ["--space=64"]] as [[String]] {
        let run = try InspectorRun(["find", store.path, word, "--json"] + space)
        let object = try #require(try run.outputObjects().first)
        let search = try #require((object["searches"] as? [[String: Any]])?.first)
        #expect(search["key"] as? String == "0x62" && search["live"] as? Bool == true)
        #expect(try entries(search).map { $0["valueBytes"] as? Int } == [4, 2])
      }
    }
    let deleted = try searches("find", store.path, "a")
    #expect(deleted.first?["live"] as? Bool == false)
    #expect(try entries(deleted[0]).map { $0["kind"] as? String } == ["tombstone", "put"])
    for space in ["dra\u{1B}fts", "65"] {
      let odd = try InspectorRun("find", store.path, "0xff1b5B", "--space", space)
      #expect(
        odd.code == .fine && odd.outputText.hasPrefix("key 0xff1b5b, 0xff1b5b in 'dra\\u{1B}"))
    }
  }

  @Test func everyReasonForAbsenceIsSaid() throws {
    let store = try UserSpaces.store()
    func absences(_ words: String...) throws -> [String?] {
      try places(try searches("find", store.path, words[0], "--space", words[1])[0])
        .map { $0["absence"] as? String }
    }
    #expect(try absences("zz", "default") == ["notFound", "outsideBounds", "outsideBounds"])
    #expect(try absences("b", "65") == ["notFound", "otherSpaces", "outsideBounds"])
    // Between the bounds "a" and "b".
    let between = try (0..<40).map { try absences("a\($0)", "default")[1] }
    #expect(between.contains("filtered"))
    #expect(between.allSatisfy { $0 == "filtered" || $0 == "notFound" })
    let run = try InspectorRun("find", store.path, "zz")
    #expect(run.code == .damage && run.outputText.contains("  not stored\n"))
  }

  @Test func aSpaceThatIsNotThereOrAWordThatIsNoKeyIsWrongUsage() throws {
    let store = try UserSpaces.store()
    for words in [["b", "--space", "nothing"], ["0xf", "--space", "default"], ["0xzz"]] {
      let run = try InspectorRun(["find", store.path] + words)
      #expect(run.code == .usage && run.output.isEmpty && run.errorLines.count == 1, "\(words)")
    }
  }

  /// A text that can mean several ids names several memos.
  @Test func everyMemoThatATypedIDCanMeanIsFound() throws {
    let store = try TestStore([
      memo(try MemoID("12"), at: 1, "text"), memo(MemoID(12), at: 2, "number"),
    ])
    let found = try searches("find", store.path, "12")
    #expect(found.map { $0["name"] as? String } == ["ids", "memos", "ids", "memos"])
    #expect(try searches("find", store.path, "13").count == 3)
  }

  @Test func aDamagedBlockIsShownAndTheOtherSegmentsAreSearched() throws {
    let store = try TestStore(memos(0..<100))
    let timeline = try MemoTimeline(at: store.path)
    try timeline.upsert(memo(MemoID(5), at: 5, "new"))
    try timeline.flush()
    try timeline.close()
    let names = try store.names(".seg")
    let block = try #require(
      try entries(try searches("find", store.path, "5")[1]).last?["offset"] as? Int)
    try store.patch(names[0]) { $0[block + 30] ^= 1 }
    let run = try InspectorRun("find", store.path, "5")
    #expect(run.code == .damage && run.errors.isEmpty)
    #expect(run.outputText.contains("  \(names[0])  damaged: \(names[0]) at byte \(block)"))
    #expect(run.outputText.contains("  \(names[1])  put, sequence "))
  }
}
