import Testing

@testable import KVEngine

/// What the changelog promises about stores.
@Suite struct ChangelogTests {
  /// The sections, newest first: the heading and the lines below it.
  static let releases = Repository.text(of: "CHANGELOG.md").split(separator: "\n## ").dropFirst()
    .map { $0.split(separator: "\n").map(String.init) }

  @Test func everyReleaseNamesItsFormat() throws {
    try #require(!Self.releases.isEmpty)
    for release in Self.releases {
      #expect(release.filter { $0.hasPrefix("Format: ") }.count == 1, "\(release[0])")
    }
  }

  @Test func theNewestNamesTheFormatThatIsWritten() throws {
    let newest = try #require(Self.releases.first)
    let format = try #require(newest.first { $0.hasPrefix("Format: ") })
    #expect(format.hasPrefix("Format: writes and reads \(FormatVersion.current)"))
  }
}
