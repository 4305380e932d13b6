import Foundation
import KVTestSupport
import MemoHistory
import Testing

/// The example in README.md compiles and runs.
@Suite struct ReadmeExampleTests {
  @Test func theExampleInTheReadmeIsTheOneThatIsCompiled() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let compiled = try String(
      contentsOf: folder.appending(path: "ReadmeExample.swift"), encoding: .utf8)
    let readme = try String(
      contentsOf: folder.appending(path: "../../README.md").standardizedFileURL, encoding: .utf8)
    #expect(readme.contains("```swift\n" + compiled + "```"))
    #expect(compiled.split(separator: "\n").count <= 20)
  }

  @Test func theExampleRunsAndLeavesNothingBehind() async throws {
    let folder = try TemporaryDirectory()
    try await demo(folder: folder.path("memos"))
    let store = try MemoStore(at: folder.path("memos"))
    #expect(try store.count() == 0)
    try await store.close()
  }
}
