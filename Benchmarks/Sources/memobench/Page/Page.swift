/// A result as one HTML page that needs nothing else: no script, font or picture from elsewhere.
struct Page {
  let report: Report

  var html: String {
    let compared = report.rows.filter { $0.growth == nil && $0.bestPeer != nil && hasOurs($0) }
    let single = report.rows.filter { $0.growth == nil }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>memobench</title>
      <style>
      \(PageStyle.css)</style>
      <h1>MemoKV and its peers</h1>
      <p>\(report.head.map(SVG.escaped).joined(separator: "<br>"))</p>
      \(compared.isEmpty ? "" : overview(compared))
      \(growth)
      <h2>Every row</h2>
      <div class="cards">
      \(single.map(card).joined())</div>
      <h2>Settings</h2>
      <table class="settings">
      \(report.settings.map(Self.setting).joined())</table>
      </html>

      """
  }

  private func hasOurs(_ row: Row) -> Bool {
    row.cells.contains { EngineCatalog.isOurs($0.engine) }
  }

  private func overview(_ rows: [Row]) -> String {
    """
    <h2>Ratio to the best peer</h2>
    <p>Left of the line is better than the best of LMDB, SQLite, LevelDB, RocksDB in that row.</p>
    \(legend(rows.flatMap(\.cells).map(\.engine).filter { EngineCatalog.engine($0) != nil }))
    <figure class="wide">\(RatioChart(rows: rows).svg)</figure>

    """
  }

  // MARK: - Growth

  private var growth: String {
    let rows = report.rows.filter { $0.growth != nil }
    var names: [String] = []
    for row in rows {
      if let name = row.growth?.work, !names.contains(name) { names.append(name) }
    }
    if names.isEmpty { return "" }
    let figures = names.map { name in
      let steps = rows.filter { $0.growth?.work == name }
      return "<figure><figcaption>\(SVG.escaped(name))</figcaption>\(chart(name, steps))</figure>\n"
    }
    return "<h2>How the cost grows with the number of memos</h2>\n"
      + legend(rows.flatMap(\.cells).map(\.engine))
      + "<div class=\"cards\">\n\(figures.joined())</div>\n"
  }

  private func chart(_ name: String, _ rows: [Row]) -> String {
    let unit = rows.first?.unit ?? .nanoseconds
    let engines = Self.unique(rows.flatMap(\.cells).map(\.engine))
    let lines = engines.map { engine in
      LineChart.Line(
        engine: engine,
        points: rows.compactMap { row in
          row.cell(engine).map { (Double(row.growth?.count ?? 0), $0.headline) }
        })
    }
    let counts = rows.map { Double($0.growth?.count ?? 0) }
    return LineChart(
      title: name, horizontal: .logarithmic(counts) { Format.tick($0) },
      vertical: .logarithmic(rows.flatMap(\.cells).map(\.headline)) { Format.tick($0, unit) },
      lines: lines, hasDots: true
    ).svg
  }

  // MARK: - Rows

  private func card(_ row: Row) -> String {
    let goals = Report.goalLines(of: row).map { line in
      let isMissed = line.hasSuffix("MISSED")
      return "<p class=\"goal \(isMissed ? "missed" : "reached")\">\(SVG.escaped(line))</p>\n"
    }
    return """
      <figure>
      <figcaption><b>\(SVG.escaped(row.name))</b> \(SVG.escaped(row.summary))</figcaption>
      \(BarChart(row: row).svg)\(goals.joined())\(distribution(row))
      <details><summary>Numbers</summary>
      <pre>\(SVG.escaped(Report.text(of: row)))</pre>
      </details>
      </figure>

      """
  }

  /// Which share of the operations took at most so long.
  private func distribution(_ row: Row) -> String {
    let cells = row.cells.filter { ($0.samples?.values.count ?? 0) >= 200 }
    if cells.isEmpty { return "" }
    let most = cells.compactMap { $0.samples?.values.count }.max() ?? 0
    let vertical = Axis.tail(sampleCount: most)
    let lines = cells.map { cell in
      LineChart.Line(engine: cell.engine, points: cell.samples?.distribution(steps: 100) ?? [])
    }
    let chart = LineChart(
      title: "shares of \(row.name)",
      horizontal: .logarithmic(lines.flatMap(\.points).map(\.x)) { Format.tick($0, .nanoseconds) },
      vertical: vertical, lines: lines, hasDots: false)
    return "<p class=\"goal\">Share of operations that took at most so long</p>\n"
      + legend(cells.map(\.engine)) + chart.svg
  }

  private func legend(_ engines: [String]) -> String {
    let items = Self.unique(engines).map { "<span class=\"e-\($0)\">\($0)</span>" }
    return "<p class=\"legend\">\(items.joined(separator: " "))</p>\n"
  }

  private static func unique(_ names: [String]) -> [String] {
    names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private static func setting(_ setting: (name: String, text: String)) -> String {
    "<tr><th>\(SVG.escaped(setting.name))</th><td>\(SVG.escaped(setting.text))</td></tr>\n"
  }
}
