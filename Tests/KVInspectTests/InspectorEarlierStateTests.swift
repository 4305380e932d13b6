import Foundation
import KVTestSupport
import Testing

@testable import KVInspectCore

/// `--earlier-state`: what can still be read of a store whose newest state is not there.
@Suite struct InspectorEarlierStateTests {
  /// A store without its MANIFEST, as a copy may be.
  private func makeStore() throws -> TestStore {
    let store = try TestStore(memos(0..<10))
    try FileManager.default.removeItem(atPath: store.path + "/MANIFEST")
    return store
  }

  private static let commands = [["latest"], ["scan"], ["summary"], ["get", "3"]]

  @Test(arguments: commands) func theErrorSaysThatAnOptionHelps(command: [String]) throws {
    let store = try makeStore()
    let run = try InspectorRun([command[0], store.path] + command.dropFirst())
    #expect(run.code == .damage && run.output.isEmpty)
    #expect(run.errorLines.count == 1)
    #expect(run.errorText.contains("; --earlier-state opens generation "), "\(run.errorText)")
  }

  @Test(arguments: commands) func theOptionOpensIt(command: [String]) throws {
    let store = try makeStore()
    let before = try store.contents()
    let words = [command[0], store.path] + command.dropFirst() + ["--earlier-state"]
    let run = try InspectorRun(words)
    #expect(run.code == .damage)
    #expect(!run.output.isEmpty)
    #expect(
      run.errorLines.first?.hasPrefix("kvinspect: an earlier state: generation ") == true,
      "\(run.errorText)")
    #expect(try store.contents() == before)
  }

  @Test func aCheckpointOfItIsASoundStore() throws {
    let store = try makeStore()
    let target = store.directory.path("copy")
    #expect(try InspectorRun("checkpoint", store.path, target).code == .damage)
    let run = try InspectorRun("checkpoint", store.path, target, "--earlier-state")
    #expect(run.code == .damage && run.errorLines.count == 1)
    #expect(try InspectorRun("verify", target).code == .fine)
    #expect(try InspectorRun("scan", target).outputLines.count == 10)
  }

  @Test(arguments: commands) func aSoundStoreNeedsNoOption(command: [String]) throws {
    let store = try TestStore(memos(0..<10))
    let words = [command[0], store.path] + command.dropFirst()
    let plain = try InspectorRun(words)
    let run = try InspectorRun(words + ["--earlier-state"])
    #expect(run.code == .fine && run.outputText == plain.outputText)
  }

  @Test func withoutACompleteStateThereIsNoHint() throws {
    let store = try makeStore()
    for name in try store.names("") where name.hasPrefix("MANIFEST-") {
      try FileManager.default.removeItem(atPath: store.path + "/" + name)
    }
    let run = try InspectorRun("latest", store.path)
    #expect(run.code == .damage && run.errorLines.count == 1)
    #expect(!run.errorText.contains("--earlier-state"))
    #expect(try InspectorRun("latest", store.path, "--earlier-state").code == .damage)
  }

  @Test func otherCommandsHaveNoSuchOption() throws {
    for command in ["import", "compact", "verify", "salvage"] {
      #expect(try InspectorRun(command, "S", "T", "--earlier-state").code == .usage, "\(command)")
    }
  }
}
