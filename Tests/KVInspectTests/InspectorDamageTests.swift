import Foundation
import KVEngine
import KVTestSupport
import MemoCore
import Testing

@testable import KVInspectCore

/// Stores that are missing, foreign, newer or damaged: the exit code says which, one line says why,
/// and no message repeats a memo.
@Suite struct InspectorDamageTests {
  private static let commands = [
    ["latest"], ["scan"], ["summary"], ["verify"], ["get", "3"],
  ]

  private static let row = #"{"id":1,"createdAt":"2024-05-01T12:00:00Z","body":""}"#

  /// Runs every command that reads, in text and JSON.
  private func runs(
    _ path: String, only names: [String] = ["latest", "scan", "summary", "verify", "get"]
  ) throws -> [(name: String, run: InspectorRun)] {
    var runs: [(String, InspectorRun)] = []
    for command in Self.commands where names.contains(command[0]) {
      for format in [[], ["--json"]] as [[String]] {
        let words = [command[0], path] + command.dropFirst() + format
        runs.append((words.joined(separator: " "), try InspectorRun(words)))
      }
    }
    return runs
  }

  private func expectRefusal(_ path: String, _ code: ExitCode, saying text: String) throws {
    for (name, run) in try runs(path) {
      #expect(run.code == code, "\(name)")
      #expect(run.output.isEmpty, "\(name)")
      #expect(run.errorLines.count == 1, "\(name): \(run.errorText)")
      #expect(run.errorText.hasPrefix("kvinspect: "), "\(name): \(run.errorText)")
      #expect(run.errorText.contains(text), "\(name): \(run.errorText)")
    }
  }

