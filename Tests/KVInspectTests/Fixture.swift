import Foundation

/// Files beside the tests.
enum Fixture {
  static let edge = path("memos-edge.jsonl")
  static let broken = path("memos-edge-broken.jsonl")

  static func path(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/\(name)").path
  }

  /// The lines of a file, split by the simplest means.
  static func lines(_ path: String) throws -> [[UInt8]] {
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map(Array.init)
    if lines.last == [] { lines.removeLast() }
    return lines
  }
}
