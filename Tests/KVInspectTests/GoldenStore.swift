import Foundation
import KVEngine
import KVTestSupport
import MemoCore

@testable import KVInspectCore

/// The kinds of stores of which one is kept in `Tests/Fixtures/golden`, as this library wrote it.
enum GoldenStore: String, CaseIterable {
  /// Had a memo once.
  case empty
  /// Three memos, in the log only.
  case tiny
  /// Segments of several sizes, some dense, with deletions and replaced memos, and a log.
  case levels
  /// As it lay there while a snapshot was held: with files that only the snapshot needed.
  case snapshot
  /// The log ends within a record.
  case torn
  /// All texts and times of the edge file.
  case edge

  /// The folder of all stores of the current format.
  static var root: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Fixtures/golden/format-\(FormatVersion.current)")
      .standardizedFileURL
  }

  var folder: URL { Self.root.appendingPathComponent(rawValue) }
  /// What `scan --json` printed when the store was made.
  var scanFile: URL { Self.root.appendingPathComponent(rawValue + ".jsonl") }
  /// What `verify` printed.
  var reportFile: URL { Self.root.appendingPathComponent(rawValue + ".txt") }

  /// The store's files on a volume in memory, as after a copy.
  func load(at path: String) throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    try files.makeDirectory(path)
    for (name, bytes) in try TestStore.contents(of: folder.path) {
      try files.create(path + "/" + name, [UInt8](bytes)).sync()
    }
    try files.syncDirectory(path)
    try files.syncDirectory("/")
    return files
  }

  /// Writes the store anew, and what it holds.
  func make() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("store")
    var options = DatabaseOptions()
    options.worksInBackground = false
    options.zeroStepByteCount = 4096
    options.segmentByteCount = 32 << 10
    options.wallClock = { 1_700_000_000_000_000 }
    let timeline = try MemoTimeline(at: path, options: options)
    let manager = FileManager.default
    switch self {
    case .empty:
      try timeline.insert(Self.memo(0))
      _ = try timeline.delete(MemoID(0))
      try timeline.flush()
    case .tiny:
      for number in 0..<3 { try timeline.insert(Self.memo(number)) }
    case .levels:
      try Self.fill(timeline)
      for number in 700..<720 { try timeline.insert(Self.memo(number)) }
      _ = try timeline.delete(MemoID(3))
    case .snapshot:
      try Self.fill(timeline)
      let snapshot = try timeline.cursor()
      try timeline.database.compact()
      try manager.copyItem(atPath: path, toPath: directory.path("copy"))
      _ = consume snapshot
    case .torn:
      try Self.fill(timeline)
      for number in 700..<720 { try timeline.insert(Self.memo(number)) }
    case .edge:
      let run = try InspectorRun("import", path, Fixture.edge)
      guard run.code == .damage else { throw OtherThanJSON(line: run.errorText) }
    }
    try timeline.close()
    if self == .torn { try Self.tearLog(in: path) }
    try? manager.removeItem(at: folder)
    try manager.createDirectory(at: Self.root, withIntermediateDirectories: true)
    let source = manager.fileExists(atPath: directory.path("copy")) ? "copy" : "store"
    try manager.copyItem(atPath: directory.path(source), toPath: folder.path)
    // Zeros that keep room for a full disk; a copy of a store does without.
    try? manager.removeItem(at: folder.appendingPathComponent("RESERVE"))
    try Data(try InspectorRun("scan", folder.path, "--json").output).write(to: scanFile)
    try Data(try InspectorRun("verify", folder.path).output).write(to: reportFile)
  }

  private static func memo(_ number: Int, _ version: Int = 0) -> Memo {
    let offset = Int32((number % 27 - 12) * 3600)
    let word = ["milk", "\u{8CB7}\u{7269}", "caf\u{E9}", "\u{1F95B}", "tea"][number % 5]
    return Memo(
      id: number % 3 == 0
        ? MemoID(Int64(number))
        : MemoID(uuid: (high: UInt64(number), low: UInt64(number) &* 0x9E37_79B9_7F4A_7C15)),
      createdAt: MemoTimestamp(
        microseconds: Int64(number / 2 + version) * 60_000_000, offsetSeconds: offset) ?? .now,
      body: String(repeating: "\(word) \(number), version \(version). ", count: 1 + number % 7))
  }

  /// Six flushed parts, one of them merged and dense, with changes to earlier ones.
  private static func fill(_ timeline: MemoTimeline) throws {
    for part in 0..<6 {
      for number in part * 100..<part * 100 + 100 { try timeline.insert(memo(number)) }
      for number in stride(from: 3, to: part * 100, by: 33) {
        _ = try timeline.delete(memo(number).id)
      }
      for number in stride(from: 5, to: part * 100, by: 41) {
        _ = try timeline.upsert(memo(number, part))
      }
      try timeline.flush()
      if part == 3 { try timeline.database.compact() }
    }
  }

  /// Takes the second half of the last record away.
  private static func tearLog(in path: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    guard let log = names.last(where: { $0.hasSuffix(".log") }) else { return }
    let url = URL(fileURLWithPath: path + "/" + log)
    var bytes = try Data(contentsOf: url)
    let end = bytes.lastIndex { $0 != 0 } ?? 0
    for place in end - 40...end { bytes[place] = 0 }
    try bytes.write(to: url)
  }
}
