import Foundation
import MemoHistory
import Testing

/// The examples of the README and the numbers of the documentation are those of this folder.
@Suite struct ReadmeTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  private static func source(_ path: String) throws -> String {
    try String(contentsOf: folder.appending(path: path).standardizedFileURL, encoding: .utf8)
  }

  /// Lines that are not empty.
  private static func lineCount(_ text: some StringProtocol) -> Int {
    text.split(separator: "\n").count { !$0.allSatisfy(\.isWhitespace) }
  }

  @Test(arguments: [
    "Note.swift", "ReadmeNotes.swift", "ReadmeList.swift", "HistoryReflector.swift",
    "ReadmeAppTests.swift",
  ])
  func theReadmeShowsWhatIsCompiled(name: String) throws {
    let example = try Self.source(name)
    let readme = try Self.source("../../README.md")
    #expect(readme.contains("```swift\n" + example + "```"))
    #expect(Self.lineCount(example) <= 22)
  }

  @Test func theNotesAreKept() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await keepNotes(in: folder.path)
    // The second run brings back what the first one deleted at its end.
    try await keepNotes(in: folder.path)
    let store = try MemoStore<Note>(at: folder.path)
    #expect(try store.latest(9).map(\.text) == ["tea", "tea", "milk"])
    try await store.close()
  }

  /// Lines of code of some types of a file.
  private static func lineCount(of types: [String], in file: String) throws -> Int {
    var count = 0
    for type in types {
      var isInside = false
      for line in try source(file).split(separator: "\n") {
        let start = [" struct ", " class "].contains { (" " + line + " ").contains($0 + type) }
        if line.first != " ", start { isInside = true }
        if isInside, !line.allSatisfy(\.isWhitespace), !line.contains("//") { count += 1 }
        if line == "}" { isInside = false }
      }
    }
    return count
  }

  @Test(arguments: [
    ("HistoryReflector.swift", ["NotesController"]), ("Earthquakes.swift", ["QuakesModel"]),
    ("Todo.swift", ["TodoClient", "Repository", "TodoListModel"]),
    ("Contacts.swift", ["Contact:"]),
  ])
  func theTableHasTheNumbersOfTheExamples(file: String, types: [String]) throws {
    let table = try Self.source("../../Sources/MemoHistory/MemoHistory.docc/Examples.md")
    let row = try #require(table.split(separator: "\n").first { $0.contains("`\(file)`") })
    let number = row.split(separator: "|").last?.filter(\.isNumber)
    #expect(number == "\(try Self.lineCount(of: types, in: file))")
  }

  /// What takes 42 lines over Core Data.
  @Test func theReflectorHasAtMost15Lines() throws {
    #expect(try Self.lineCount(of: ["NotesController"], in: "HistoryReflector.swift") <= 15)
  }
}