  @Test func aMissingStoreIsNotFoundAndNotCreated() throws {
    let directory = try TemporaryDirectory()
    for path in ["store", "missing/store", "store/"] {
      try expectRefusal(directory.path(path), .system, saying: "there is no store at ")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test func anEmptyFolderIsNoStore() throws {
    let directory = try TemporaryDirectory()
    try expectRefusal(directory.path, .system, saying: "there is no store at ")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test func aFileIsNoFolder() throws {
    let store = try TestStore()
    let path = try store.file("store", "a file")
    try expectRefusal(path, .system, saying: "Not a directory")
    let rows = try store.file("rows.jsonl", "")
    let run = try InspectorRun("import", path, rows)
    #expect(run.code == .system && run.errorText.contains("Not a directory"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "a file")
  }

  @Test(arguments: ["", "hello", String(repeating: "\0", count: 4096)])
  func aForeignManifestIsDamage(text: String) throws {
    let store = try TestStore(memos(0..<10))
    try store.patch("MANIFEST") { $0 = Data(text.utf8) }
    let before = try store.contents()
    try expectDamage(store)
    #expect(try store.contents() == before)
  }

  @Test func aMissingManifestIsDamage() throws {
    let store = try TestStore(memos(0..<10))
    try FileManager.default.removeItem(atPath: store.path + "/MANIFEST")
    try expectDamage(store)
  }

  @Test func aMissingLogIsDamage() throws {
    let store = try TestStore(memos(0..<10))
    let live = try #require(try store.names(".log").last)
    try FileManager.default.removeItem(atPath: store.path + "/" + live)
    try expectDamage(store)
  }

  /// Damage that keeps the store from opening: `verify` reports it, the others say it.
  private func expectDamage(_ store: TestStore) throws {
    for (name, run) in try runs(store.path) {
      #expect(run.code == .damage, "\(name)")
      #expect(!run.errorText.contains(secret) && !run.outputText.contains(secret), "\(name)")
      if name.hasPrefix("verify") {
        #expect(run.errors.isEmpty && run.outputLines.count == 2, "\(name)")
      } else {
        #expect(run.output.isEmpty && run.errorLines.count == 1, "\(name)")
        #expect(run.errorText.hasPrefix("kvinspect: the store is damaged: "), "\(name)")
      }
    }
    let rows = try store.file("rows.jsonl", Self.row)
    let before = try store.contents()
    #expect(try InspectorRun("import", store.path, rows).code == .damage)
    #expect(try store.contents() == before)
  }

  @Test func aStoreOfANewerProgramIsRefusedAndNotCalledDamaged() throws {
    let store = try TestStore(memos(0..<10))
    try store.patch("MANIFEST") { bytes in
      var place = bytes.startIndex
      while let header = bytes.range(of: Data("MemoKV".utf8), in: place..<bytes.endIndex) {
        bytes[header.lowerBound + 8] = 0xFE
        bytes[header.lowerBound + 9] = 0x7F
        let covered = Array(bytes[header.lowerBound..<header.lowerBound + 44])
        let checksum = CRC32C.checksum(covered.rawBytes)
        for byte in 0..<4 {
          bytes[header.lowerBound + 44 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * byte))
        }
        place = header.upperBound
      }
    }
    let before = try store.contents()
    try expectRefusal(store.path, .system, saying: "format version 32766")
    let rows = try store.file("rows.jsonl", Self.row)
    #expect(try InspectorRun("import", store.path, rows).code == .system)
    #expect(try store.contents() == before)
  }

  // MARK: - Segments

  /// Memos in one segment of many blocks; the log is empty.
  private func segmentStore() throws -> (TestStore, segment: String) {
    let store = try TestStore(memos(0..<2000))
    return (store, try #require(try store.names(".seg").last))
  }

  private func expectSegmentDamage(_ store: TestStore, only names: [String]) throws {
    for (name, run) in try runs(store.path, only: names) {
      #expect(run.code == .damage, "\(name)")
      #expect(!run.errorText.contains(secret), "\(name): \(run.errorText)")
      if name.hasPrefix("verify") {
        #expect(run.outputText.contains(".seg"), "\(name): \(run.outputText)")
        #expect(!run.outputText.contains(secret) && run.errors.isEmpty, "\(name)")
      } else {
        #expect(run.errorLines.count == 1, "\(name): \(run.errorText)")
        #expect(run.errorText.contains(".seg"), "\(name): \(run.errorText)")
      }
    }
  }

  @Test func aMissingSegmentIsDamage() throws {
    let (store, segment) = try segmentStore()
    try FileManager.default.removeItem(atPath: store.path + "/" + segment)
    try expectSegmentDamage(store, only: ["latest", "scan", "summary", "verify", "get"])
  }

  @Test(arguments: [0, 1, 47, 100])
  func aSegmentCutAtItsHeadIsDamage(byteCount: Int) throws {
    let (store, segment) = try segmentStore()
    try store.patch(segment) { $0 = $0.prefix(byteCount) }
    try expectSegmentDamage(store, only: ["latest", "scan", "summary", "verify", "get"])
  }

  /// The memos come first in a segment, so a scan does not need its end.
  @Test(arguments: [
    (0.3, ["scan", "verify", "get"]), (0.9, ["verify", "get"]), (0.999, ["verify"]),
  ])
  func aCutSegmentIsDamageForWhoeverReadsSoFar(share: Double, commands: [String]) throws {
    let (store, segment) = try segmentStore()
    let sound = try InspectorRun("scan", store.path)
    try store.patch(segment) { $0 = $0.prefix(Int(Double($0.count) * share)) }
    try expectSegmentDamage(store, only: commands)
    #expect(sound.output.starts(with: try InspectorRun("scan", store.path).output))
  }

  @Test func zerosInPlaceOfASegmentAreDamage() throws {
    let (store, segment) = try segmentStore()
    try store.patch(segment) { $0 = Data(count: $0.count) }
    try expectSegmentDamage(store, only: ["latest", "scan", "summary", "verify", "get"])
  }

  /// One bit anywhere: no trap, no wrong answer without an error, no memo in a message.
  @Test func aFlippedBitIsNeverAWrongAnswer() throws {
    let (store, segment) = try segmentStore()
    let sound = try InspectorRun("scan", store.path)
    let byteCount = try Data(contentsOf: URL(fileURLWithPath: store.path + "/" + segment)).count
    var damagedCount = 0
    for offset in stride(from: 3, to: byteCount, by: byteCount / 40) {
      try store.patch(segment) { $0[offset] ^= 0x10 }
      let scan = try InspectorRun("scan", store.path)
      let verify = try InspectorRun("verify", store.path)
      switch scan.code {
      case .fine: #expect(scan.output == sound.output, "byte \(offset)")
      case .damage:
        damagedCount += 1
        #expect(sound.output.starts(with: scan.output), "byte \(offset)")
        #expect(scan.errorLines.count == 1 && !scan.errorText.contains(secret), "byte \(offset)")
      default: Issue.record("byte \(offset): \(scan.errorText)")
      }
      #expect(verify.code == .damage, "byte \(offset)")
      #expect(!verify.outputText.contains(secret) && verify.errors.isEmpty, "byte \(offset)")
      try store.patch(segment) { $0[offset] ^= 0x10 }
    }
    #expect(damagedCount > 10)
    #expect(try InspectorRun("verify", store.path).code == .fine)
  }

  /// What is printed before the damage is right; the exit code says that it is not all.
  @Test func scanPrintsWhatComesBeforeTheDamage() throws {
    let (store, segment) = try segmentStore()
    let sound = try InspectorRun("scan", store.path, "--json")
    try store.patch(segment) { $0.replaceSubrange(($0.count / 2)..., with: Data(count: 9)) }
    let run = try InspectorRun("scan", store.path, "--json")
    #expect(run.code == .damage)
    #expect(!run.output.isEmpty && run.output.count < sound.output.count)
    #expect(sound.output.starts(with: run.output))
  }

  @Test func memosAndIdsOutOfStepAreReported() throws {
    let store = try TestStore(memos(0..<10))
    let timeline = try MemoTimeline(at: store.path)
    try timeline.database.write { batch throws(DatabaseError) in
      batch.put([9], forKey: MemoKey(microseconds: 5, arrival: 7).encode(), in: MemoSpace.memos)
    }
    try timeline.close()
    let text = try InspectorRun("verify", store.path)
    #expect(text.code == .damage && text.errors.isEmpty)
    #expect(text.outputLines.first?.hasPrefix("damaged: memo space at byte ") == true)
    #expect(text.outputLines.last?.contains(" places damaged; read ") == true)
    let json = try InspectorRun("verify", store.path, "--json")
    #expect(json.code == .damage)
    #expect(try json.outputObjects().last?["sound"] as? Bool == false)
    #expect(try json.outputObjects().first?["file"] as? String == "memo space")
  }
}
