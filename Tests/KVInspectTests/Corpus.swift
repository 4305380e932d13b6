import Foundation
import KVEngine
import MemoCore

@testable import KVInspectCore

/// Real memos, which are not part of the repository: `../shared/data` beside the checkout.
enum Corpus {
  static func path(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../shared/data/\(name)").standardizedFileURL.path
  }

  static func exists(_ path: String) -> Bool { FileManager.default.isReadableFile(atPath: path) }

  /// The memos of a compressed file in its order.
  static func memos(_ path: String) throws -> [Memo] {
    let unpacked = try Executable.shell(#"zcat "$1""#, path)
    guard unpacked.status == 0 else { throw OtherThanJSON(line: "zcat of \(path)") }
    return try Self.memos(in: unpacked.output)
  }

  /// The memos of lines of JSON, read without what `import` does to them.
  static func memos(in bytes: [UInt8]) throws -> [Memo] {
    try bytes.split(separator: UInt8(ascii: "\n")).map { line in
      guard case .object(let members) = try JSONParser.parse(Array(line)),
        case .string(let id) = members["id"], case .string(let time) = members["createdAt"],
        case .string(let body) = members["body"]
      else { throw OtherThanJSON(line: String(decoding: line, as: UTF8.self)) }
      return Memo(
        id: try MemoID(id.text), createdAt: try MemoTimestamp(iso8601: time.text), body: body.text)
    }
  }
}
