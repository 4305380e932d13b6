/// Rows as a table for people and as JSON for programs.
struct Report {
  /// What results say they are of, so that nothing else is compared with them.
  static let toolName = "memobench"

  let data: String
  let count: Int
  let machine: String
  let settings: [(name: String, text: String)]
  private(set) var rows: [Row] = []

  init(
    data: String, count: Int, machine: String, settings: [(name: String, text: String)]
  ) {
    self.data = data
    self.count = count
    self.machine = machine
    self.settings = settings
  }

  mutating func add(_ row: Row) {
    rows.append(row)
  }

  /// What was measured, and on what.
  var head: [String] {
    ["data: \(data), as \(count) memos with ids of 16 bytes", "machine: \(machine)"]
  }

  /// The lines above the table.
  var headText: String {
    (head + settings.map { "  \(Format.left($0.name, 12)) \($0.text)" }).joined(separator: "\n")
      + "\n"
  }

  // MARK: - Table

  /// One row with a line for each engine and one for each goal.
  static func text(of row: Row) -> String {
    var lines = ["", "\(row.name): \(row.summary)"]
    let hasTail = row.cells.contains { ($0.samples?.values.count ?? 0) > 1 }
    let titles = hasTail ? ["p50", "p90", "p99", "p99.9", "max"] : ["value"]
    let heads =
      (titles + ["cpu", "written", "reads", "syncs", "memory"])
      .map { Format.right($0, 11) } + [Format.right("x best peer", 13)]
    lines.append("  " + Format.left("", 14) + heads.joined())
    for cell in row.cells {
      let numbers = values(of: cell, hasTail, row.unit).map { Format.right($0, 11) }.joined()
      lines.append("  " + Format.left(cell.engine, 14) + numbers + ratio(of: cell, in: row))
    }
    return (lines + goalLines(of: row)).joined(separator: "\n") + "\n"
  }

  private static func values(of cell: Cell, _ hasTail: Bool, _ unit: Unit) -> [String] {
    var texts: [String]
    if hasTail, let samples = cell.samples {
      texts = [0.5, 0.9, 0.99, 0.999, 1].map { Format.duration(Double(samples.percentile($0))) }
    } else {
      texts = [Format.number(cell.headline, unit)]
      if hasTail { texts += ["", "", "", ""] }
    }
    guard let usage = cell.usage else { return texts + ["", "", "", "", ""] }
    texts.append(Format.duration(Double(usage.cpu)))
    texts.append(Format.bytes(Double(usage.bytesWritten)))
    texts += [usage.reads, usage.syncs].map(String.init)
    texts.append(Format.bytes(Double(usage.memory)))
    return texts
  }

  private static func ratio(of cell: Cell, in row: Row) -> String {
    let ratio = row.bestPeer.map { Format.decimal(cell.headline / $0.headline, digits: 2) }
    let syncs = cell.syncs.map { "  \(Format.decimal($0, digits: 2)) syncs each" } ?? ""
    let text = Format.right(ratio ?? "", 13) + syncs + (cell.note.isEmpty ? "" : "  " + cell.note)
    return text
  }

  static func goalLines(of row: Row) -> [String] {
    guard let ours = row.cell(row.subject) else { return [] }
    return row.goals.compactMap { goal in
      guard let bound = row.bound(of: goal) else { return nil }
      let words =
        switch goal {
        case .times(let factor, of: let peer): "\(Format.decimal(factor, digits: 2)) x \(peer)"
        case .timesBestPeer(let factor): "\(Format.decimal(factor, digits: 2)) x best peer"
        case .atMost: "at most"
        }
      let share = Format.decimal(ours.headline / bound, digits: 2)
      let verdict = ours.headline <= bound ? "reached" : "MISSED"
      return "  goal \(words) = \(Format.number(bound, row.unit)): \(row.subject) "
        + "\(Format.number(ours.headline, row.unit)), \(share) of it, \(verdict)"
    }
  }

  // MARK: - JSON

  var json: String {
    let rows = rows.map(Self.json(of:)).joined(separator: ",\n  ")
    let settings = settings.map { "\(Self.quoted($0.name)): \(Self.quoted($0.text))" }
    return """
      {"tool": \(Self.quoted(Self.toolName)), "data": \(Self.quoted(data)), "count": \(count),
       "machine": \(Self.quoted(machine)),
       "engines": {\(settings.joined(separator: ", "))},
       "rows": [
        \(rows)
      ]}

      """
  }

  private static func json(of row: Row) -> String {
    let cells = row.cells.map { cell in
      var members = ["\"engine\": \(quoted(cell.engine))", "\"value\": \(number(cell.headline))"]
      if let samples = cell.samples {
        members.append("\"samples\": \(samples.values.count)")
        for (name, share) in [
          ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1),
        ] {
          members.append("\"\(name)\": \(samples.percentile(share))")
        }
      }
      if let usage = cell.usage {
        members.append("\"cpu\": \(usage.cpu), \"bytesWritten\": \(usage.bytesWritten)")
        members.append("\"reads\": \(usage.reads), \"syncs\": \(usage.syncs)")
        members.append("\"memory\": \(usage.memory)")
      }
      if let syncs = cell.syncs { members.append("\"syncsEach\": \(number(syncs))") }
      if !cell.note.isEmpty { members.append("\"note\": \(quoted(cell.note))") }
      return "{\(members.joined(separator: ", "))}"
    }
    let bounds = row.goals.compactMap(row.bound(of:)).map(number)
    return "{\"name\": \(quoted(row.name)), \"summary\": \(quoted(row.summary)), "
      + "\"unit\": \"\(row.unit.rawValue)\", \"subject\": \"\(row.subject)\", "
      + "\"bounds\": [\(bounds.joined(separator: ", "))],\n   \"cells\": ["
      + cells.joined(separator: ",\n    ") + "]}"
  }

  private static func number(_ value: Double) -> String {
    Format.decimal(value, digits: value.magnitude < 1000 ? 3 : 0)
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\" + String(scalar)
      case "\n": "\\n"
      default: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }
}
