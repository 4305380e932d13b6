/// An earlier result of this tool, and what changed since.
struct Comparison {
  private let path: String
  /// Numbers by row and engine.
  private let old: [String: [String: Double]]
  /// A change of more than this share gets a mark.
  private static let limit = 0.1

  /// Reads an earlier result.
  ///
  /// - Parameters:
  ///   - path: A file that `--json` wrote.
  ///   - data: What the memos of this run come from.
  ///   - count: How many there are.
  /// - Throws: When the file is no such result, or of other data.
  init(_ path: String, data: String, count: Int) throws(BenchmarkError) {
    self.path = path
    let result: JSONValue
    do throws(BenchmarkError) {
      result = try JSONValue(parsing: Files.text(of: path))
    } catch {
      throw BenchmarkError("\(path) is no result of memobench --json: \(error)")
    }
    guard result["tool"]?.text == Report.toolName, let oldData = result["data"]?.text,
      let oldCount = result["count"]?.number
    else { throw BenchmarkError("\(path) is no result of memobench --json") }
    if oldData != data || Int(exactly: oldCount) != count {
      throw BenchmarkError(
        "\(path) is no comparison: it has \(Format.decimal(oldCount, digits: 0)) memos from "
          + "\(oldData), this run has \(count) from \(data)")
    }
    var numbers: [String: [String: Double]] = [:]
    for row in result["rows"]?.elements ?? [] {
      guard let name = row["name"]?.text else { continue }
      for cell in row["cells"]?.elements ?? [] {
        guard let engine = cell["engine"]?.text, let value = cell["value"]?.number else { continue }
        numbers[name, default: [:]][engine] = value
      }
    }
    old = numbers
  }

  /// A line for each number of both results.
  func text(_ rows: [Row]) -> String {
    var lines = ["", "compared with \(path): old, new, new / old"]
    var known = 0
    for row in rows {
      guard let before = old[row.name] else { continue }
      for cell in row.cells {
        guard let value = before[cell.engine], value > 0 else { continue }
        known += 1
        let ratio = cell.headline / value
        let mark =
          ratio > 1 + Self.limit ? "  WORSE" : ratio < 1 - Self.limit ? "  better" : ""
        lines.append(
          "  " + Format.left(row.name, 34) + Format.left(cell.engine, 12)
            + Format.right(Format.number(value, row.unit), 12)
            + Format.right(Format.number(cell.headline, row.unit), 12)
            + Format.right(Format.decimal(ratio, digits: 2), 8) + mark)
      }
    }
    let missing = rows.filter { old[$0.name] == nil }.map(\.name)
    if !missing.isEmpty {
      lines.append("  not in the old result: " + missing.joined(separator: ", "))
    }
    lines.append("  \(known) numbers; a mark means more than 10 %")
    return lines.joined(separator: "\n") + "\n"
  }
}
