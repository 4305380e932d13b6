import KVEngine
import Testing

/// The article on testing promises only what there is.
@Suite struct TestingArticleTests {
  @Test func everySuiteThatItNamesExists() {
    let article = Repository.text(of: "Sources/KVEngine/KVEngine.docc/Testing.md")
    let named = Set(article.matches(of: /`([A-Za-z0-9]+Tests)`/).map { String($0.1) })
    var suites: Set<String> = []
    for file in Repository.swiftFiles(below: "Tests") {
      for match in file.lines.joined(separator: "\n").matches(of: /struct ([A-Za-z0-9]+Tests)\b/) {
        suites.insert(String(match.1))
      }
    }
    #expect(named.count > 30)
    #expect(named.subtracting(suites).sorted() == [])
  }

  @Test func everyPlantedFaultIsInItsTable() {
    let article = Repository.text(of: "Sources/KVEngine/KVEngine.docc/Testing.md")
    for fault in PlantedFault.allCases {
      #expect(article.contains("| `\(fault.rawValue)` | "), "\(fault)")
    }
  }
}
