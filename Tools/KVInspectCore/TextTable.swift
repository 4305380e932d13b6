/// Rows of words in columns, for people.
struct TextTable {
  enum Alignment: Sendable { case left, right }

  private let alignments: [Alignment]
  private var rows: [[String]]

  /// Makes a table with titles, those of numbers above their last digit.
  init(_ columns: [(title: String, alignment: Alignment)]) {
    alignments = columns.map(\.alignment)
    rows = [columns.map(\.title)]
  }

  /// Adds a row; cells that are left out are empty.
  mutating func add(_ cells: [String]) {
    rows.append(cells)
  }

  /// The titles and the rows, one line each, two blanks between columns.
  var lines: [String] {
    let widths = alignments.indices.map { column in
      rows.map { column < $0.count ? $0[column].unicodeScalars.count : 0 }.max() ?? 0
    }
    return rows.map { cells in
      var line = ""
      for (column, cell) in cells.enumerated() {
        let gap = String(repeating: " ", count: widths[column] - cell.unicodeScalars.count)
        line += (column == 0 ? "" : "  ") + (alignments[column] == .left ? cell + gap : gap + cell)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
