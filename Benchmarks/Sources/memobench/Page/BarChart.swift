/// The numbers of one row as horizontal bars, as SVG.
struct BarChart {
  let row: Row

  private static let width = 560.0
  private static let step = 24.0
  private static let left = 104.0
  private static let right = 150.0

  var svg: String {
    let most = row.cells.map(\.headline).max() ?? 1
    let best = row.bestPeer?.headline
    var svg = SVG(
      width: Self.width, height: Double(row.cells.count) * Self.step + 8, title: row.name)
    for (place, cell) in row.cells.enumerated() {
      let y = Double(place) * Self.step + 4
      let share = most > 0 ? max(cell.headline, 0) / most : 0
      let length = max(share * (Self.width - Self.left - Self.right), 1.5)
      svg.text(cell.engine, Self.left - 8, y + 15, anchor: "end", "label")
      svg.bar(Self.left, y + 3, length, Self.step - 8, "bar e-\(cell.engine)", title: cell.note)
      var text = Format.number(cell.headline, row.unit)
      if let best, best > 0, row.bestPeer?.engine != cell.engine {
        text += " (\(Format.decimal(cell.headline / best, digits: 2)) x)"
      }
      svg.text(text, Self.left + length + 8, y + 15, anchor: "start", "label")
    }
    return svg.end()
  }
}
