/// FORMAT.md as the tests read it: sections, tables and named bytes.
struct FormatDocument {
  static let path = "FORMAT.md"
  static let shared = FormatDocument(Repository.text(of: path))

  /// One row of a table, cells by the name of their column.
  typealias Row = [String: String]

  let lines: [String]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The lines under a heading, for example "13.1", up to the next one of its level or above.
  func section(_ number: String) -> ArraySlice<String> {
    let level = number.split(separator: ".").count + 1
    let mark = String(repeating: "#", count: level) + " "
    let start = lines.firstIndex { line in
      line.hasPrefix(mark + number + ". ") || line.hasPrefix(mark + number + " ")
    }
    guard let start else { return [] }
    let rest = lines[(start + 1)...]
    let end = rest.firstIndex { line in
      (1...level).contains { line.hasPrefix(String(repeating: "#", count: $0) + " ") }
    }
    return rest[..<(end ?? rest.endIndex)]
  }

  /// The rows of the first table of a section.
  func table(in number: String) -> [Row] { tables(in: number).first ?? [] }

  /// The rows of every table of a section.
  func tables(in number: String) -> [[Row]] {
    let blocks = section(number).split { !$0.hasPrefix("|") }
    return blocks.map { block in
      let rows = block.map(Self.cells)
      return rows.dropFirst(2).map { Row(zip(rows[0], $0)) { first, _ in first } }
    }
  }

  private static func cells(_ line: String) -> [String] {
    line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
      .map { cell in
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
          .replacing("`", with: "")
      }
  }

  /// The names of all vectors, in order.
  var vectorNames: [String] {
    lines.filter { $0.hasPrefix("```hex ") }.map { String($0.dropFirst("```hex ".count)) }
  }

  /// The bytes of a vector; `nil` when it is not there or is not hexadecimal.
  ///
  /// A line holds bytes and, behind a semicolon, what they are. `00 * 12` stands for twelve bytes.
  func vector(_ name: String) -> [UInt8]? {
    guard let start = lines.firstIndex(of: "```hex " + name) else { return nil }
    var bytes: [UInt8] = []
    for line in lines[(start + 1)...].prefix(while: { $0 != "```" }) {
      let words = line.prefix { $0 != ";" }.split(separator: " ")
      if words.count == 3, words[1] == "*" {
        guard let byte = Self.byte(words[0]), let count = Int(words[2]) else { return nil }
        bytes += repeatElement(byte, count: count)
        continue
      }
      for word in words {
        guard let byte = Self.byte(word) else { return nil }
        bytes.append(byte)
      }
    }
    return bytes
  }

  private static func byte(_ word: Substring) -> UInt8? {
    word.utf8.count == 2 ? UInt8(word, radix: 16) : nil
  }
}
