/// Lines of engines over two axes, as SVG.
struct LineChart {
  /// The points of one engine, from left to right.
  struct Line {
    let engine: String
    let points: [(x: Double, y: Double)]
  }

  let title: String
  let horizontal: Axis
  let vertical: Axis
  let lines: [Line]
  /// Whether each point gets a dot; for few points.
  let hasDots: Bool

  private static let width = 560.0
  private static let height = 300.0
  private static let left = 66.0
  private static let right = 18.0
  private static let top = 12.0
  private static let bottom = 28.0

  private func x(_ place: Double) -> Double {
    Self.left + place * (Self.width - Self.left - Self.right)
  }

  private func y(_ place: Double) -> Double {
    Self.height - Self.bottom - place * (Self.height - Self.top - Self.bottom)
  }

  var svg: String {
    var svg = SVG(width: Self.width, height: Self.height, title: title)
    for tick in horizontal.ticks {
      svg.line(x(tick.place), y(0), x(tick.place), y(1), "grid")
      svg.text(tick.label, x(tick.place), Self.height - 9, anchor: "middle", "tick")
    }
    for tick in vertical.ticks {
      svg.line(x(0), y(tick.place), x(1), y(tick.place), "grid")
      svg.text(tick.label, Self.left - 8, y(tick.place) + 4, anchor: "end", "tick")
    }
    // Ours last, so that they are on top.
    for line in lines.sorted(by: {
      EngineCatalog.isPeer($0.engine) && !EngineCatalog.isPeer($1.engine)
    }) {
      let points = line.points.map { (x(horizontal.place($0.x)), y(vertical.place($0.y))) }
      svg.path(points, "curve e-\(line.engine)", title: line.engine)
      if hasDots { points.forEach { svg.dot($0.0, $0.1, 3, "dot e-\(line.engine)", title: "") } }
    }
    return svg.end()
  }
}
