// Usage: coverage-report EXPORT EXCEPTIONS
//
// Reads what `llvm-cov export -skip-functions` wrote and prints, for each file, how many of its
// lines ran; then each throw statement and each region of a decoder that did not, without those
// that the file of exceptions lists as `path: text of the line # reason`.

import Foundation

struct Export: Decodable {
  struct Part: Decodable {
    let files: [File]
    let totals: Summary
  }

  struct File: Decodable {
    let filename: String
    let segments: [Segment]
    let summary: Summary
  }

  struct Summary: Decodable {
    struct Count: Decodable {
      let count: Int
      let covered: Int
    }

    let lines: Count
  }

  /// The places from here to the next segment ran so often.
  struct Segment: Decodable {
    let line: Int
    let column: Int
    let count: Int
    let isCounted: Bool
    let isEntry: Bool

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      line = try values.decode(Int.self)
      column = try values.decode(Int.self)
      count = try values.decode(Int.self)
      isCounted = try values.decode(Bool.self)
      isEntry = try values.decode(Bool.self)
    }
  }

  let data: [Part]
}

/// What reads bytes that may be anything.
let decoders = [
  "Format/ByteReader", "Format/FileHeader", "Format/FileName", "Log/LogFormat", "Log/LogReader",
  "Keys/OperationReader", "Manifest/Manifest.", "Segment/Block.", "Segment/BlockReader",
  "Segment/BlockCodec", "Segment/BloomFilter", "Segment/IndexBlock", "Segment/Properties",
  "Segment/SegmentFormat", "LZ4Blocks/LZ4Decoder",
]

func isDecoder(_ path: String) -> Bool {
  decoders.contains { path.contains("/" + $0) }
}

/// Where a throw statement begins in a line, comments left out.
func throwColumn(_ line: String) -> Int? {
  guard !line.trimmingCharacters(in: .whitespaces).hasPrefix("//"),
    let range = line.range(of: #"(^|[\s{:])throw [^s]"#, options: .regularExpression)
  else { return nil }
  return line[..<range.upperBound].utf8.count - 6
}

guard CommandLine.arguments.count == 3 else { exit(2) }
let export = try JSONDecoder().decode(
  Export.self, from: Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1])))
let exceptions = Set(
  try String(contentsOfFile: CommandLine.arguments[2], encoding: .utf8)
    .split(separator: "\n").filter { !$0.hasPrefix("#") }
    .compactMap { $0.components(separatedBy: " # ").first?.trimmingCharacters(in: .whitespaces) })
var used: Set<String> = []
var missed: [String] = []
var (throwCount, regionCount) = (0, 0)
let root = FileManager.default.currentDirectoryPath + "/"

for file in export.data.flatMap(\.files).sorted(by: { $0.filename < $1.filename }) {
  let path = file.filename.replacingOccurrences(of: root, with: "")
  let lines = file.summary.lines
  let share = 100 * Double(lines.covered) / Double(max(lines.count, 1))
  print(String(format: "%6.1f %%  %4d  ", share, lines.count) + path)
  let text = try String(contentsOfFile: file.filename, encoding: .utf8)
    .components(separatedBy: "\n")
  func note(_ line: Int, _ what: String) {
    let place = path + ": " + text[line - 1].trimmingCharacters(in: .whitespaces)
    if exceptions.contains(place) {
      used.insert(place)
    } else {
      missed.append(
        "\(path):\(line): \(what): \(text[line - 1].trimmingCharacters(in: .whitespaces))")
    }
  }
  for (index, line) in text.enumerated() {
    guard let column = throwColumn(line) else { continue }
    let segment = file.segments.last { ($0.line, $0.column) <= (index + 1, column) }
    guard let segment, segment.isCounted else { continue }
    throwCount += 1
    if segment.count == 0 { note(index + 1, "is never thrown") }
  }
  if isDecoder(path) {
    let entries = file.segments.filter { $0.isEntry && $0.isCounted }
    regionCount += entries.count
    var last = 0
    for entry in entries where entry.count == 0 && entry.line != last {
      last = entry.line
      let line = text[entry.line - 1]
      // What an assertion asks is not part of what is measured, a release build.
      if line.trimmingCharacters(in: .whitespaces).hasPrefix("assert(") { continue }
      if throwColumn(line) == nil { note(entry.line, "is never reached") }
    }
  }
}

let engine = export.data.flatMap(\.files).filter { $0.filename.contains("/KVEngine/") }
let count = engine.reduce(0) { $0 + $1.summary.lines.count }
let covered = engine.reduce(0) { $0 + $1.summary.lines.covered }
let share = 100 * Double(covered) / Double(max(count, 1))
print(String(format: "%6.2f %% of %d lines of KVEngine", share, count))
print(
  "\(throwCount) throw statements, \(regionCount) regions of decoders, \(used.count) exceptions")
for line in missed { print(line) }
for place in exceptions.subtracting(used).sorted() { print("exception without need: \(place)") }
exit(share < 95 || !missed.isEmpty || exceptions != used ? 1 : 0)
