import Foundation
import KVEngine
import KVTestSupport
import MemoCore

@testable import KVInspectCore

/// One command, run in this process with its outputs caught.
struct InspectorRun {
  let code: ExitCode
  let output: [UInt8]
  let errors: [UInt8]

  init(_ words: String...) throws {
    try self.init(words)
  }

  init(_ words: [String]) throws {
    let directory = try TemporaryDirectory()
    let output = try CaughtOutput(directory.path("output"))
    let errors = try CaughtOutput(directory.path("errors"))
    code = Inspector(output: output.output, errors: errors.output).run(words)
    self.output = try output.bytes()
    self.errors = try errors.bytes()
  }

  var outputText: String { String(decoding: output, as: UTF8.self) }
  var errorText: String { String(decoding: errors, as: UTF8.self) }
  var outputLines: [String] { lines(of: output) }
  var errorLines: [String] { lines(of: errors) }

  /// The lines of the output as JSON objects.
  func outputObjects() throws -> [[String: Any]] { try objects(outputLines) }
}

/// The lines of a text that ends with a line feed.
func lines(of bytes: [UInt8]) -> [String] {
  var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  if parts.last?.isEmpty == true { parts.removeLast() }
  return parts.map { String(decoding: $0, as: UTF8.self) }
}

/// Lines as JSON objects, by Foundation.
func objects(_ lines: [String]) throws -> [[String: Any]] {
  try lines.map { line in
    let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
    guard let object = value as? [String: Any] else { throw OtherThanJSON(line: line) }
    return object
  }
}

struct OtherThanJSON: Error {
  let line: String
}

/// An output that ends in a file.
private final class CaughtOutput {
  let output: Output
  private let file: FileHandle

  init(_ path: String) throws {
    try Data().write(to: URL(fileURLWithPath: path))
    file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    output = Output(descriptor: file.fileDescriptor, name: "test output")
  }

  func bytes() throws -> [UInt8] {
    try file.seek(toOffset: 0)
    return try [UInt8](file.readToEnd() ?? Data())
  }
}

/// A store in a temporary folder, for commands to look at.
struct TestStore {
  let directory: TemporaryDirectory
  var path: String { directory.path("store") }

  /// Nothing is there yet.
  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Holds memos, flushed into so many segments that nothing merges.
  init(_ memos: [Memo], segments: Int = 1, logged: [Memo] = []) throws {
    self.init(directory: try TemporaryDirectory())
    var options = DatabaseOptions()
    options.worksInBackground = false
    let timeline = try MemoTimeline(at: path, options: options)
    let size = max((memos.count + segments - 1) / max(segments, 1), 1)
    for start in stride(from: 0, to: memos.count, by: size) {
      _ = try timeline.importBatch(Array(memos[start..<min(start + size, memos.count)]))
      try timeline.flush()
    }
    _ = try timeline.importBatch(logged)
    try timeline.close()
  }

  private init(directory: TemporaryDirectory) {
    self.directory = directory
  }

  /// A file beside the store.
  func file(_ name: String, _ text: String) throws -> String {
    let path = directory.path(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// The store's files with their bytes, without those that a new MANIFEST replaced.
  func contents() throws -> [String: Data] { try Self.contents(of: path) }

  /// The files of a folder with their bytes.
  static func contents(of folder: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      contents[name] = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
    }
    return contents
  }

  /// The names that end in some way, ascending.
  func names(_ suffix: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }
      .sorted()
  }

  /// Changes the bytes of one of the store's files.
  func patch(_ name: String, _ change: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: path + "/" + name)
    var bytes = try Data(contentsOf: url)
    change(&bytes)
    try bytes.write(to: url)
  }

  /// Opens the store for reading and returns all of its memos, newest first.
  func memos() throws -> [Memo] {
    var options = DatabaseOptions()
    options.createIfMissing = false
    options.isReadOnly = true
    return try MemoTimeline(at: path, options: options).allMemos()
  }
}

extension MemoTimeline {
  /// All memos, newest first.
  func allMemos() throws -> [Memo] {
    var cursor = try cursor()
    var memos: [Memo] = []
    while let (_, memo) = try cursor.next() { memos.append(memo) }
    return memos
  }
}

/// A memo some seconds after 1970.
func memo(_ id: MemoID, at second: Int64, _ body: String) -> Memo {
  Memo(
    id: id, createdAt: MemoTimestamp(microseconds: second * 1_000_000) ?? .now, body: body)
}

/// Memos 0, 1, 2 and so on, one a second; each body holds a word that no message may repeat.
func memos(_ ids: Range<Int>) -> [Memo] {
  ids.map { memo(MemoID(Int64($0)), at: Int64($0), "\(secret) number \($0)") }
}

let secret = "xyzzy"
