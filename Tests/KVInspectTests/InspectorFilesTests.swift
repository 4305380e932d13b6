import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// What holds for every command that looks at files: exit codes, one JSON object, no change.
@Suite struct InspectorFilesTests {
  static let commands: [[String]] = [
    ["segments"], ["log"], ["manifest"], ["space"], ["find", "3"],
    ["find", "3", "--space", "memos"],
  ]

  /// Stores in every state in which a healthy one can be.
  private static func stores() throws -> [(name: String, store: TestStore)] {
    let empty = try TestStore([])
    try MemoTimeline(at: empty.path).flush()
    let compacted = try TestStore(memos(0..<500), segments: 5, logged: memos(500..<510))
    #expect(try InspectorRun("compact", compacted.path).code == .fine)
    return [
      ("empty", empty), ("log only", try TestStore([], logged: memos(0..<20))),
      ("flushed", try TestStore(memos(0..<300), segments: 3, logged: memos(300..<310))),
      ("compacted", compacted), ("user spaces", try UserSpaces.store()),
    ]
  }

  @Test func everyHealthyStoreIsFineAndStaysAsItIs() throws {
    for (name, store) in try Self.stores() {
      let before = try store.contents()
      for command in Self.commands {
        let words = [command[0], store.path] + command.dropFirst()
        let text = try InspectorRun(words)
        let json = try InspectorRun(words + ["--json"])
        let isFound = (try json.outputObjects().first?["found"] as? Bool) ?? true
        #expect(text.code == (isFound ? .fine : .damage), "\(name): \(words)")
        #expect(json.code == text.code, "\(name): \(words)")
        #expect(text.errors.isEmpty && json.errors.isEmpty, "\(name): \(words)")
        #expect(!text.output.isEmpty, "\(name): \(words)")
        let objects = try json.outputObjects()
        #expect(objects.count == 1, "\(name): \(words)")
        #expect((objects.first?["damage"] as? [Any])?.isEmpty == true, "\(name): \(words)")
        let bad = text.outputText.unicodeScalars.first { $0 != "\n" && $0.isControlling }
        #expect(bad == nil, "\(name): \(words)")
        #expect(!text.outputText.contains(secret), "\(name): \(words)")
      }
      for file in try store.names(".seg") {
        for options in [[], ["--hex"], ["--json"], ["--json", "--hex"]] as [[String]] {
          let run = try InspectorRun(["segment", store.path + "/" + file] + options)
          #expect(run.code == .fine && run.errors.isEmpty, "\(name): \(file) \(options)")
        }
      }
      #expect(try store.contents() == before, "\(name)")
    }
  }

  @Test func aMissingStoreIsNotFoundAndNotCreated() throws {
    let directory = try TemporaryDirectory()
    for command in Self.commands + [["compact"], ["checkpoint", directory.path("copy")]] {
      for format in [[], ["--json"]] as [[String]] {
        let run = try InspectorRun(
          [command[0], directory.path("store")] + command.dropFirst() + format)
        #expect(run.code == .system, "\(command)")
        #expect(run.output.isEmpty && run.errorLines.count == 1, "\(command)")
        #expect(run.errorText.contains("there is no store at "), "\(command): \(run.errorText)")
      }
    }
    #expect(try InspectorRun("segment", directory.path("1.seg")).code == .system)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test func aForeignManifestIsDamage() throws {
    let store = try TestStore(memos(0..<10))
    try store.patch("MANIFEST") { $0 = Data(count: 4096) }
    for command in Self.commands where command[0] != "manifest" {
      let run = try InspectorRun([command[0], store.path] + command.dropFirst())
      #expect(run.code == .damage && run.output.isEmpty, "\(command)")
      #expect(run.errorText.hasPrefix("kvinspect: the store is damaged: MANIFEST"), "\(command)")
    }
  }

  @Test func aMissingSegmentIsDamageAndTheOthersAreListed() throws {
    let store = try TestStore(memos(0..<300), segments: 3)
    let names = try store.names(".seg")
    try FileManager.default.removeItem(atPath: store.path + "/" + names[1])
    for command in [["segments"], ["space"], ["find", "150"]] {
      let words = [command[0], store.path] + command.dropFirst()
      let text = try InspectorRun(words)
      #expect(text.code == .damage && text.errors.isEmpty, "\(command)")
      #expect(text.outputText.contains("damaged: \(names[1]) at byte 0: file: is missing"))
      let json = try #require(try InspectorRun(words + ["--json"]).outputObjects().first)
      let damage = try #require(json["damage"] as? [[String: Any]])
      #expect(damage.map { $0["file"] as? String } == [names[1]], "\(command)")
      if command != ["space"] {
        for name in names { #expect(text.outputText.contains(name), "\(command)") }
      }
    }
  }

  @Test(
    arguments: [
      ["segments"], ["segment"], ["log"], ["manifest"], ["find", "S"], ["space"], ["compact"],
      ["checkpoint", "S"], ["segments", "S", "T"], ["segments", "S", "--hex"],
      ["find", "S", "k", "--space"], ["find", "S", "k", "--space="], ["log", "S", "--space", "x"],
      ["segment", "F", "--hex", "--hex"], ["segment", "F", "--hex=1"], ["find", "S", ""],
    ])
  func wrongWordsAreAUsageError(words: [String]) throws {
    let run = try InspectorRun(words)
    #expect(run.code == .usage && run.output.isEmpty && run.errorLines.count == 2)
  }

  @Test func sizesHaveBinaryUnits() {
    let texts = [
      (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (102_399, "99.9 KiB"),
      (102_400, "100 KiB"), (1_048_575, "1023 KiB"), (1 << 20, "1.0 MiB"), (5 << 29, "2.5 GiB"),
    ]
    for (count, text) in texts { #expect(Inspector.bytes(count) == text) }
  }
}

/// A store of the engine alone, with two user spaces.
enum UserSpaces {
  static let odd: [UInt8] = [0xFF, 0x1B, 0x5B]

  /// Key "a" is deleted, "b" replaced in another segment, "c" only in the log.
  static func store() throws -> TestStore {
    let store = try TestStore()
    var options = DatabaseOptions()
    options.worksInBackground = false
    let database = try Database(at: store.path, options: options)
    let drafts = try database.space("dra\u{1B}fts")
    try database.write { batch throws(DatabaseError) in
      batch.put([1], forKey: Array("a".utf8))
      batch.put([1, 2], forKey: Array("b".utf8))
      batch.put([1, 2, 3], forKey: odd, in: drafts)
    }
    try database.flush()
    try database.write { batch throws(DatabaseError) in
      batch.delete(Array("a".utf8))
      batch.put([1, 2, 3, 4], forKey: Array("b".utf8))
    }
    try database.flush()
    try database.write { batch throws(DatabaseError) in batch.put([], forKey: Array("c".utf8)) }
    try database.close()
    return store
  }
}
