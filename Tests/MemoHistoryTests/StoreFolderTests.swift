import Foundation
import KVEngine
import KVTestSupport
import MemoHistory
import Testing

/// Folders for stores; what Apple systems add to them runs on none yet.
@Suite struct StoreFolderTests {
  @Test func aFolderIsMadeWithThoseAboveIt() async throws {
    let directory = try TemporaryDirectory()
    let path = try StoreFolder.make(at: directory.path("a/b/notes"))
    #expect(path == directory.path("a/b/notes"))
    let store = try MemoStore(at: path)
    #expect(try store.latest(200).isEmpty)
    let memo = Memo(id: MemoID(1), body: "milk")
    try await store.insert(memo)
    try await store.close()

    // A later start finds the same folder, whatever its slashes.
    #expect(try StoreFolder.make(at: path + "/", isBackedUp: false) == path + "/")
    #expect(try MemoStore(at: path).latest(200) == [memo])
  }

  @Test func whatIsNoFolderIsRefused() throws {
    let directory = try TemporaryDirectory()
    let file = directory.path("file")
    try Data().write(to: URL(filePath: file))
    for path in [file, file + "/notes"] {
      let error = #expect(throws: MemoError.self) { try StoreFolder.make(at: path) }
      guard case .database(.io(let failure)) = error else {
        Issue.record("\(path): another error")
        continue
      }
      #expect(failure.operation == "makeDirectory")
    }
  }

  @Test func aNameIsPutBelowTheFolderForApplicationSupport() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [home = directory.path as String] in
      setenv("XDG_DATA_HOME", home, 1)
      let configured = try StoreFolder.applicationSupport("app/notes")
      #expect(configured == home + "/app/notes")
      setenv("XDG_DATA_HOME", "relative", 1)
      setenv("HOME", home, 1)
      let standard = try StoreFolder.applicationSupport("app")
      #expect(standard == home + "/.local/share/app")
    }
    #expect(FileManager.default.fileExists(atPath: directory.path("app/notes")))
    #expect(FileManager.default.fileExists(atPath: directory.path(".local/share/app")))
  }

  @Test func anEmptyPathIsRefused() {
    #expect(throws: MemoError.self) { try StoreFolder.make(at: "") }
  }
}
