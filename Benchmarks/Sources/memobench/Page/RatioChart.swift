/// All rows in one plot: each engine's ratio to the best peer, ours as large dots, as SVG.
struct RatioChart {
  let rows: [Row]

  private static let width = 860.0
  private static let step = 22.0
  private static let left = 220.0
  private static let right = 30.0
  private static let top = 26.0

  private func x(_ place: Double) -> Double {
    Self.left + place * (Self.width - Self.left - Self.right)
  }

  var svg: String {
    let dots = rows.map { row in
      let best = row.bestPeer?.headline ?? 1
      return row.cells
        .filter {
          $0.headline > 0 && best > 0 && EngineCatalog.engine($0.engine) != nil
        }
        .map { (engine: $0.engine, ratio: $0.headline / best) }
    }
    let axis = Axis.logarithmic([0.5, 2] + dots.joined().map(\.ratio)) {
      "\(Format.tick($0)) x"
    }
    let height = Double(rows.count) * Self.step + Self.top + 6
    var svg = SVG(width: Self.width, height: height, title: "ratios to the best peer")
    for tick in axis.ticks {
      svg.line(x(tick.place), Self.top - 6, x(tick.place), height, "grid")
      svg.text(tick.label, x(tick.place), 12, anchor: "middle", "tick")
    }
    svg.line(x(axis.place(1)), Self.top - 6, x(axis.place(1)), height, "one")
    for (place, row) in rows.enumerated() {
      let y = Double(place) * Self.step + Self.top + Self.step / 2
      svg.text(row.name, Self.left - 12, y + 4, anchor: "end", "label")
      // Ours last, so that they are on top.
      for isPeer in [true, false] {
        for dot in dots[place] where EngineCatalog.isPeer(dot.engine) == isPeer {
          let ratio = Format.decimal(dot.ratio, digits: 2)
          svg.dot(
            x(axis.place(dot.ratio)), y, isPeer ? 4 : 6.5, "dot e-\(dot.engine)",
            title: "\(dot.engine): \(ratio) x")
        }
      }
    }
    return svg.end()
  }
}
